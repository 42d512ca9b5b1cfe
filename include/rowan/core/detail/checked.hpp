// rowan/core/detail/checked.hpp: overflow-checked size arithmetic, and shapes as text.
#pragma once

#include <rowan/core/error.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

namespace rowan::inline v0::detail {

/// The shape as text: "[3, 4]".
template <class Shape>
std::string shape_text(Shape const& shape) {
    std::string text = "[";
    for (auto const dim : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(dim);
    return text + "]";
}

/// The number of elements of a shape, or nullopt if elements of `element_bytes` bytes need more than 2^63 - 1 bytes.
/// Overflow of the other dims is detected even if a dim is 0.
/// requires   no dim is negative
template <class Shape>
std::optional<std::size_t> shape_size(Shape const& shape, std::size_t element_bytes) {
    constexpr std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max();
    std::size_t bytes = element_bytes;
    bool empty = false;
    for (auto const d : shape) {
        auto const dim = static_cast<std::size_t>(d);
        empty = empty || dim == 0;
        if (dim == 0) continue;
        if (bytes > limit / dim) return std::nullopt;
        bytes *= dim;
    }
    return empty ? 0 : bytes / element_bytes;
}

/// The same for a shape passed by the caller.
/// errors   ShapeError instead of nullopt
template <class Shape>
std::size_t checked_size(char const* field, Shape const& shape, std::size_t element_bytes) {
    auto const size = shape_size(shape, element_bytes);
    if (!size) throw ShapeError({field, " shape"}, shape_text(shape), "at most 2^63 - 1 bytes in all");
    return *size;
}

/// Validates a range.
/// errors   IndexError unless begin <= end <= count
void check_range(char const* field, std::size_t begin, std::size_t end, std::size_t count);

/// The highest rank: shapes are stored inline, so that a move does not allocate or throw.
inline constexpr std::size_t max_tensor_rank = 8;

/// errors   ShapeError if the rank exceeds max_tensor_rank
void check_tensor_rank(std::size_t rank);

/// The first dim of a shape.
/// errors   ShapeError for rank 0
template <class Shape>
std::size_t checked_rows(Shape const& shape) {
    if (shape.size() == 0) throw ShapeError("tensor rank", "0", "at least 1");
    return shape[0];
}

/// The shape of rows [begin, end).
/// errors   IndexError unless begin <= end <= shape[0]; ShapeError for rank 0
template <class Shape>
Shape slice_shape(Shape shape, std::size_t begin, std::size_t end) {
    check_range("slice", begin, end, checked_rows(shape));
    shape[0] = end - begin;
    return shape;
}

/// errors   ShapeError if the rank exceeds max_tensor_rank, or the shape does not have `size` elements
template <class Shape>
void check_reshaped(char const* field, Shape const& shape, std::size_t size, std::size_t element_bytes) {
    check_tensor_rank(shape.size());
    if (checked_size(field, shape, element_bytes) != size)
        throw ShapeError({field, " shape"}, shape_text(shape), {size, " elements"});
}

/// Whether x is an integer in the range of I.
template <class I>
bool is_whole(double x) noexcept {
    using limits = std::numeric_limits<I>;
    return x == std::trunc(x) && x >= static_cast<double>(limits::min()) && x < std::ldexp(1.0, limits::digits);
}

/// The product of the dims from `first` on.
template <class Shape>
std::size_t product_from(Shape const& shape, std::size_t first) noexcept {
    std::size_t product = 1;
    for (std::size_t i = first; i < shape.size(); ++i) product *= shape[i];
    return product;
}

}  // namespace rowan::inline v0::detail

#include <rowan/core/detail/checked_inl.hpp>
