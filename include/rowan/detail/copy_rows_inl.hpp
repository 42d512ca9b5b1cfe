// rowan/detail/copy_rows_inl.hpp: definitions of rowan/detail/copy_rows.hpp.
#pragma once

#include <rowan/detail/copy_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void too_many_rows(char const* field, std::int64_t rows, std::int64_t more) {
    throw ShapeError(field, {rows, " + ", more}, "at most 2^63 - 1");
}

ROWAN_CALLED_FUNCTION void RowCopies<Cpu>::take(Cpu exec, std::size_t n, std::size_t bytes, void const* from,
                                                std::int64_t const* index, void* to) {
    rows(exec, n, bytes, PlacesOfRows<std::byte const>{static_cast<std::byte const*>(from), index, bytes},
         ConsecutiveRows<std::byte>{static_cast<std::byte*>(to), bytes});
}

ROWAN_CALLED_FUNCTION void RowCopies<Cpu>::put(Cpu exec, std::size_t n, std::size_t bytes, void const* from,
                                               std::int64_t const* index, void* to) {
    rows(exec, n, bytes, ConsecutiveRows<std::byte const>{static_cast<std::byte const*>(from), bytes},
         PlacesOfRows<std::byte>{static_cast<std::byte*>(to), index, bytes});
}

}  // namespace rowan::inline v0::detail

#endif
