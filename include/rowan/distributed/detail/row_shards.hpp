// rowan/distributed/detail/row_shards.hpp: RowShards, what tables of which each rank has some rows have in common.
#pragma once

#include <rowan/core/detail/storage.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/node_route.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_fetch.hpp>
#include <rowan/distributed/detail/row_summands.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/distributed/shard_gradient.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class T, communicator C>
class RowShards;

/// The ids of a gather, for exchange.
class RowLookup {
    template <class T, communicator C>
    friend class RowShards;
    std::shared_ptr<RowFetch const> fetch_;
    std::int64_t number_ = 0, table_ = 0;
};

/// The parts of a rank, with slots instead of rows; a rank may have no parts.
template <class T>
class ShardParts final : public RowParts<T> {
public:
    ShardParts(Cpu exec, std::span<SelectedRows<T> const> parts, std::size_t width, Slots const& slots,
               std::int64_t table)
        : RowParts<T>({}), exec_(exec), given_(parts), width_(width), slots_(slots), table_(table) {}

    std::int64_t table() const override { return table_; }

    void describe(Notice& notice) override {
        for (auto const& p : given_) {
            if (p.height() > slots_.height() || (p.height() < slots_.height() && !slots_.grows()))
                throw ShapeError("parts height", p.height(), {slots_.grows() ? "at most " : "", slots_.height()});
            if (p.value().shape().size() != 2 || p.row_size() != width_)
                throw ShapeError("parts row shape", shape_text(p.value().shape()), {"[rows, ", width_, "]"});
            moved_.emplace_back(slots_.size(), slots_.of(exec_, "parts rows", p.rows()), p.value().share());
        }
        if (given_.empty()) moved_.emplace_back(slots_.size(), Ids<>(), Tensor<T>::from_shape({0, width_}));
        this->parts_ = moved_;
        RowParts<T>::describe(notice);
        notice.own[0] = static_cast<std::int64_t>(given_.size());
    }

private:
    Cpu exec_;
    std::span<SelectedRows<T> const> given_;
    std::size_t width_;
    Slots const& slots_;
    std::int64_t table_;
    std::vector<SelectedRows<T>> moved_;
};

/// The ranks of a table and where its rows are, and the rows and gradients that travel between them. The functions are
/// those of ShardedTable; `width` is that of a row.
template <class T, communicator C>
class RowShards {
public:
    explicit RowShards(C comm) : comm_(std::move(comm)) {}

    C const& comm() const { return comm_; }
    GroupOf<C> group() const { return GroupOf<C>(comm_); }
    Slots const& slots() const { return slots_; }
    std::int64_t number() const { return number_; }  ///< of the table, that of an agreement on rank 0
    /// Tells where the rows are, in a table with this number.
    void set(Slots slots, std::int64_t number) {
        after_agreement(group(), [&] {
            if (number_ == 0) route_ = node_route(group());
            lookup_slots_ = slots.by(route_);
        });
        slots_ = std::move(slots);
        number_ = number;
    }
    void describe(Notice& notice, std::size_t width) const {
        notice.same = {dtype<T>::wire, slots_.height(), static_cast<std::int64_t>(width)};
    }

    /// Agrees on an operation of the same table, which has had as many lookups.
    template <class F>
    void agree_on_table(Collective operation, std::int64_t lookup, F const& f) const {
        auto const notices = agree(group(), operation, Told::differences, [&](Notice& n) {
            f(n);
            n.own = {number_, lookup, 0};
        });
        check_same_number(notices, 0, "the number of the sharded table");
        check_same_number(notices, 1, "the number of the lookup");
    }
    template <class F>
    void agree_on_table(Collective operation, F const& f) const {
        agree_on_table(operation, lookups_, f);
    }

    Tensor<T> gather(Cpu exec, Tensor<T> const& local, char const* field, Ids<> const& ids, RowLookup& lookup) {
        std::size_t const width = local.row_size();
        auto fetch = std::shared_ptr<RowFetch>();
        Tensor<T> others, out;
        agree_on_table(Collective::gather, [&](Notice& n) {
            check_exec(exec);
            describe(n, width);
            if (height_of(local) < slots_.rows_of(comm_.rank()))
                throw ShapeError("local().shape(0)", height_of(local),
                                 {slots_.rows_of(comm_.rank()), ", the number of this rank's rows"});
            fetch = std::make_shared<RowFetch>(exec, lookup_slots_, comm_.rank(), field, ids);
            others = Tensor<T>::from_shape({fetch->others(), width});
            if (fetch->others() != fetch->received())  // the row of -1, which is the last
                std::ranges::fill(others.row(fetch->received()), dtype<T>::narrow(typename dtype<T>::sum{}));
            auto shape = fetch->shape();
            shape.push_back(width);
            out = Tensor<T>::from_shape(shape);
        });
        after_agreement(group(), [&] {  // all that may fail is before the last exchange
            auto const all = group();
            RowFetch::ask(all, std::span(fetch.get(), 1));
            auto const answers = rowan::gather(exec, local, fetch->asked());
            std::size_t const bytes = width * sizeof(T);
            auto const came = std::as_writable_bytes(std::span(others.data(), others.size()));
            fetch->send_rows(all, bytes, bytes_of(answers), came);
            copy_rows(exec, ids.size(), bytes, fetch->rows(local.data(), others.data(), bytes),
                      ConsecutiveRows<std::byte>{reinterpret_cast<std::byte*>(out.data()), bytes});
        });
        lookup.fetch_ = std::move(fetch);
        lookup.number_ = ++lookups_;
        lookup.table_ = number_;
        return out;
    }

