// rowan/distributed/detail/shard_exchange.hpp: Slots and RowFetch, rows that lie on several ranks.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// The rows of a partition in another order, in which those of a rank are together: slots [splits[r], splits[r + 1])
/// are rank r's, and a row's slot is splits[owner] + local.
class Slots {
public:
    Slots() = default;
    explicit Slots(Partition const& partition);

    std::vector<std::int64_t> const& splits() const { return splits_; }
    std::vector<std::int64_t> of(Cpu exec, Ids<> const& rows) const;

private:
    Partition partition_;
    std::vector<std::int64_t> splits_;
};

/// The ids of a lookup, and which rows they make travel. Every id is asked for once.
class RowFetch {
public:
    RowFetch() = default;
    /// errors   IndexError if an id is not in [0, height)
    RowFetch(Cpu exec, Partition const& partition, Slots const& slots, Ids<> const& ids);

    /// Tells the owners the rows.
    void ask(ProcessGroup const& group, std::span<std::int64_t const> splits);
    /// Sends the rows that were asked for, answers[i] is that of asked()[i], and receives a row for each of
    /// plan().rows().
    void fetch(ProcessGroup const& group, std::size_t row_bytes, std::span<std::byte const> answers,
               std::span<std::byte> rows) const;
    /// The other way: a piece for each of plan().rows() goes to its owner. Returns those of asked(), by rank.
    RowPieces give(ProcessGroup const& group, RowPieces&& own) const;

    Partition const& partition() const { return partition_; }
    RowPlan<> const& plan() const { return plan_; }                 ///< of slots
    Tensor<std::int64_t> const& places() const { return places_; }  ///< for each id, its k of plan().rows()[k]
    std::vector<std::int64_t> const& asked() const {
        return asked_;
    }  ///< this rank's local rows, those of rank 0 first

private:
    Partition partition_;
    RowPlan<> plan_;
    Tensor<std::int64_t> places_;
    std::vector<std::size_t> send_, receive_;
    std::vector<std::int64_t> asked_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/shard_exchange_inl.hpp>
