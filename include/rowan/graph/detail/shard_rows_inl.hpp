// rowan/graph/detail/shard_rows_inl.hpp: definitions of rowan/graph/detail/shard_rows.hpp.
#pragma once

#include <rowan/graph/detail/shard_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/copy_rows.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::string placement_text(Placement const& placement) {
    return std::string("{.block = ")
        .append(std::to_string(placement.block))
        .append(", .first = ")
        .append(std::to_string(placement.first))
        .append("}");
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> rows_of_rank(Partition const& partition, int rank) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(partition.rows_of(rank)));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = partition.global(rank, static_cast<std::int64_t>(i));
    return rows;
}

ROWAN_CALLED_FUNCTION Value with_bytes(Cpu exec, Value const& like, std::span<std::int64_t const> rows,
                                       std::function<std::byte const*(std::size_t)> const& from) {
    Value made = like.with_rows(rows);
    made.row_values().write([&](std::span<std::byte> to) {
        if (to.empty()) return;
        std::size_t const bytes = to.size() / rows.size();
        copy_rows(exec, rows.size(), bytes, std::cref(from), ConsecutiveRows<std::byte>{to.data(), bytes});
    });
    return made;
}

ROWAN_CALLED_FUNCTION Value own_rows(Value const& all, Partition const& partition, int rank) {
    auto const rows = all.row_numbers();
    std::vector<std::int64_t> kept, at;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (partition.owner(rows[i]) != rank) continue;
        kept.push_back(rows[i]);
        at.push_back(static_cast<std::int64_t>(i));
    }
    if (at.size() == rows.size()) return all.share();
    auto const e = all.row_values().elements();
    std::size_t const bytes = rows.empty() ? 0 : e.bytes.size() / rows.size();
    return with_bytes(Cpu{1}, all, kept, PlacesOfRows<std::byte const>{e.bytes.data(), at.data(), bytes});
}

}  // namespace rowan::inline v0::detail

#endif
