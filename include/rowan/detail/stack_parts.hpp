// rowan/detail/stack_parts.hpp: tensors put side by side along a new dim, a tensor cut along one, and its parts summed.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/checked.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/sequences.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

/// The sums of the parts of a tensor along its first dim, part k going to sum indices[k] of n, in their order and blocks of 64. Sums of
/// nothing are zeros: [n, elements of a part].
template <class T>
Tensor<T> sum_parts(Cpu exec, Tensor<T> const& tensor, Ids<> const& indices, std::size_t n) {
    using S = sum_t<T>;
    checked_size("size", std::array{n + 1}, sizeof(std::int64_t));
    std::vector<std::int64_t> ends(n + 1);  // where the parts of each sum begin, and then where they end
    for (std::size_t k = 0; k < indices.size(); ++k) ++ends[static_cast<std::size_t>(indices[k]) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<std::int64_t> const begins = ends;
    std::vector<std::int64_t> positions(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k) {
        auto& next = ends[static_cast<std::size_t>(indices[k])];
        positions[static_cast<std::size_t>(next++)] = static_cast<std::int64_t>(k);
    }
    std::size_t const width = tensor.row_size();
    auto sums = Tensor<T>::from_shape({n, width});
    T* const out = sums.data();
    for_sequences(exec, begins, width, [&](std::size_t i, std::size_t end) {
        BlockSum<T, S> sum(tensor.data(), width, longest_of(begins, i, end));
        for (; i < end; ++i) {
            std::size_t const count = length_at(begins, i);
            T* const to = out + i * width;
            if (count == 0) {
                std::fill_n(to, width, zero<T>());
            } else {
                copy_lanes<S>(width, sum(positions.data() + begins[i], count, 0), to);
            }
        }
    });
    return sums;
}

}  // namespace rowan::inline v0::detail
