// rowan/op/elementwise/functions.hpp: functions of the elements of one or several tensors.
#pragma once

#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// x + y element-wise, computed in dtype<T>::sum. Integers wrap around.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> add(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::run_of<add_op, Tensor<T, D>>(exec, x, y, BroadcastOptions());
}
template <class T, class Device>
Tensor<T, Device> add(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return add(x.device(), x, y);
}

/// x - y element-wise, computed in dtype<T>::sum. Integers wrap around.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> sub(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::run_of<sub_op, Tensor<T, D>>(exec, x, y, BroadcastOptions());
}
template <class T, class Device>
Tensor<T, Device> sub(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return sub(x.device(), x, y);
}

/// 0 - x element-wise, which is also the gradient of y in x - y.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> negate(D const& exec, Tensor<T, D> const& x) {
    return detail::run_of<negate_op, Tensor<T, D>>(exec, x);
}
template <class T, class Device>
Tensor<T, Device> negate(Tensor<T, Device> const& x) {
    return negate(x.device(), x);
}

/// x · y element-wise, computed in dtype<T>::sum. Integers wrap around.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> mul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::run_of<mul_op, Tensor<T, D>>(exec, x, y, BroadcastOptions());
}
template <class T, class Device>
Tensor<T, Device> mul(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return mul(x.device(), x, y);
}

/// x / y element-wise, computed in dtype<T>::sum. A division by zero is ±inf, or NaN for 0 / 0.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> div(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    static_assert(floating_element<T>, "rowan::div: x must have a floating-point type: convert it with rowan::cast");
    return detail::run_of<div_op, Tensor<T, D>>(exec, x, y, BroadcastOptions());
}
template <class T, class Device>
Tensor<T, Device> div(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return div(x.device(), x, y);
}

/// The greater one of x and y, element-wise; NaN where either is NaN.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> maximum(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::run_of<maximum_op, Tensor<T, D>>(exec, x, y, BroadcastOptions());
}
template <detail::tensor_argument X, detail::tensor_argument Y>
auto maximum(X&& x, Y&& y) {
    return maximum(x.device(), x, y);
}

/// The smaller one of x and y, element-wise; NaN where either is NaN.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> minimum(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::run_of<minimum_op, Tensor<T, D>>(exec, x, y, BroadcastOptions());
}
template <detail::tensor_argument X, detail::tensor_argument Y>
auto minimum(X&& x, Y&& y) {
    return minimum(x.device(), x, y);
}

/// factor · x + bias element-wise, computed in dtype<T>::sum. The product is rounded before the addition; a bias of 0
/// is not added. Integers wrap around.
/// shapes   x [...] -> [...]
/// errors   ValueError if the elements are integers and factor or bias is not an integer that dtype<T>::sum represents
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> scale(D const& exec, Tensor<T, D> const& x, double factor, double bias = 0) {
    return detail::run_of<scale_op, Tensor<T, D>>(exec, x, factor, bias);
}
template <class T, class Device>
Tensor<T, Device> scale(Tensor<T, Device> const& x, double factor, double bias = 0) {
    return scale(x.device(), x, factor, bias);
}

/// Clamps every element to [min, max], or only from one side if the other bound is infinite; NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if min is NaN or infinity, max is NaN or -infinity, or max < min
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> clip(D exec, Tensor<T, D> const& x, ClipOptions options = {}) {
    static_assert(floating_element<T>, "rowan::clip: x must have a floating-point type: convert it");
    return detail::run_of<clip_op, Tensor<T, D>>(exec, x, options);
}
template <class X>
requires detail::changeable_tensor<X>
auto clip(Cpu exec, X&& x, ClipOptions options = {}) { return clip(exec, std::as_const(x), options); }

/// Clamps a row-sparse gradient: merges g, then clamps every element. The result is merged and equals the clamped dense
/// gradient.
/// shapes   g of n rows -> one row for each distinct row id
/// errors   as for a tensor; ValueError if 0 is not in [min, max]: absent rows stay 0
/// cost     a merge, and one read and one write of its rows
template <class T, device D>
SelectedRows<T, D> clip(D exec, SelectedRows<T, D> const& g, ClipOptions const& options = {}) {
    return detail::run_of<clip_op, SelectedRows<T, D>>(exec, g, options);
}

/// The sum of tensors of the same shape, added in order.
/// shapes   x of one or more, each [...] -> [...]
/// errors   ShapeError if x is empty or the shapes differ: it names the first one that differs from most of them
/// cost     one read of each and one write of the result
template <class T, device D>
Tensor<T, D> sum(D exec, std::vector<Tensor<T, D>> const& x) {
    return detail::run_of<sum_op, Tensor<T, D>>(exec, x);
}

/// The sum of SelectedRows: their rows concatenated in order. They are not merged, because what uses a gradient sums
/// duplicates itself, with one sort, or without one (sgd), and rounds each sum to T once. Paddle's sum merges: merge()
/// the result for its rows. Both have the same to_dense.
/// shapes   all of one height and row shape -> the same, with the total number of rows
/// errors   ShapeError if x is empty, or heights or row shapes differ
/// cost     one read of each and one write of the result
template <class T, device D>
SelectedRows<T, D> sum(D exec, std::vector<SelectedRows<T, D>> const& x) {
    return detail::run_of<sum_op, SelectedRows<T, D>>(exec, x);
}

