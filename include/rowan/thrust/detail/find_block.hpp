// rowan/thrust/detail/find_block.hpp: which of the blocks that lie one after the other holds a row.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// The last of n blocks that begins at or before row i; starts[0] is.
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
