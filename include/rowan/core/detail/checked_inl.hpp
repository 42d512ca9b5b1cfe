// rowan/core/detail/checked_inl.hpp: definitions of rowan/core/detail/checked.hpp.
#pragma once

#include <rowan/core/detail/checked.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_range(char const* field, std::size_t begin, std::size_t end, std::size_t count) {
    if (end > count) throw IndexError(field, 1, end, count + 1);
    if (begin > end) throw IndexError(field, 0, begin, end + 1);
}

ROWAN_FUNCTION void check_tensor_rank(std::size_t rank) {
    if (rank > max_tensor_rank) throw ShapeError("rank", rank, {"at most ", max_tensor_rank});
}

}  // namespace rowan::inline v0::detail

#endif
