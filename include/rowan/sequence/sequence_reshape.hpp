// rowan/sequence/sequence_reshape.hpp: sequence_reshape, sequences with rows of another width.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Throws unless rows may have this width.
constexpr void check_new_width(char const* field, std::int64_t width) {
    if (width < 1) throw ValueError(field, width, "1 or more");
}

/// The row offsets if rows of `row_size` elements become rows of `width` elements.
std::vector<std::int64_t> reshaped_offsets(Lod const& lod, std::size_t row_size, std::int64_t width);

}  // namespace detail

/// The elements of each sequence of the last level, in order, as rows of `width` elements: an alias. Its gradient is
/// that of the result with the shape and the levels of x.
///
///     [1 2] [3 4]   and   [5 6]     width 1   ->   [1] [2] [3] [4]   and   [5] [6]
///
/// shapes   x [n, ...] with levels -> [n * row_size / width, width], with the upper levels of x
/// errors   ValueError if width is less than 1; ShapeError if x has no levels, or the number of elements of a sequence
///          is not a multiple of width
/// cost     O(offsets); no elements are copied
template <class T, class Device>
LoDTensor<T, Device> sequence_reshape(LoDTensor<T, Device> const& x, std::int64_t width) {
    detail::check_new_width("width", width);
    x.check();
    detail::check_levels("x.lod()", x.lod());
    auto offsets = detail::reshaped_offsets(x.lod(), x.value().row_size(), width);
    typename Tensor<T, Device>::shape_type const shape{static_cast<std::size_t>(offsets.back()),
                                                       static_cast<std::size_t>(width)};
    return {x.value().reshaped(shape), detail::with_last_level(x.lod(), std::move(offsets))};
}

}  // namespace rowan::inline v0

#include <rowan/sequence/sequence_reshape_inl.hpp>
