// rowan/distributed/detail/shards_inl.hpp: the functions of shards.hpp.
#pragma once

#include <rowan/distributed/detail/shards.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/distributed/detail/fetched_shards.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/slots.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::unique_ptr<FetchedTables> fetch_rows(ProcessGroup const& group,
                                                                std::shared_ptr<NodeRoute const> const& route, Cpu exec,
                                                                std::span<TableRows const> tables) {
    return std::make_unique<FetchedShards<>>(group, route, exec, tables);
}

ROWAN_CALLED_FUNCTION std::unique_ptr<FetchedTables> begin_fetch_rows(ProcessGroup const& group,
                                                                      ProcessGroup const& ahead, Cpu exec,
                                                                      std::span<TableRows const> tables, bool told,
                                                                      std::vector<bool> waits,
                                                                      FetchedTables const& now) {
    return std::make_unique<FetchedShards<>>(group, ahead, exec, tables, told, std::move(waits),
                                             static_cast<FetchedShards<> const&>(now));
}

/// The pieces of each rank's rows together, in their order, with slots instead of rows.
ROWAN_IF_CALLED inline RowPieces dealt_pieces(Cpu exec, Partition const& partition, Slots const& slots,
                                              RowPieces const& in) {
    std::vector<std::size_t> next(static_cast<std::size_t>(partition.ranks) + 1);
    for (auto const row : in.rows) ++next[static_cast<std::size_t>(partition.owner(row)) + 1];
    for (std::size_t r = 1; r < next.size(); ++r) next[r] += next[r - 1];
    auto const to = slots.of(exec, "rows", in.rows);
    auto out = in.like();
    out.resize(in.rows.size());
    for (std::size_t i = 0; i < in.rows.size(); ++i) {
        std::size_t const k = next[static_cast<std::size_t>(partition.owner(in.rows[i]))]++;
        out.rows[k] = to[i];
        out.keys[k] = in.keys[i];
        if (in.row_bytes != 0)
            std::memcpy(out.bytes.data() + k * in.row_bytes, in.bytes.data() + i * in.row_bytes, in.row_bytes);
    }
    return out;
}

ROWAN_CALLED_FUNCTION RowPieces sum_own_rows(ProcessGroup const& group, Cpu exec, ElementSums const& type,
                                             RowPieces const& nodes, std::int64_t total, Placement const& placement) {
    int const rank = group.rank();
    Partition const partition = placement.on(nodes.height, group.size());
    Slots const slots(partition);
    auto dealt = dealt_pieces(exec, partition, slots, nodes);
    auto sums = RowReduction(group, exec, type, std::move(dealt), total, slots.splits()).finish();
    for (auto& row : sums.rows) row = partition.global(rank, row - slots.begin_of(rank));
    return sums;
}

}  // namespace rowan::inline v0::detail

#endif
