// rowan/sequence/detail/stack_parts.hpp: stack_parts, unstack_parts and sum_parts, for parts of one shape along a dim.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/fill.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/detail/sequences.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

/// Device-specific implementation of stacking, unstacking and summing n parts of `outer` times `inner` elements.
template <class D>
struct Stacking {
    static_assert(has_backend<D>,
                  "rowan: TensorArray on a Thrust device needs #include <rowan/thrust/sequence/tensor_array.hpp>");
};

template <>
struct Stacking<Cpu> {
    template <class T>
    static void stack(Cpu exec, std::vector<T const*> const& data, std::size_t outer, std::size_t inner, T* to) {
        copy_rows(
            exec, outer * data.size(), inner * sizeof(T),
            [&, n = data.size()](std::size_t r) { return data[r % n] + r / n * inner; },
            [=](std::size_t r) { return to + r * inner; });
    }
    template <class T>
    static void unstack(Cpu exec, T const* from, std::size_t n, std::size_t outer, std::size_t inner, T* to) {
        copy_rows(
            exec, n * outer, inner * sizeof(T),
            [=](std::size_t r) { return from + (r % outer * n + r / outer) * inner; },
            [=](std::size_t r) { return to + r * inner; });
    }

    /// Row i of `to` is the sum of rows positions[begins[i]] … positions[begins[i + 1] - 1].
    template <class T>
    static void sum(Cpu exec, T const* rows, std::size_t width, std::vector<std::int64_t> const& begins,
                    std::vector<std::int64_t> const& positions, T* to) {
        using S = sum_t<T>;
        for_sequences(exec, begins, width, [&](std::size_t i, std::size_t end) {
            BlockSum<T, S> sum(rows, width, longest_of(begins, i, end));
            for (; i < end; ++i) {
                std::size_t const count = length_at(begins, i);
                if (count == 0) {
                    fill_elements(to + i * width, width, zero<T>());
                } else {
                    copy_lanes<S>(width, sum(positions.data() + begins[i], count, 0), to + i * width);
                }
            }
        });
    }
};

/// Stacks parts of one shape along a new dim `axis`. Part i is at data[i].
template <class T, class D>
Tensor<T, D> stack_parts(D const& exec, std::vector<T const*> const& data, typename Tensor<T, D>::shape_type shape,
                         std::size_t axis) {
    std::size_t const n = data.size();
    std::size_t const inner = product_from(shape, axis);
    typename Tensor<T, D>::shape_type with_axis(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
    with_axis.push_back(n);
    for (std::size_t k = axis; k < shape.size(); ++k) with_axis.push_back(shape[k]);
    auto all = new_tensor<T>(exec, with_axis);
    Stacking<D>::stack(exec, data, all.size() == 0 ? 0 : all.size() / inner / n, inner, all.data());
    return all;
}

/// Splits a tensor along dim `axis` into contiguous parts: [n, elements of a part].
template <class T, class D>
Tensor<T, D> unstack_parts(D const& exec, Tensor<T, D> const& tensor, std::size_t axis) {
    auto const& shape = tensor.shape();
    std::size_t const n = shape[axis];
    std::size_t const inner = product_from(shape, axis + 1);
    std::size_t outer = 1;
    for (std::size_t k = 0; k < axis; ++k) outer *= shape[k];
    auto parts = new_tensor<T>(exec, {n, outer * inner});
    Stacking<D>::unstack(exec, tensor.data(), n, outer, inner, parts.data());
    return parts;
}

/// Lists the positions of the parts of each of n sums: those of sum i are positions[begins[i]] … positions[begins[i + 1]
/// - 1], the k with indices[k] == i, ascending.
ROWAN_IF_CALLED void list_parts(Ids<> const& indices, std::size_t n, std::vector<std::int64_t>& begins,
                                std::vector<std::int64_t>& positions);

/// Sums the parts of a tensor along its first dim: row i of the result [n, elements of a part] is the sum of all parts
/// k with indices[k] == i, in input order and blocks of 64, or zeros if there are none.
template <class T, class D>
Tensor<T, D> sum_parts(D const& exec, Tensor<T, D> const& tensor, Ids<> const& indices, std::size_t n) {
    std::vector<std::int64_t> begins, positions;
    list_parts(indices, n, begins, positions);
    std::size_t const width = tensor.row_size();
    auto sums = new_tensor<T>(exec, {n, width});
    Stacking<D>::sum(exec, tensor.data(), width, begins, positions, sums.data());
    return sums;
}

}  // namespace rowan::inline v0::detail
