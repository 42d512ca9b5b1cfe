// rowan/op/detail/dtype_text_inl.hpp: definitions of rowan/op/detail/dtype_text.hpp.
#pragma once

#include <rowan/op/detail/dtype_text.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <array>
#include <string_view>
#include <utility>

namespace rowan::inline v0::detail {

template <class... T>
inline constexpr std::array dtype_names{std::pair{dtype<T>::wire, dtype<T>::name}...};

ROWAN_FUNCTION ROWAN_RARE std::string dtype_text(std::int32_t wire) {
    for (auto const& [number, name] :
         dtype_names<float, double, std::int32_t, std::int64_t, std::uint8_t, bool, bfloat16, float16>) {
        if (number == wire) return std::string(name);
    }
    return std::string("element type ").append(std::to_string(wire));
}

}  // namespace rowan::inline v0::detail

#endif
