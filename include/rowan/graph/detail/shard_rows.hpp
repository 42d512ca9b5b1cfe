// rowan/graph/detail/shard_rows.hpp: the rows that ranks have of a sharded table of a net.
#pragma once

#include <rowan/graph/value.hpp>
#include <rowan/sparse/partition.hpp>

#include <cstddef>
#include <cstdint>
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

/// The rows of a SelectedRows that a rank has, in their order: an alias if these are all.
Value own_rows(Value const& all, int rank, int ranks);

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/shard_rows_inl.hpp>
