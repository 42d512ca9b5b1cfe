// rowan/detail/stack_parts.hpp: tensors put side by side along a new dim, and a tensor cut along one.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/checked.hpp>
#include <rowan/detail/copy_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rowan::inline v0::detail {

/// Parts of one shape, part i being at data[i], along a new dim `axis`.
template <class T>
Tensor<T> stack_parts(Cpu exec, std::vector<T const*> const& data, typename Tensor<T>::shape_type shape,
                      std::size_t axis) {
    std::size_t const n = data.size();
    std::size_t const inner = product_from(shape, axis);
    typename Tensor<T>::shape_type with_axis(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
    with_axis.push_back(n);
    for (std::size_t k = axis; k < shape.size(); ++k) with_axis.push_back(shape[k]);
    auto all = Tensor<T>::from_shape(with_axis);
    T* const to = all.data();
    copy_rows(
        exec, inner == 0 ? 0 : all.size() / inner, inner * sizeof(T),
        [&](std::size_t r) { return data[r % n] + r / n * inner; }, [=](std::size_t r) { return to + r * inner; });
    return all;
}

/// The parts of a tensor along dim `axis`, one after the other: [n, elements of a part].
template <class T>
Tensor<T> unstack_parts(Cpu exec, Tensor<T> const& tensor, std::size_t axis) {
    auto const& shape = tensor.shape();
    std::size_t const n = shape[axis];
    std::size_t const inner = product_from(shape, axis + 1);
    std::size_t outer = 1;
    for (std::size_t k = 0; k < axis; ++k) outer *= shape[k];
    auto parts = Tensor<T>::from_shape({n, outer * inner});
    T const* const from = tensor.data();
    T* const to = parts.data();
    copy_rows(
        exec, n * outer, inner * sizeof(T), [=](std::size_t r) { return from + (r % outer * n + r / outer) * inner; },
        [=](std::size_t r) { return to + r * inner; });
    return parts;
}

}  // namespace rowan::inline v0::detail