    SelectedRows<T> exchange(Cpu exec, std::size_t width, std::span<SelectedRows<T> const> parts,
                             SumOrder order) const {
        std::unique_ptr<GroupOf<C>> all;
        std::unique_ptr<ShardParts<T>> source;
        std::vector<std::int64_t> splits;
        after_agreement(group(), [&] {  // all memory that is needed before the agreement of RowReduction
            all = std::make_unique<GroupOf<C>>(comm_);
            source = std::make_unique<ShardParts<T>>(exec, parts, width, slots_, number_);
            splits = slots_.splits();
        });
        auto const reduction =
            begin_row_reduction(std::move(all), exec, std::move(source), {order, Route::owner}, std::move(splits));
        OwnRows result(*this);
        finish_row_reduction(*reduction, result);
        return result.rows.result();
    }

    ShardGradient<T> gradient(Cpu exec, std::size_t width, RowLookup const& lookup, Tensor<T> const& out_grad) const {
        std::size_t const bytes = width * sizeof(sum_t<T>);
        ShardGradient<T> g;
        Storage<std::byte> send;
        agree_on_table(Collective::exchange_lookup, lookup.number_, [&](Notice& n) {
            check_exec(exec);
            if (lookup.number_ == 0 || lookup.table_ != number_)
                throw ShapeError("lookup", "not of this table", "one that gather has made");
            auto const& fetch = *lookup.fetch_;
            auto shape = fetch.shape();
            shape.push_back(width);
            if (out_grad.shape() != shape)
                throw ShapeError("out_grad.shape()", shape_text(out_grad.shape()), shape_text(shape));
            g.fetch_ = lookup.fetch_;
            g.value_ = out_grad.reshaped({fetch.plan().size(), width});
            g.height_ = slots_.rows_of(comm_.rank());
            g.met_ = fetch.met();
            g.came_ = Storage<std::byte>(fetch.asked().size() * bytes);
            send = Storage<std::byte>(fetch.others() * bytes);
            ShardSums<T>::of_others(exec, fetch, g.value_, bytes_of(send));
            describe(n, width);
        });
        after_agreement(group(), [&] {
            g.fetch_->give_rows(exec, group(), element_sums<T>(), bytes, bytes_of(std::as_const(send)),
                                bytes_of(g.came_));
        });
        return g;
    }

    SelectedRows<T> exchange(Cpu exec, std::size_t width, RowLookup const& lookup, Tensor<T> const& out_grad) const {
        auto const g = gradient(exec, width, lookup, out_grad);
        SelectedRows<T> result;
        static_cast<void>(agree_on_end(group(), 0, Told::differences, [&](Notice&) {
            RowPieces all;
            all.height = g.height();
            all.shape = {0, width};
            all.row_bytes = width * sizeof(sum_t<T>);
            all.resize(g.rows().size());
            std::ranges::copy(g.rows(), all.rows.begin());
            g.sums(exec).run([](std::size_t) {},
                             [&](std::size_t k, sum_t<T> const* sum) {
                                 if (width != 0)
                                     std::memcpy(all.bytes.data() + g.met_.place(k) * all.row_bytes, sum,
                                                 all.row_bytes);
                             });
            result = from_pieces<T>(exec, std::move(all));
        }));
        return result;
    }

private:
    /// The rows of this rank, with their numbers there.
    struct OwnRows final : RowTarget {
        explicit OwnRows(RowShards const& s) : shards(s) {}
        void take(RowPieces&& sums) override {
            auto const& slots = shards.slots_;
            int const rank = shards.comm_.rank();
            for (auto& row : sums.rows) row -= slots.begin_of(rank);
            sums.height = slots.rows_of(rank);
            rows.take(std::move(sums));
        }
        Memory make(RowPieces const& like, std::size_t n) override { return rows.make(like, n); }
        RowShards const& shards;
        RowResult<T> rows;
    };

    C comm_;
    Slots slots_, lookup_slots_;  // the latter by the route
    std::shared_ptr<NodeRoute const> route_;
    std::int64_t number_ = 0, lookups_ = 0;
};

}  // namespace rowan::inline v0::detail
