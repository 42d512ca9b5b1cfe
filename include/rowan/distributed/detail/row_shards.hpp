// rowan/distributed/detail/row_shards.hpp: RowShards, what tables of which each rank has some rows have in common.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/shard_exchange.hpp>
#include <rowan/distributed/detail/shard_parts.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class T, communicator C>
class RowShards;

/// The ids of a gather, for exchange.
class RowLookup {
    template <class T, communicator C>
    friend class RowShards;
    RowFetch fetch_;
    std::int64_t number_ = 0, table_ = 0;
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
        RowFetch fetch;
        Tensor<T> rows, out;
        agree_on_table(Collective::gather, [&](Notice& n) {
            check_exec(exec);
            describe(n, width);
            fetch = RowFetch(exec, slots_, field, ids);
            rows = Tensor<T>::from_shape({fetch.plan().rows().size(), width});
            if (fetch.has_none())
                std::ranges::fill(rows.row(rows.shape()[0] - 1), dtype<T>::narrow(typename dtype<T>::sum{}));
            auto shape = fetch.places().shape();
            shape.push_back(width);
            out = Tensor<T>::from_shape(shape);
        });
        after_agreement(group(), [&] {  // all that may fail is before the last exchange
            auto const all = group();
            fetch.ask(all, slots_.splits());
            auto const answers = rowan::gather(exec, local, fetch.asked());
            fetch.fetch(all, width * sizeof(T), bytes_of(answers),
                        std::as_writable_bytes(std::span(rows.data(), rows.size())));
            take_rows(exec, fetch.places().size(), width, rows.data(), fetch.places().data(), out.data());
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
        RowReduction reduction(std::move(all), exec, std::move(source), {order, Route::owner}, std::move(splits));
        OwnRows result(*this);
        reduction.finish(result);
        return result.rows.result();
    }

    SelectedRows<T> exchange(Cpu exec, std::size_t width, RowLookup const& lookup, Tensor<T> const& out_grad) const {
        RowPieces own;
        auto const& plan = lookup.fetch_.plan();
        agree_on_table(Collective::exchange_lookup, lookup.number_, [&](Notice& n) {
            check_exec(exec);
            if (lookup.number_ == 0 || lookup.table_ != number_)
                throw ShapeError("lookup", "not of this table", "one that gather has made");
            auto shape = lookup.fetch_.places().shape();
            shape.push_back(width);
            if (out_grad.shape() != shape)
                throw ShapeError("out_grad.shape()", shape_text(out_grad.shape()), shape_text(shape));
            own = planned_pieces(exec, plan, out_grad.reshaped({plan.size(), width}), comm_.rank());
            describe(n, width);
        });
        RowPieces in;
        SelectedRows<T> sums;
        after_agreement(group(), [&] { in = lookup.fetch_.give(group(), std::move(own)); });
        static_cast<void>(agree_on_end(group(), 0, Told::differences, [&](Notice&) {
            in.height = slots_.rows_of(comm_.rank());
            sums = from_pieces<T>(exec, sum_pieces<T>(exec, in));
        }));
        return sums;
    }

private:
    /// The rows of this rank, with their numbers there.
    struct OwnRows final : RowTarget {
        explicit OwnRows(RowShards const& s) : shards(s) {}
        void take(RowPieces&& sums) override {
            auto const& slots = shards.slots_;
            int const rank = shards.comm_.rank();
            for (auto& row : sums.rows) row -= slots.splits()[static_cast<std::size_t>(rank)];
            sums.height = slots.rows_of(rank);
            rows.take(std::move(sums));
        }
        Memory make(RowPieces const& like, std::size_t n) override { return rows.make(like, n); }
        RowShards const& shards;
        RowResult<T> rows;
    };

    C comm_;
    Slots slots_;
    std::int64_t number_ = 0, lookups_ = 0;
};

}  // namespace rowan::inline v0::detail
