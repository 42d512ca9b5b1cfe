// rowan/sparse/detail/row_sums_inl.hpp: definitions of rowan/sparse/detail/row_sums.hpp.
#pragma once

#include <rowan/sparse/detail/row_sums.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstdint>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Shares::Shares(std::span<std::int64_t const> offsets, std::size_t threads) {
    std::size_t const rows = offsets.size() - 1;
    auto const size = static_cast<std::size_t>(offsets.back() - offsets.front());
    std::size_t const count = threads == 1 ? 1 : threads * 16;
    std::size_t const grain = size / count + 1;
    heavy_from = threads == 1 ? size : 2 * grain;
    first.push_back(0);
    for (std::size_t begin = grain; count > 1 && begin < size; begin += grain) {
        auto const at =
            std::lower_bound(offsets.begin(), offsets.end() - 1, offsets.front() + static_cast<std::int64_t>(begin));
        auto const k = static_cast<std::size_t>(at - offsets.begin());
        if (k == first.back()) continue;
        first.push_back(k);
        if (static_cast<std::size_t>(offsets[k] - offsets[k - 1]) > heavy_from) heavy.push_back(k - 1);
    }
    if (first.back() != rows) first.push_back(rows);
    std::size_t const last = rows > 0 ? rows - 1 : 0;
    if (rows > 0 && static_cast<std::size_t>(offsets[rows] - offsets[last]) > heavy_from &&
        (heavy.empty() || heavy.back() != last)) {
        heavy.push_back(last);
    }
}

}  // namespace rowan::inline v0::detail

#endif
