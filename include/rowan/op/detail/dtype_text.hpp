// rowan/op/detail/dtype_text.hpp: the names of element types, for messages.
#pragma once

#include <rowan/core/dtype.hpp>

#include <cstdint>
#include <string>

namespace rowan::inline v0::detail {

/// "f32", or "element type 1000" for a user-defined type.
std::string dtype_text(std::int32_t wire);

/// "f32, f64 or bf16"
template <class First, class... T>
std::string dtype_list() {
    std::string text(dtype<First>::name);
    std::size_t left = sizeof...(T);
    ((text.append(--left == 0 ? " or " : ", ").append(dtype<T>::name)), ...);
    return text;
}

}  // namespace rowan::inline v0::detail

#include <rowan/op/detail/dtype_text_inl.hpp>
