// rowan/distributed/detail/print_error.hpp: print_error, what a rank says before it ends all ranks.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstdio>
#include <string_view>

namespace rowan::inline v0::detail {

/// Prints `rank 2: text` to standard error, and what other streams still have.
inline void print_error(int rank, std::string_view text) {
    std::fprintf(stderr, "rank %d: %.*s\n", rank, static_cast<int>(text.size()), text.data());
    std::fflush(nullptr);
}

}  // namespace rowan::inline v0::detail
