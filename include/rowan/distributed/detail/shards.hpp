// rowan/distributed/detail/shards.hpp: rows of a sharded table of a net, sent between ranks.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Rows of tables on any ranks, to ask for.
/// cost     a sort for each table; then 8 bytes for each row of other ranks, or at most 16 and 4 KiB more, and these rows back: two
///          exchanges for all tables, or three if a rank asks another for many more than the others, or asks without words;
///          by a route, three in the node and three between nodes
ROWAN_IF_CALLED std::unique_ptr<FetchedTables> fetch_rows(ProcessGroup const& group,
                                                          std::shared_ptr<NodeRoute const> const& route, Cpu exec,
                                                          std::span<TableRows const> tables);

/// Those for the next step: see Ranks::begin_fetch. What goes on meanwhile is exchanged by `ahead`, the rest by `group`.
/// cost     five exchanges, with a byte more for each row
ROWAN_IF_CALLED std::unique_ptr<FetchedTables> begin_fetch_rows(ProcessGroup const& group, ProcessGroup const& ahead,
                                                                Cpu exec, std::span<TableRows const> tables, bool told,
                                                                std::vector<bool> waits, FetchedTables const& now);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/fetched_shards.hpp>
