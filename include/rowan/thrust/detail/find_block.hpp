// rowan/thrust/detail/find_block.hpp: find_block, a binary search for the block that contains a row.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Returns the last of n consecutive blocks that begins at or before row i. Requires ascending starts and starts[0] <=
/// i.
ROWAN_HD inline std::size_t find_block(std::int64_t const* starts, std::size_t n, std::size_t i) {
    std::size_t block = 0;
    while (n > 1) {
        std::size_t const half = n / 2;
        if (static_cast<std::size_t>(starts[block + half]) <= i) block += half;
        n -= half;
    }
    return block;
}

}  // namespace rowan::inline v0::detail
