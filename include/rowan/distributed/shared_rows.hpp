// rowan/distributed/shared_rows.hpp: SharedRows, rows of a table of which each rank has some, and what travels for them.
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
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_fetch.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/distributed/row_allreduce.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/distributed/shard_gradient.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

template <class T, communicator C, class Own>
class SharedRows;

namespace detail {

/// The rows of a gather, for exchange.
class RowLookup {
    template <class T, communicator C, class Own>
    friend class v0::SharedRows;
    std::shared_ptr<RowFetch const> fetch_;
    std::int64_t number_ = 0, table_ = 0;
};

}  // namespace detail

/// What ShardedTable and ShardedKeyedTable have in common: the ranks of a table, of which each has some rows, and the rows and
/// gradients that travel between them. All functions are collective: every rank calls them, in one order, also without rows.
/// Own is what a rank has: a Tensor<T>, or a std::unique_ptr of a table whose value() is one.
template <class T, communicator C, class Own>
class SharedRows {
public:
    using Lookup = detail::RowLookup;  ///< the rows of a gather, for exchange

    /// The rows of the table with these numbers, which differ between ranks. Of a table by keys, they are those that find and
    /// find_or_insert give, with zeros for -1. Every row is asked for once. `lookup` is for exchange, also when the table has
    /// grown since.
    /// shapes   ids of any shape, also without ids -> ids.shape + [width]
    /// errors   IndexError if a number is neither that of a row nor, of a table by keys, -1, or ShapeError if this rank has fewer rows than it must have,
    ///          RemoteError on the other ranks; ShapeError on all if ranks call it of different tables; `lookup` is
    ///          unchanged then
    /// cost     a sort of the ids; 8 bytes for each distinct row of other ranks, and these rows back; one agreement
    Tensor<T> gather(Cpu exec, Ids<> ids, Lookup& lookup) {
        auto const& local = rows();
        std::size_t const width = local.row_size();
        auto fetch = std::shared_ptr<detail::RowFetch>();
        Tensor<T> others, out;
        agree_on_table(detail::Collective::gather, [&](detail::Notice& n) {
            detail::check_exec(exec);
            describe(n);
            if (detail::height_of(local) < slots_.rows_of(comm_.rank()))
                throw ShapeError("local().shape(0)", detail::height_of(local),
                                 {slots_.rows_of(comm_.rank()), ", the number of this rank's rows"});
            fetch = std::make_shared<detail::RowFetch>(exec, lookup_slots_, comm_.rank(),
                                                       slots_.grows() ? "rows" : "ids", ids);
            others = Tensor<T>::from_shape({fetch->others(), width});
            if (fetch->others() != fetch->received())  // the row of -1, which is the last
                std::ranges::fill(others.row(fetch->received()), dtype<T>::narrow(typename dtype<T>::sum{}));
            auto shape = fetch->shape();
            shape.push_back(width);
            out = Tensor<T>::from_shape(shape);
        });
        detail::after_agreement(group(), [&] {  // all that may fail is before the last exchange
            auto const all = group();
            detail::RowFetch::ask(all, std::span(fetch.get(), 1));
            auto const answers = rowan::gather(exec, local, fetch->asked());
            std::size_t const bytes = width * sizeof(T);
            auto const came = std::as_writable_bytes(std::span(others.data(), others.size()));
            fetch->send_rows(all, bytes, detail::bytes_of(answers), came);
            detail::copy_rows(exec, ids.size(), bytes, fetch->rows(local.data(), others.data(), bytes),
                              detail::ConsecutiveRows<std::byte>{reinterpret_cast<std::byte*>(out.data()), bytes});
        });
        lookup.fetch_ = std::move(fetch);
        lookup.number_ = ++lookups_;
        lookup.table_ = number_;
        return out;
    }

