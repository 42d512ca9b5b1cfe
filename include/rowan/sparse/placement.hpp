// rowan/sparse/placement.hpp: Placement, how a table is dealt to ranks, however many there are.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/sparse/partition.hpp>

#include <cstdint>

namespace rowan::inline v0 {

/// How the rows of a table are dealt to ranks, of which the number is known later.
///     Placement{}                             blocks of 64 rows in turn, rank 0 has the first
///     Placement{.block = 1}                   row by row: cyclic
///     Placement{.block = height, .first = 2}  whole, on rank 2
///     Placement{.block = height, .first = 2, .columns = 2}   the left half whole on rank 2, the right one on rank 3
/// Ranks are counted modulo their number.
struct Placement {
    std::int64_t block = 64;  ///< how many rows in turn a rank has; the height or more: all rows are on one rank
    int first = 0;            ///< the rank that has the first block
    /// in how many pieces of as many columns the table is cut; piece i is dealt from rank first + i on
    int columns = 1;

    /// The rows of each of `ranks` ranks, of piece 0.
    /// cost     O(1)
    Partition on(std::int64_t height, int ranks) const noexcept { return {height, block, ranks, first % ranks}; }
    /// The placement of one of the pieces, as a table of its own.
    /// cost     O(1)
    Placement piece(int i) const noexcept { return {.block = block, .first = first + i}; }

    /// Checks the numbers.
    /// errors   ShapeError if block or columns is below 1, first is negative, or first or columns is above 10^9
    /// cost     O(1)
    void check() const {
        if (block < 1) throw ShapeError("placement.block", block, "at least 1");
        if (first < 0 || first > most) throw ShapeError("placement.first", first, "in [0, 10^9]");
        if (columns < 1 || columns > most) throw ShapeError("placement.columns", columns, "in [1, 10^9]");
    }

    bool operator==(Placement const&) const = default;

private:
    static constexpr int most = 1'000'000'000;  // the sum of two is an int
};

}  // namespace rowan::inline v0
