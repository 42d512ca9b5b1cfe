// rowan/core/detail/lend_inl.hpp: definitions of rowan/core/detail/lend.hpp.
#pragma once

#include <rowan/core/detail/lend.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstdint>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_lent(void const* data, std::size_t alignment, std::size_t size) {
    if (data == nullptr && size != 0) throw ShapeError("borrow: data", "null", {size, " elements"});
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
        throw Error({"borrow: data is not at a multiple of ", alignment, ", the element's alignment"});
}

}  // namespace rowan::inline v0::detail

#endif
