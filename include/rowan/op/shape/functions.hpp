// rowan/op/shape/functions.hpp: tensors concatenated, split, transposed, and in other shapes.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/shape/declared.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// Concatenates tensors along an axis, in order. Axis -1 is the last one.
///
///     concat({[[1] [4]], [[2 3] [5 6]]}, 1)   ->   [[1 2 3] [4 5 6]]
///
/// shapes   x[k] [..., d_k, ...] -> [..., Σ d_k, ...]
/// errors   ShapeError if x is empty, or ranks or dims other than that of the axis differ; IndexError if the axis is
///          out of range
/// cost     one read and one write of every element
template <class T, device D>
Tensor<T, D> concat(D const& exec, std::vector<Tensor<T, D>> const& x, std::int64_t axis = 0) {
    return detail::run_of<concat_op, Tensor<T, D>>(exec, x, axis);
}
template <class T, class Device>
Tensor<T, Device> concat(std::vector<Tensor<T, Device>> const& x, std::int64_t axis = 0) {
    return concat(x.empty() ? Device{} : x[0].device(), x, axis);
}
template <class T, device D>
Tensor<T, D> concat(D const& exec, std::vector<Tensor<T, D>> const& x, ConcatOptions const& options) {
    return concat(exec, x, options.axis);
}
template <class T, class Device>
Tensor<T, Device> concat(std::vector<Tensor<T, Device>> const& x, ConcatOptions const& options) {
    return concat(x, options.axis);
}

/// Splits x along an axis: part k has size sections[k] and begins at sections[0] + … + sections[k - 1]. Axis -1 is the
/// last one.
///
///     split([[1 2 3] [4 5 6]], {1, 2}, 1)   ->   [[1] [4]]   and   [[2 3] [5 6]]
///
/// shapes   x [..., Σ sections, ...] -> [..., sections[k], ...] for each k
/// errors   IndexError if the axis is out of range; ShapeError if sections is not of rank 1, a section is negative, or
///          they do not add up to the dim
/// cost     one read and one write of every element
template <class T, device D>
std::vector<Tensor<T, D>> split(D const& exec, Tensor<T, D> const& x, std::type_identity_t<Ids<>> sections,
                                std::int64_t axis = 0) {
    return detail::run_of<split_op, std::vector<Tensor<T, D>>>(exec, x, sections, axis);
}
template <class T, class Device>
std::vector<Tensor<T, Device>> split(Tensor<T, Device> const& x, std::type_identity_t<Ids<>> sections,
                                     std::int64_t axis = 0) {
    return split(x.device(), x, sections, axis);
}

/// Joins tensors of one shape along a new axis.
///     stack({[1 2], [3 4]})               ->   [[1 2] [3 4]]
///     stack({[1 2], [3 4]}, {.axis = 1})  ->   [[1 3] [2 4]]
/// shapes   n tensors x[k] [...] -> [...] with a dim of n at the axis
/// errors   ShapeError if x is empty, shapes differ, or the rank is 8; IndexError if the axis is not in
///          [-rank - 1, rank + 1)
/// cost     one read and one write of every element
template <class T, device D>
Tensor<T, D> stack(D const& exec, std::vector<Tensor<T, D>> const& x, StackOptions const& options = {}) {
    return detail::run_of<stack_op, Tensor<T, D>>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> stack(std::vector<Tensor<T, Device>> const& x, StackOptions const& options = {}) {
    return stack(x.empty() ? Device{} : x[0].device(), x, options);
}

/// x with its dims in another order: dim i of the result is dim perm[i] of x. By default, all dims are reversed.
///     transpose(x)                         // [n, m] -> [m, n]
///     transpose(x, {.perm = {0, 2, 1}})    // [b, n, m] -> [b, m, n]
/// With a variable as perm, write rowan::transpose(x, {.perm = p}): without `rowan::`, g++ takes xtensor's function.
/// shapes   x [...] -> the dims of x in the order of perm
/// errors   ShapeError if perm does not name each axis of x once
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> transpose(D exec, Tensor<T, D> const& x, TransposeOptions options = {}) {
    return detail::run_of<transpose_op, Tensor<T, D>>(exec, x, options);
}
template <class X>
requires detail::changeable_tensor<X>
auto transpose(Cpu exec, X&& x, TransposeOptions options = {}) {
    return transpose(exec, std::as_const(x), std::move(options));
}
template <class X>
requires detail::tensor_argument<X>
auto transpose(X&& x) { return transpose(x.device(), std::as_const(x), TransposeOptions()); }
template <class X>
requires detail::tensor_argument<X>
auto transpose(X&& x, TransposeOptions options) { return transpose(x.device(), std::as_const(x), std::move(options)); }

/// A row for each id: 1 in the column of the id, else 0.
///     one_hot<float>([2 0], {.depth = 3})   ->   [[0 0 1] [1 0 0]]
/// shapes   ids [n] or [n, 1] -> [n, depth]
/// errors   IndexError if an id is not in [0, depth); ShapeError if ids have another shape; ValueError if depth is
///          negative
/// cost     one write of the result
template <class T = float, id_type I, device D>
Tensor<T, D> one_hot(D const& exec, Tensor<I, D> const& ids, OneHotOptions const& options) {
    return detail::run_of<one_hot_op, Tensor<T, D>>(exec, ids, options, std::type_identity<T>());
}
template <class T = float, class I, class Device>
Tensor<T, Device> one_hot(Tensor<I, Device> const& ids, OneHotOptions const& options) {
    return one_hot<T>(ids.device(), ids, options);
}

/// The dims of x; of a batch with levels, the first one is the number of all rows.
///     shape(Tensor<float>::zeros({2, 3}))   ->   [2 3]
/// shapes   x [...] -> [rank]
/// errors   ValueError if exec.threads is negative
/// cost     O(rank), and a copy to the device
template <class T, device D>
Tensor<std::int64_t, D> shape(D const& exec, Tensor<T, D> const& x) {
    return detail::run_of<shape_op, Tensor<std::int64_t, D>>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto shape(X&& x) { return shape(x.device(), x); }

}  // namespace rowan::inline v0
