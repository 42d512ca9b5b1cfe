// rowan/detail/checked.hpp: size arithmetic that throws where it would wrap around, and the texts of shapes.
#pragma once

#include <rowan/core/error.hpp>

#include <cstddef>
#include <limits>
#include <string>

namespace rowan::inline v0::detail {

/// "[3, 4]"
template <class Shape>
std::string shape_text(Shape const& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + "]";
}

/// The number of elements of a shape, every one of `element_bytes`. A dim of 0 hides no overflow in the others.
template <class Shape>
std::size_t checked_size(char const* field, Shape const& shape, std::size_t element_bytes) {
    constexpr std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max();
    std::size_t bytes = element_bytes;
    bool empty = false;
    for (std::size_t const dim : shape) {
        empty = empty || dim == 0;
        if (dim == 0) continue;
        if (bytes > limit / dim)
            throw ShapeError(std::string(field) + " shape", shape_text(shape), "at most 2^63 - 1 bytes in all");
        bytes *= dim;
    }
    return empty ? 0 : bytes / element_bytes;
}

/// The product of the dims from `first` on.
template <class Shape>
std::size_t product_from(Shape const& shape, std::size_t first) noexcept {
    std::size_t product = 1;
    for (std::size_t i = first; i < shape.size(); ++i) product *= shape[i];
    return product;
}

}  // namespace rowan::inline v0::detail
