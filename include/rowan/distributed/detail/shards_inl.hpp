// rowan/distributed/detail/shards_inl.hpp: the functions of shards.hpp.
#pragma once

#include <rowan/distributed/detail/shards.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/shard_exchange.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Value fetch_rows(ProcessGroup const& group, Cpu exec, Value const& own,
                                std::span<std::int64_t const> rows, std::function<void(Ids<> const&)> const& before) {
    Partition const partition = shards_of(own.spec().dims[0], group.size());
    Slots const slots(partition);
    RowFetch fetch(exec, slots, "ids", rows);
    fetch.ask(group, slots.splits());
    if (before) before(fetch.asked());
    Value answers = own.row_values().gather(exec, fetch.asked());
    auto const e = answers.elements();
    std::size_t row_bytes = e.element_size;
    for (std::size_t i = 1; i < e.dims.size(); ++i) row_bytes *= static_cast<std::size_t>(e.dims[i]);
    Buffer<std::byte> found(fetch.plan().rows().size() * row_bytes);
    fetch.fetch(group, row_bytes, e.bytes, found);
    return with_bytes(own, rows, found, {fetch.places().data(), fetch.places().size()});
}

/// The pieces of each rank's rows together, in their order, with slots instead of rows.
inline RowPieces dealt_pieces(Cpu exec, Partition const& partition, Slots const& slots, RowPieces const& in) {
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

ROWAN_FUNCTION RowPieces sum_own_rows(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
                                      RowPieces const& nodes, std::int64_t total) {
    int const rank = group->rank();
    Partition const partition = shards_of(nodes.height, group->size());
    Slots const slots(partition);
    auto dealt = dealt_pieces(exec, partition, slots, nodes);
    auto sums = RowReduction(std::move(group), exec, type, std::move(dealt), total, slots.splits()).finish();
    for (auto& row : sums.rows) row = partition.global(rank, row - slots.splits()[static_cast<std::size_t>(rank)]);
    return sums;
}

}  // namespace rowan::inline v0::detail

#endif
