// rowan/op/detail/concat_split_inl.hpp: definitions of rowan/op/detail/concat_split.hpp.
#pragma once

#include <rowan/op/detail/concat_split.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string part_name(char const* field, std::size_t k) {
    return std::string(field).append("[").append(std::to_string(k)).append("]");
}

ROWAN_FUNCTION std::string dim_name(std::string field, std::size_t axis) {
    return field.append(".shape(").append(std::to_string(axis)).append(")");
}

ROWAN_FUNCTION void odd_shape(std::vector<std::pair<std::string, std::string>> const& inputs) {
    auto const alike = [&](auto const& x) {
        return std::ranges::count_if(inputs, [&](auto const& y) { return y.second == x.second; });
    };
    std::string const& most = std::ranges::max_element(inputs, {}, alike)->second;
    auto const odd = std::ranges::find_if(inputs, [&](auto const& x) { return x.second != most; });
    if (odd != inputs.end()) throw ShapeError({odd->first, ".shape()"}, odd->second, most);
}

}  // namespace rowan::inline v0::detail

#endif