    /// The gradients of this rank's rows, merged, with row numbers as those of its tensor: for any optimizer but lamb,
    /// which needs the norm of all rows. The parts of rank 0 come first, and so on; the sums are those of sum_of_parts
    /// or merge over all, as row_allreduce.
    /// shapes   SelectedRows of the height of the table, or up to it if it grows, and rows of `width` elements, none or more
    ///          -> of the height of this rank's rows
    /// errors   ShapeError if a height or width differs, or ranks have different orders or tables; IndexError for a number
    ///          that is not a row of the table; RemoteError on the other ranks
    /// cost     a merge of each part; every distinct row sent once to its owner; two or three agreements
    SelectedRows<T> exchange(Cpu exec, std::span<SelectedRows<T> const> parts, SumOrder order = SumOrder::parts) const {
        std::unique_ptr<detail::GroupOf<C>> all;
        std::unique_ptr<detail::RowParts<T>> source;
        std::vector<SelectedRows<T>> moved;  // with slots instead of rows
        std::vector<std::int64_t> splits;
        std::int64_t const height = slots_.height();
        detail::after_agreement(group(), [&] {  // all memory that is needed before the agreement of RowReduction
            all = std::make_unique<detail::GroupOf<C>>(comm_);
            auto const own = [&, exec, parts](detail::Notice& n) {
                std::size_t const width = rows().row_size();
                for (auto const& p : parts) {
                    if (p.height() > height || (p.height() < height && !slots_.grows()))
                        throw ShapeError("parts height", p.height(), {slots_.grows() ? "at most " : "", height});
                    if (p.value().shape().size() != 2 || p.row_size() != width)
                        throw ShapeError("parts row shape", detail::shape_text(p.value().shape()),
                                         {"[rows, ", width, "]"});
                    moved.emplace_back(slots_.size(), slots_.of(exec, "parts rows", p.rows()), p.value().share());
                }
                if (parts.empty()) moved.emplace_back(slots_.size(), Ids<>(), Tensor<T>::from_shape({0, width}));
                n.own[0] = static_cast<std::int64_t>(parts.size());
                return std::span<SelectedRows<T> const>(moved);
            };
            source = std::make_unique<detail::RowParts<T>>(own, number_);
            splits = slots_.splits();
        });
        auto const reduction = detail::begin_row_reduction(std::move(all), exec, std::move(source),
                                                           {order, Route::owner}, std::move(splits));
        detail::RowResult<T> result(slots_.begin_of(comm_.rank()), slots_.rows_of(comm_.rank()));
        detail::finish_row_reduction(*reduction, result);
        return result.result();
    }

    SelectedRows<T> exchange(Cpu exec, SelectedRows<T> const& part, SumOrder order = SumOrder::parts) const {
        return exchange(exec, std::span(&part, 1), order);
    }
    SelectedRows<T> exchange(Cpu exec, std::vector<SelectedRows<T>> const& parts,
                             SumOrder order = SumOrder::parts) const {
        return exchange(exec, std::span<SelectedRows<T> const>(parts), order);
    }

    /// The gradients of this rank's rows, merged, from the gradient of a gather's result: one part for each rank. The
    /// owners know the rows from the gather, so that values alone travel; those of keys without a row take no part in it.
    /// shapes   out_grad as the result of the gather -> SelectedRows of the height of this rank's rows
    /// errors   ShapeError if out_grad has another shape, `lookup` is of another table or from before a load of a table by
    ///          keys, or ranks give the lookups of different gathers or call it of different tables; RemoteError on the other
    ///          ranks
    /// cost     a merge, and a row sent for each distinct row of other ranks; two agreements
    SelectedRows<T> exchange(Cpu exec, Lookup const& lookup, Tensor<T> const& out_grad) const {
        auto const g = gradient(exec, lookup, out_grad);
        std::size_t const width = rows().row_size();
        SelectedRows<T> result;
        static_cast<void>(detail::agree_on_end(group(), 0, detail::Told::differences, [&](detail::Notice&) {
            detail::RowPieces all;
            all.height = g.height();
            all.shape = {0, width};
            all.row_bytes = width * sizeof(detail::sum_t<T>);
            all.resize(g.rows().size());
            std::ranges::copy(g.rows(), all.rows.begin());
            g.sums(exec).run([](std::size_t) {},
                             [&](std::size_t k, detail::sum_t<T> const* sum) {
                                 if (width != 0)
                                     std::memcpy(all.bytes.data() + g.met_.place(k) * all.row_bytes, sum,
                                                 all.row_bytes);
                             });
            result = detail::from_pieces<T>(exec, std::move(all));
        }));
        return result;
    }

