// rowan/distributed/detail/shards.hpp: the rows that ranks have of a sharded table of a net.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/partition.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// How the rows of a table of this height are dealt.
inline Partition shards_of(std::int64_t height, int ranks) { return {.height = height, .ranks = ranks}; }

/// The rows of a rank, ascending.
std::vector<std::int64_t> rows_of_rank(Partition const& partition, int rank);

/// A SelectedRows like another, with other rows: row i has the bytes of row at[i] of `from`.
Value with_bytes(Value const& like, std::span<std::int64_t const> rows, std::span<std::byte const> from,
                 std::span<std::int64_t const> at);

/// Rows of a table on any ranks, in the order given; `own` has those of this rank. For ranks that have agreed.
/// cost     a sort; messages of 8 bytes for each row, and the rows back
Value fetch_rows(ProcessGroup const& group, Cpu exec, Value const& own, std::span<std::int64_t const> rows);

/// The rows of a SelectedRows that a rank has, in their order: an alias if these are all.
Value own_rows(Value const& all, int rank, int ranks);

/// The sums of this rank's rows, narrowed. `nodes` are as those of RowReduction. For ranks that have agreed.
/// cost     every row sent once to the rank that has it
RowPieces sum_own_rows(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
                       RowPieces const& nodes, std::int64_t total);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/shards_inl.hpp>
