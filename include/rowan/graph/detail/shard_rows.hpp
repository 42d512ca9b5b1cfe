// rowan/graph/detail/shard_rows.hpp: the rows that ranks have of a sharded table of a net.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// How the rows of a sharded table are dealt.
inline Partition shards_of(Variable const& table, int ranks) { return table.placement.on(table.spec().dims[0], ranks); }

/// "{.block = 64, .first = 0}", for messages.
ROWAN_IF_CALLED std::string placement_text(Placement const& placement);

/// The rows of a rank, ascending.
ROWAN_IF_CALLED std::vector<std::int64_t> rows_of_rank(Partition const& partition, int rank);

/// A SelectedRows like another, with other rows: row i has the bytes at from(i).
ROWAN_IF_CALLED Value with_bytes(Cpu exec, Value const& like, std::span<std::int64_t const> rows,
                                 std::function<std::byte const*(std::size_t)> const& from);

/// The rows of a SelectedRows that a rank has, in their order: an alias if these are all.
ROWAN_IF_CALLED Value own_rows(Value const& all, Partition const& partition, int rank);

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/shard_rows_inl.hpp>