    /// The gradient of this rank's rows for one step of an optimizer, which sums and changes each row in one pass: see
    /// the examples of the tables.
    /// shapes   out_grad as the result of the gather -> a gradient of the height of this rank's rows
    /// errors   those of exchange of a lookup
    /// cost     the sums of rows of other ranks, which travel, and a merge of this rank's rows that others have asked
    ///          for; one agreement. It shares the memory of out_grad and of the lookup
    ShardGradient<T> gradient(Cpu exec, Lookup const& lookup, Tensor<T> const& out_grad) const {
        std::size_t const width = rows().row_size(), bytes = width * sizeof(detail::sum_t<T>);
        ShardGradient<T> g;
        detail::Storage<std::byte> send;
        agree_on_table(detail::Collective::exchange_lookup, lookup.number_, [&](detail::Notice& n) {
            detail::check_exec(exec);
            if (lookup.number_ == 0 || lookup.table_ != number_)
                throw ShapeError("lookup", "not of this table", "one that gather has made");
            auto const& fetch = *lookup.fetch_;
            auto shape = fetch.shape();
            shape.push_back(width);
            if (out_grad.shape() != shape)
                throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(shape));
            g.fetch_ = lookup.fetch_;
            g.value_ = out_grad.reshaped({fetch.plan().size(), width});
            g.height_ = slots_.rows_of(comm_.rank());
            g.met_ = fetch.met();
            g.came_ = detail::Storage<std::byte>(fetch.asked().size() * bytes);
            send = detail::Storage<std::byte>(fetch.others() * bytes);
            detail::ShardSums<T>::of_others(exec, fetch, g.value_, detail::bytes_of(send));
            describe(n);
        });
        detail::after_agreement(group(), [&] {
            g.fetch_->give_rows(exec, group(), detail::element_sums<T>(), bytes, detail::bytes_of(std::as_const(send)),
                                detail::bytes_of(g.came_));
        });
        return g;
    }

protected:
    explicit SharedRows(C comm) : comm_(std::move(comm)) {}

    C const& comm() const { return comm_; }
    detail::GroupOf<C> group() const { return detail::GroupOf<C>(comm_); }
    detail::Slots const& slots() const { return slots_; }
    std::int64_t number() const { return number_; }  ///< of the table, that of an agreement on rank 0
    /// Tells where the rows are, in a table with this number.
    void set(detail::Slots slots, std::int64_t number) {
        detail::after_agreement(group(), [&] {
            if (number_ == 0) route_ = detail::node_route(group());
            lookup_slots_ = slots.by(route_);
        });
        slots_ = std::move(slots);
        number_ = number;
    }
    void describe(detail::Notice& notice) const {
        notice.same = {dtype<T>::wire, slots_.height(), static_cast<std::int64_t>(rows().row_size())};
    }
    /// Agrees on an operation of the same table, which has had as many lookups.
    template <class F>
    void agree_on_table(detail::Collective operation, std::int64_t lookup, F const& f) const {
        auto const notices = detail::agree(group(), operation, detail::Told::differences, [&](detail::Notice& n) {
            f(n);
            n.own = {number_, lookup, 0};
        });
        detail::check_same_number(notices, 0, "the number of the sharded table");
        detail::check_same_number(notices, 1, "the number of the lookup");
    }
    template <class F>
    void agree_on_table(detail::Collective operation, F const& f) const {
        agree_on_table(operation, lookups_, f);
    }

    Own local_;  // this rank's rows

private:
    Tensor<T> const& rows() const {
        if constexpr (std::same_as<Own, Tensor<T>>) {
            return local_;
        } else {
            return local_->value();
        }
    }

    C comm_;
    detail::Slots slots_, lookup_slots_;  // the latter by the route
    std::shared_ptr<detail::NodeRoute const> route_;
    std::int64_t number_ = 0, lookups_ = 0;
};

}  // namespace rowan::inline v0
