// rowan/op/shape/aliases.hpp: reshape, squeeze and unsqueeze, which return aliases with another shape.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/var_spec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

[[noreturn]] inline void bad_reshape(std::vector<std::int64_t> const& shape, std::string const& expected) {
    throw ShapeError("shape", shape_text(shape), expected);
}

/// The number of elements of one more dim.
constexpr std::int64_t times_dim(std::int64_t elements, std::int64_t dim, std::vector<std::int64_t> const& shape) {
    if (__builtin_mul_overflow(elements, dim, &elements)) bad_reshape(shape, "fewer than 2^63 elements");
    return elements;
}

/// The dims of x after reshape. Dims of x may be UNK; where the result depends on them, it is UNK.
constexpr Dims reshaped_dims(Dims const& x, std::vector<std::int64_t> const& shape) {
    std::int64_t left = 1, given = 1;  // elements of x in dims that are not copied, and in dims that are given
    std::size_t open = shape.size();
    bool known = true;
    Dims dims;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] < -1 || (shape[i] == -1 && open != shape.size()))
            bad_reshape(shape, "dims of 0 or more, and at most one -1");
        if (shape[i] == 0 && i >= x.size()) bad_reshape(shape, "a 0 only where x has a dim");
        if (shape[i] == -1) open = i;
        if (shape[i] > 0) given = times_dim(given, shape[i], shape);
        dims.push_back(shape[i] == 0 ? x[i] : shape[i]);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (i < shape.size() && shape[i] == 0) continue;
        if (x[i] == UNK) {
            known = false;
        } else {
            left = times_dim(left, x[i], shape);
        }
    }
    if (!known) return dims;  // an open dim is UNK
    if (open != shape.size() && left % given == 0) {
        dims[open] = left / given;
    } else if (left != given) {
        bad_reshape(shape, std::string("a shape for the elements of ").append(shape_text(x)));
    }
    return dims;
}

/// The shape without, or with additional, dims of 1 at the axes in `at`.
template <class Shape>
constexpr Shape squeezed_shape(Shape const& shape, std::array<bool, 8> const& at) {
    Shape result;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!at[i]) {
            result.push_back(shape[i]);
        } else if (static_cast<std::int64_t>(shape[i]) != UNK) {
            spec::same_dim(("squeeze: x.shape(" + std::to_string(i) + ")").c_str(), static_cast<std::int64_t>(shape[i]),
                           1);
        }
    }
    return result;
}
template <class Shape>
constexpr Shape unsqueezed_shape(Shape const& shape, std::span<std::int64_t const> axes) {
    std::size_t const rank = shape.size() + axes.size();
    if (rank > max_tensor_rank) spec::the_rank_does_not_fit("the result's", rank, "at most 8");
    auto const added = axes.empty() ? std::array<bool, 8>{} : checked_axes(axes, rank);
    Shape result;
    for (std::size_t i = 0, k = 0; i < rank; ++i) result.push_back(added[i] ? 1 : shape[k++]);
    return result;
}

}  // namespace detail

/// An alias of x with another shape. A dim of 0 stands for that dim of x, and one dim of -1 for what remains.
///     reshape(x, {0, -1})     // [n, 3, 4] -> [n, 12]
/// shapes   x [...] -> shape
/// errors   ShapeError if the shape does not fit the elements of x, has several -1, or a 0 where x has no dim
/// cost     O(1); the result shares the elements of x
template <class T, class Device>
Tensor<T, Device> reshape(Tensor<T, Device> const& x, std::vector<std::int64_t> const& shape) {
    Dims of_x;
    for (std::size_t const dim : x.shape()) of_x.push_back(static_cast<std::int64_t>(dim));
    auto const dims = detail::reshaped_dims(of_x, shape);
    return x.reshaped(typename Tensor<T, Device>::shape_type(dims.begin(), dims.end()));
}

/// An alias of x without some dims of 1; by default, without all of them.
/// shapes   x [...] -> the dims of x without those of the axes
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if its dim is not 1
/// cost     O(1); the result shares the elements of x
template <class X>
requires detail::tensor_argument<X>
auto squeeze(X&& x, std::vector<std::int64_t> axes) {
    auto at = detail::checked_axes(axes, x.dimension());
    for (std::size_t i = 0; axes.empty() && i < x.dimension(); ++i) at[i] = x.shape(i) == 1;
    return x.reshaped(detail::squeezed_shape(x.shape(), at));
}
template <class X>
requires detail::tensor_argument<X>
auto squeeze(X&& x, std::initializer_list<std::int64_t> axes) { return squeeze(x, std::vector<std::int64_t>(axes)); }
template <class X>
requires detail::tensor_argument<X>
auto squeeze(X&& x) { return squeeze(x, std::vector<std::int64_t>()); }

/// An alias of x with additional dims of 1: the axes are positions in the result.
///     unsqueeze(x, {0, -1})     // [3, 4] -> [1, 3, 4, 1]
/// shapes   x [...] -> the dims of x, with dims of 1 at the axes
/// errors   IndexError if an axis is not in [-rank, rank) of the result or occurs twice; ShapeError if the result's
///          rank exceeds 8
/// cost     O(1); the result shares the elements of x
template <class T, class Device>
Tensor<T, Device> unsqueeze(Tensor<T, Device> const& x, std::vector<std::int64_t> const& axes) {
    return x.reshaped(detail::unsqueezed_shape(x.shape(), axes));
}

}  // namespace rowan::inline v0
