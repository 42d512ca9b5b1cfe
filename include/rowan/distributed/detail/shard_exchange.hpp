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
    /// Of a table that grows: row i of the heights[r] rows of rank r is row i * ranks + r, and row -1 is none.
    explicit Slots(std::span<std::int64_t const> heights);

    std::vector<std::int64_t> const& splits() const { return splits_; }
    std::int64_t height() const { return partition_.height; }  ///< rows are below it
    std::int64_t size() const { return splits_.back(); }       ///< the number of rows that there are
    std::int64_t rows_of(int rank) const {
        auto const r = static_cast<std::size_t>(rank);
        return splits_[r + 1] - splits_[r];
    }
    bool grows() const { return grows_; }
    /// The slots of rows; size() for none.
    /// errors   IndexError for the first that is not a row of the table
    std::vector<std::int64_t> of(Cpu exec, char const* field, Ids<> const& rows) const;

private:
    Partition partition_;
    std::vector<std::int64_t> splits_;
    bool grows_ = false;
};

/// The ids of a lookup, and which rows they make travel. Every id is asked for once.
class RowFetch {
public:
    RowFetch() = default;
    /// errors   IndexError if an id is not a row of the table
    RowFetch(Cpu exec, Slots const& slots, char const* field, Ids<> const& ids);

    /// Tells the owners the rows.
    void ask(ProcessGroup const& group, std::span<std::int64_t const> splits);
    /// Sends the rows that were asked for, answers[i] is that of asked()[i], and receives a row for each of
    /// plan().rows() but none.
    void fetch(ProcessGroup const& group, std::size_t row_bytes, std::span<std::byte const> answers,
               std::span<std::byte> rows) const;
    /// The other way: a piece for each of plan().rows() but none goes to its owner. Returns those of asked(), by rank.
    RowPieces give(ProcessGroup const& group, RowPieces&& own) const;

    /// Of slots. The last of its rows may be none.
    RowPlan<> const& plan() const { return plan_; }
    bool has_none() const { return total(send_) != plan_.rows().size(); }
    Tensor<std::int64_t> const& places() const { return places_; }  ///< for each id, its k of plan().rows()[k]
    std::vector<std::int64_t> const& asked() const {
        return asked_;
    }  ///< this rank's local rows, those of rank 0 first

private:
    RowPlan<> plan_;
    Tensor<std::int64_t> places_;
    std::vector<std::size_t> send_, receive_;
    std::vector<std::int64_t> asked_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/shard_exchange_inl.hpp>
