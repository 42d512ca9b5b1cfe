// rowan/graph/detail/joined_rows_inl.hpp: definitions of rowan/graph/detail/joined_rows.hpp.
#pragma once

#include <rowan/graph/detail/joined_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <string>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> sources_of(std::span<std::span<std::int64_t const> const> to,
                                                           std::size_t n) {
    std::size_t targets = 0;
    for (auto const& list : to) targets += list.size();
    if (targets != n) throw ShapeError("values", std::to_string(n) + " sequences", std::to_string(targets));
    std::vector<std::int64_t> from(n);
    std::int64_t i = 0;
    for (auto const& list : to) {
        for (std::int64_t const target : list) from[static_cast<std::size_t>(target)] = i++;
    }
    return from;
}

}  // namespace rowan::inline v0::detail

#endif
