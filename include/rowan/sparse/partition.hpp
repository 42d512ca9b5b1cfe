// rowan/sparse/partition.hpp: Partition, which rank has which rows of a table.
#pragma once

#include <rowan/core/error.hpp>

#include <cstdint>

namespace rowan::inline v0 {

/// The rows of a table, dealt to ranks: blocks of `block` rows in turn, the first to rank `first`. A block of 1 deals
/// single rows, one of height / ranks gives each rank one range, one of `height` or more leaves all rows on rank `first`.
///     Partition{10, 2, 3}      rank 0: rows 0 1 6 7,   rank 1: rows 2 3 8 9,   rank 2: rows 4 5
///     Partition{10, 2, 3, 2}   rank 0: rows 2 3 8 9,   rank 1: rows 4 5,       rank 2: rows 0 1 6 7
/// Its functions do not check their arguments, and cost O(1).
struct Partition {
    std::int64_t height = 0;  ///< the number of rows
    std::int64_t block = 64;  ///< how many rows in turn a rank has
    int ranks = 1;            ///< the number of ranks
    int first = 0;            ///< the rank that has the first block

    /// Where a row is.
    struct Place {
        int rank;            ///< its owner
        std::int64_t local;  ///< its number among the owner's rows, which ascend
    };
    /// The place of a row of [0, height).
    Place place(std::int64_t row) const noexcept {
        std::int64_t const before = quotient(row, block), turn = quotient(before, ranks);
        int const rank = static_cast<int>(before - turn * ranks) - (ranks - first);  // negative below the last rank
        return {rank < 0 ? rank + ranks : rank, turn * block + (row - before * block)};
    }
    /// The rank that has a row of [0, height).
    int owner(std::int64_t row) const noexcept { return place(row).rank; }
    /// The number of a row among those of its owner, where rows ascend.
    std::int64_t local(std::int64_t row) const noexcept { return place(row).local; }
    /// The row with this number among those of a rank.
    std::int64_t global(int rank, std::int64_t local) const noexcept {
        return (local / block * ranks + seat(rank)) * block + local % block;
    }
    /// The number of rows of a rank.
    std::int64_t rows_of(int rank) const noexcept {
        std::int64_t const blocks = height / block, turn = blocks % ranks, at = seat(rank);
        return (blocks / ranks + (at < turn ? 1 : 0)) * block + (at == turn ? height % block : 0);
    }

    /// Checks the numbers.
    /// errors   ShapeError if height is negative, block or ranks is below 1, or first is not in [0, ranks)
    /// cost     O(1)
    void check() const {
        if (height < 0) throw ShapeError("partition.height", height, "at least 0");
        if (block < 1) throw ShapeError("partition.block", block, "at least 1");
        if (ranks < 1) throw ShapeError("partition.ranks", ranks, "at least 1");
        if (first < 0 || first >= ranks) throw ShapeError("partition.first", first, {"a rank in [0, ", ranks, ")"});
    }

    bool operator==(Partition const&) const = default;

private:
    /// In a turn, the number of the block that a rank gets.
    std::int64_t seat(int rank) const noexcept { return rank < first ? rank - first + ranks : rank - first; }
    /// a / b; a division of 32 bits is faster.
    static std::int64_t quotient(std::int64_t a, std::int64_t b) noexcept {
        if (b == 1) return a;
        auto const x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
        if ((x | y) >> 32 != 0) return a / b;
        return static_cast<std::uint32_t>(x) / static_cast<std::uint32_t>(y);
    }
};

}  // namespace rowan::inline v0