/// The sum of tensors and SelectedRows: adds the tensors, then the rows of each gradient in order, as scatter_add. Where
/// dtype<T>::sum is another type than T, the rows of all gradients are summed as in merge, and their sums are added, so
/// that each element is narrowed once.
/// shapes   dense of one or more, each [height, ...], sparse of that height and row shape -> [height, ...]
/// errors   ShapeError if dense is empty or shapes differ: it names the first one that differs from most of them
/// cost     one read of each tensor, one write of the result, and one scatter_add for each gradient, or a copy of all
///          of them and a sort
template <class T, device D>
Tensor<T, D> sum(D exec, std::vector<Tensor<T, D>> const& dense, std::vector<SelectedRows<T, D>> const& sparse) {
    return detail::run_of<sum_op, Tensor<T, D>>(exec, dense, sparse);
}
template <class X>
requires detail::changeable_tensor<X>
auto sum(Cpu exec, X&& x) { return sum(exec, std::as_const(x)); }
template <class X, class T>
requires detail::changeable_tensor<X>
auto sum(Cpu exec, X&& dense, std::vector<SelectedRows<T>> sparse) { return sum(exec, std::as_const(dense), sparse); }

/// The element of x where the condition is true, else that of y.
///     where({true, false}, {1, 2}, {3, 4})   ->   {1, 4}
/// shapes   condition [...], x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of all three and one write of the result
template <class T, device D>
Tensor<T, D> where(D const& exec, Tensor<bool, D> const& condition, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::run_of<where_op, Tensor<T, D>>(exec, condition, x, y);
}
template <detail::tensor_argument C, detail::tensor_argument X, detail::tensor_argument Y>
auto where(C&& condition, X&& x, Y&& y) {
    return where(x.device(), condition, x, y);
}

/// Converts the elements of x to `To` through dtype<From>::sum and dtype<To>::sum. Floating-point numbers are truncated
/// toward zero when converted to integers, integers out of range wrap around, and nonzero elements become true when
/// converted to bool.
/// shapes   x [...] -> [...]
/// errors   ValueError if a floating-point number to be converted to an integer is NaN or out of range
/// cost     one read of x and one write of the result; floating point to integer reads x once more and waits for the
///          device
template <class To, class From, device D>
Tensor<To, D> cast(D const& exec, Tensor<From, D> const& x) {
    static_assert(detail::castable<To, From>, "rowan::cast: give dtype<To>::sum a constructor from dtype<From>::sum");
    return detail::run_of<cast_op<To>, Tensor<To, D>>(exec, x);
}
template <class To, class X>
requires detail::tensor_argument<X>
auto cast(X&& x) { return cast<To>(x.device(), x); }

/// A tensor of these dims filled with the value, which is converted to dtype<T>::sum and narrowed.
/// shapes   [dims...]
/// errors   ShapeError if a dim is UNK; ValueError if elements are integers and cannot represent the value
/// cost     one write
template <class T, device D>
Tensor<T, D> full(D const& exec, Dims const& dims, double value) {
    return detail::run_of<full_op<T>, Tensor<T, D>>(exec, dims, value);
}
template <class T, class Device = Cpu>
Tensor<T, Device> full(Dims const& dims, double value) {
    return full<T>(Device{}, dims, value);
}

/// In training, sets each element to 0 with the given probability and multiplies the others by 1 / (1 - probability);
/// otherwise returns a copy of x. The mask is 1 where x was kept. The random numbers depend only on the seed and the
/// position of the element, so each training step needs another seed. Srivastava et al.: Dropout, 2014.
/// shapes   x [...] -> the result [...] and the mask [...]
/// errors   ValueError unless probability is in [0, 1]
/// cost     one read of x, one write of both and one read of the mask; the same bits for any number of threads
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>> dropout(D const& exec, Tensor<T, D> const& x, double probability,
                                                          std::uint64_t seed, bool training = true) {
    static_assert(floating_element<T>, "rowan::dropout: x must have a floating-point type: convert it");
    return detail::run_of<dropout_op, std::tuple<Tensor<T, D>, Tensor<std::uint8_t, D>>>(exec, x, probability, seed,
                                                                                         training);
}
template <class T, class Device>
std::tuple<Tensor<T, Device>, Tensor<std::uint8_t, Device>> dropout(Tensor<T, Device> const& x, double probability,
                                                                    std::uint64_t seed, bool training = true) {
    return dropout(x.device(), x, probability, seed, training);
}

/// The gradient of x. In training out_grad / (1 - probability) where the mask is not 0, else 0; otherwise out_grad.
/// shapes   mask [...], out_grad [...] -> [...]
/// errors   ShapeError if the shapes differ; ValueError unless probability is in [0, 1]
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> dropout_grad(D const& exec, Tensor<std::uint8_t, D> const& mask, Tensor<T, D> const& out_grad,
                          double probability, bool training = true) {
    static_assert(floating_element<T>, "rowan::dropout_grad: out_grad must have a floating-point type");
    return detail::run_of<detail::backward_of<dropout_op>, Tensor<T, D>>(exec, mask, out_grad, probability, training);
}
template <class T, class Device>
Tensor<T, Device> dropout_grad(Tensor<std::uint8_t, Device> const& mask, Tensor<T, Device> const& out_grad,
                               double probability, bool training = true) {
    return dropout_grad(mask.device(), mask, out_grad, probability, training);
}

/// Whether elements are neither infinite nor NaN; true for all integers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<bool, D> isfinite(D const& exec, Tensor<T, D> const& x) {
    return detail::run_of<isfinite_op, Tensor<bool, D>>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto isfinite(X&& x) { return isfinite(x.device(), x); }

/// Whether elements are NaN.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<bool, D> isnan(D const& exec, Tensor<T, D> const& x) {
    return detail::run_of<isnan_op, Tensor<bool, D>>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto isnan(X&& x) { return isnan(x.device(), x); }

/// Whether elements are infinity or -infinity.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<bool, D> isinf(D const& exec, Tensor<T, D> const& x) {
    return detail::run_of<isinf_op, Tensor<bool, D>>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto isinf(X&& x) { return isinf(x.device(), x); }

}  // namespace rowan::inline v0
