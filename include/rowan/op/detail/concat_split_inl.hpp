// rowan/op/detail/concat_split_inl.hpp: definitions of rowan/op/detail/concat_split.hpp.
#pragma once

#include <rowan/op/detail/concat_split.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void bad_axis(std::int64_t axis, std::size_t rank) {
    std::string const dims = std::to_string(rank);
    std::string text = rank == 0 ? "a tensor of rank 1 or more" : "in [-";
    if (rank != 0) text.append(dims).append(", ").append(dims).append(")");
    throw ValueError("axis", static_cast<double>(axis), text);
}

ROWAN_FUNCTION std::string part_name(char const* field, std::size_t k) {
    return std::string(field).append("[").append(std::to_string(k)).append("]");
}

ROWAN_FUNCTION std::string dim_name(std::string field, std::size_t axis) {
    return field.append(".shape(").append(std::to_string(axis)).append(")");
}

}  // namespace rowan::inline v0::detail

#endif
