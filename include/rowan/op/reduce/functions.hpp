// rowan/op/reduce/functions.hpp: sums, means, extremes and orders of elements along axes.
#pragma once

#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/reduce/declared.hpp>

#include <cstdint>
#include <tuple>

namespace rowan::inline v0 {

/// Declares the reduction f along axes, with and without an execution.
#define ROWAN_REDUCTION(f)                                                                    \
    template <class T, device D>                                                              \
    Tensor<T, D> f(D const& exec, Tensor<T, D> const& x, ReduceOptions const& options = {}) { \
        return detail::run_of<f##_op, Tensor<T, D>>(exec, x, options);                        \
    }                                                                                         \
    template <class T, class Device>                                                          \
    Tensor<T, Device> f(Tensor<T, Device> const& x, ReduceOptions const& options = {}) {      \
        return f(x.device(), x, options);                                                     \
    }

/// Sums the elements along some axes, by default along all of them.
///
///     reduce_sum([[1 2] [3 4]], {.axes = {0}})                       ->   [4 6]
///     reduce_sum([[1 2] [3 4]], {.axes = {1}, .keep_dims = true})    ->   [[3] [7]]
///     reduce_sum([[1 2] [3 4]])                                      ->   10
///
/// If the contributions to a sum are adjacent in memory, as along the last axes or all, they have 16 interleaved
/// partial sums, which are added as a binary tree, as in softmax and layer_norm. More than 4096 are cut into blocks of
/// 4096, whose sums are added in the same way. Other contributions are, in row-major order, summed in blocks of 64, the
/// sums of blocks in blocks of 64, and so on, as in merge. They are computed in dtype<T>::sum and narrowed once; the sum
/// of no elements is 0. The bits are the same for any number of threads and on every device.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     one read of x; temporary memory for the sums of blocks: at most 1/32 of the elements of x. On a Thrust device
///          for 16 numbers per block of adjacent elements
ROWAN_REDUCTION(reduce_sum)

/// The means of the elements along some axes, by default of all of them: the sums of reduce_sum, divided before they
/// are narrowed. The mean of no elements is 0.
///     reduce_mean([[1 2] [3 5]], {.axes = {0}})   ->   [2 3.5]
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as reduce_sum
ROWAN_REDUCTION(reduce_mean)

/// The greatest elements along some axes, by default of all of them. NaN where one of the elements is NaN.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if there is a result of no
///          elements
/// cost     as reduce_sum
ROWAN_REDUCTION(reduce_max)

/// The smallest elements along some axes, by default of all of them. NaN where one of the elements is NaN.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if there is a result of no
///          elements
/// cost     as reduce_sum
ROWAN_REDUCTION(reduce_min)

/// The products of the elements along some axes, by default of all of them, in the order in which reduce_sum adds. If
/// that is not a normal number of dtype<T>::sum, float or double, they are multiplied in input order with exponents of any
/// size: so [1e30 1e30 1e-30] has the product 1e30. Digits are lost only where a product of some elements is not normal
/// and that of all is. The product of no elements is 1.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as reduce_sum; one thread multiplies again what overflows or vanishes for a result
ROWAN_REDUCTION(reduce_prod)

/// The position along an axis of the greatest element: of the first one of equal ones, of the first NaN if there is one.
///     argmax([[1 7 7] [4 2 3]])   ->   [1 0]
/// shapes   x [...] -> the dims of x without that of the axis, or with a dim of 1 for it
/// errors   IndexError if the axis is not in [-rank, rank); ShapeError if there is a result of no elements
/// cost     one read of x, and a second one up to the extremum of rows with 32 elements or more, for which there is
///          temporary memory of an element each; a thread reads whole lanes
template <class T, device D>
Tensor<std::int64_t, D> argmax(D const& exec, Tensor<T, D> const& x, ArgmaxOptions const& options = {}) {
    return detail::run_of<argmax_op, Tensor<std::int64_t, D>>(exec, x, options);
}
template <class T, class Device>
Tensor<std::int64_t, Device> argmax(Tensor<T, Device> const& x, ArgmaxOptions const& options = {}) {
    return argmax(x.device(), x, options);
}

/// The position along an axis of the smallest element, as argmax.
/// shapes   x [...] -> the dims of x without that of the axis, or with a dim of 1 for it
/// errors   IndexError if the axis is not in [-rank, rank); ShapeError if there is a result of no elements
/// cost     one read of x, and a second one up to the extremum of rows with 32 elements or more, for which there is
///          temporary memory of an element each; a thread reads whole lanes
template <class T, device D>
Tensor<std::int64_t, D> argmin(D const& exec, Tensor<T, D> const& x, ArgmaxOptions const& options = {}) {
    return detail::run_of<argmin_op, Tensor<std::int64_t, D>>(exec, x, options);
}
template <class T, class Device>
Tensor<std::int64_t, Device> argmin(Tensor<T, Device> const& x, ArgmaxOptions const& options = {}) {
    return argmin(x.device(), x, options);
}

/// The positions of the elements along an axis in ascending order, or descending, where equal elements keep their order
/// and NaN is the greatest: ascending, the result is that of NumPy's argsort(x, kind="stable").
///     argsort([3 1 2])                           ->   [1 2 0]
///     argsort([3 1 3], {.descending = true})     ->   [0 2 1]
/// shapes   x [...] -> [...]
/// errors   IndexError if the axis is not in [-rank, rank)
/// cost     O(size · log(dim of the axis)), by merging runs of 16, 32, 64, …, of which a thread merges two; temporary
///          memory of 8 bytes for each element, or 16 if the axis is not the last one
template <class T, device D>
Tensor<std::int64_t, D> argsort(D const& exec, Tensor<T, D> const& x, ArgsortOptions const& options = {}) {
    return detail::run_of<argsort_op, Tensor<std::int64_t, D>>(exec, x, options);
}
template <class T, class Device>
Tensor<std::int64_t, Device> argsort(Tensor<T, Device> const& x, ArgsortOptions const& options = {}) {
    return argsort(x.device(), x, options);
}

/// The greatest elements of each row, that is along the last axis, in descending order, and their positions. Of equal
/// elements, the first comes first; NaN counts as the greatest number, as in PyTorch.
///     top_k([[3 9 4] [5 1 5]], {.k = 2})   ->   [[9 4] [5 5]] and [[1 2] [0 2]]
/// shapes   x [..., n] -> [..., k] and [..., k]
/// errors   ShapeError if x has rank 0; ValueError if k is not in [1, n]
/// cost     one read of x; at most O(n log k) steps for a row, which one thread processes
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<std::int64_t, D>> top_k(D const& exec, Tensor<T, D> const& x,
                                                        TopKOptions const& options = {}) {
    return detail::run_of<top_k_op, std::tuple<Tensor<T, D>, Tensor<std::int64_t, D>>>(exec, x, options);
}
template <class T, class Device>
std::tuple<Tensor<T, Device>, Tensor<std::int64_t, Device>> top_k(Tensor<T, Device> const& x,
                                                                  TopKOptions const& options = {}) {
    return top_k(x.device(), x, options);
}

/// The running sums along an axis: each element becomes the sum of all elements up to it.
///     cumsum([1 2 3])                                           ->   [1 3 6]
///     cumsum([1 2 3], {.exclusive = true})                      ->   [0 1 3]
///     cumsum([1 2 3], {.exclusive = true, .reverse = true})     ->   [5 3 0]
/// Sums are formed in order: of floats and 16-bit elements in double, of other types in dtype<T>::sum. Each is rounded
/// to T once. So a sum of n floats has an error of at most half a last bit and n · 2^-53 · Σ|x|.
/// shapes   x [...] -> [...]
/// errors   IndexError if the axis is not in [-rank, rank)
/// cost     one read of x and one write of the result; a thread sums whole lanes
template <class T, device D>
Tensor<T, D> cumsum(D const& exec, Tensor<T, D> const& x, CumsumOptions const& options = {}) {
    return detail::run_of<cumsum_op, Tensor<T, D>>(exec, x, options);
}
template <class T = void, class X>  // as many parameters as xtensor's
requires detail::tensor_argument<X>
auto cumsum(X&& x) { return cumsum(x.device(), x, CumsumOptions()); }
template <class X>
requires detail::tensor_argument<X>
auto cumsum(X&& x, CumsumOptions options) { return cumsum(x.device(), x, options); }

/// The running products along an axis: each element becomes the product of all elements up to it.
///     cumprod([2 3 4])                                           ->   [2 6 24]
///     cumprod([2 3 4], {.exclusive = true})                      ->   [1 2 6]
///     cumprod([2 3 4], {.exclusive = true, .reverse = true})     ->   [12 4 1]
/// Products are formed in order: of floats and 16-bit elements in double, of other types in dtype<T>::sum. Each is
/// rounded to T once. The gradient is right also where elements are 0, and where a product of finite elements overflows
/// or vanishes.
/// shapes   x [...] -> [...]
/// errors   IndexError if the axis is not in [-rank, rank)
/// cost     one read of x and one write of the result; a thread multiplies whole lanes
template <class T, device D>
Tensor<T, D> cumprod(D const& exec, Tensor<T, D> const& x, CumprodOptions const& options = {}) {
    return detail::run_of<cumprod_op, Tensor<T, D>>(exec, x, options);
}
template <class T = void, class X>  // as many parameters as xtensor's
requires detail::tensor_argument<X>
auto cumprod(X&& x) { return cumprod(x.device(), x, CumprodOptions()); }
template <class X>
requires detail::tensor_argument<X>
auto cumprod(X&& x, CumprodOptions options) { return cumprod(x.device(), x, options); }

}  // namespace rowan::inline v0
