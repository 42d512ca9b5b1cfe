// rowan/detail/arguments.hpp: the checks of arguments that several functions share.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace rowan::inline v0::detail {

inline void check_finite(char const* field, double value) {
    if (!std::isfinite(value)) throw ValueError(field, value, "a finite number");
}

/// The rank is at least 1.
template <class T>
void check_rows(char const* field, Tensor<T> const& tensor) {
    if (tensor.dimension() == 0) throw ShapeError(std::string(field) + " rank", "0", "at least 1");
}

template <class T>
void check_height(char const* field, Tensor<T> const& tensor, std::int64_t height) {
    check_rows(field, tensor);
    if (tensor.shape()[0] != static_cast<std::size_t>(height)) {
        throw ShapeError(std::string(field) + ".shape(0)", std::to_string(tensor.shape()[0]), std::to_string(height));
    }
}

/// `tensor` is `rank_of_rows` dims followed by the trailing dims of `like`, all but its first.
template <class T, class Shape>
void check_trailing(char const* field, Tensor<T> const& tensor, std::size_t rank_of_rows, Shape const& like) {
    auto const& shape = tensor.shape();
    if (shape.size() - rank_of_rows != like.size() - 1 ||
        !std::equal(shape.begin() + static_cast<std::ptrdiff_t>(rank_of_rows), shape.end(), like.begin() + 1)) {
        std::string expected = "[";
        for (std::size_t i = 0; i < rank_of_rows; ++i) expected += std::to_string(shape[i]) + (like.size() > 1 || i + 1 < rank_of_rows ? ", " : "");
        for (std::size_t i = 1; i < like.size(); ++i) expected += std::to_string(like[i]) + (i + 1 < like.size() ? ", " : "");
        throw ShapeError(std::string(field) + ".shape()", shape_text(shape), expected + "]");
    }
}

/// The number of rows as the height of a SelectedRows.
template <class T>
std::int64_t height_of(Tensor<T> const& tensor) {
    return static_cast<std::int64_t>(tensor.shape()[0]);
}

}  // namespace rowan::inline v0::detail
