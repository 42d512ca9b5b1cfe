// rowan/detail/elementwise.hpp: one formula over all elements of tensors of one shape.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/checked.hpp>
#include <rowan/detail/lanes.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace rowan::inline v0::detail {

/// Elements per range that a thread takes.
inline constexpr std::size_t elementwise_grain = std::size_t{1} << 16;

template <class T, class U>
void check_same_shape(char const* field, Tensor<T> const& x, Tensor<U> const& like) {
    if (x.shape() != like.shape())
        throw ShapeError(std::string(field) + ".shape()", shape_text(x.shape()), shape_text(like.shape()));
}

template <class T>
void check_rank(char const* field, Tensor<T> const& x, std::size_t rank) {
    if (x.dimension() == rank) return;
    throw ShapeError(std::string(field).append(" rank"), std::to_string(x.dimension()), std::to_string(rank));
}

/// Calls f(begin, end) on ranges that together are rows of so many elements, on several threads where there is work for them.
template <class F>
void for_ranges(Cpu exec, std::size_t rows, std::size_t width, F const& f) {
    bool const serial = threads_for(exec, rows * width) == 1;
    parallel_for(exec, rows, serial ? rows : (elementwise_grain - 1) / std::max<std::size_t>(width, 1) + 1, f);
}

/// A tensor of map(x...), the elements of tensors of one shape, computed in numbers of type `S`.
template <class S, class Map, class T, class... More>
Tensor<T> zip_elements(Cpu exec, Map const& map, Tensor<T> const& x, Tensor<More> const&... more) {
    auto out = Tensor<T>::from_shape(x.shape());
    T* const to = out.data();
    for_ranges(exec, x.size(), 1, [&](std::size_t begin, std::size_t end) {
        zip_lanes<S>(map, end - begin, to + begin, x.data() + begin, (more.data() + begin)...);
    });
    return out;
}

}  // namespace rowan::inline v0::detail
