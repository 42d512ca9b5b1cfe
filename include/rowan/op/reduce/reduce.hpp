// rowan/op/reduce/reduce.hpp: reduce_mean, reduce_max, reduce_min and reduce_prod along some axes.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/op/detail/axis_folds.hpp>
#include <rowan/op/detail/reduce_op.hpp>
#include <rowan/op/reduce/reduce_options.hpp>

namespace rowan::inline v0 {

/// The means of the elements along some axes, by default of all of them: the sums of reduce_sum, divided before they
/// are narrowed. The mean of no elements is 0.
///     reduce_mean([[1 2] [3 5]], {.axes = {0}})   ->   [2 3.5]
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as reduce_sum
template <class T, device D>
Tensor<T, D> reduce_mean(D const& exec, Tensor<T, D> const& x, ReduceOptions const& options = {}) {
    return detail::fold_along<detail::axis_means>(exec, x, options);
}

/// The greatest elements along some axes, by default of all of them. NaN where one of the elements is NaN.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if there is a result of no
///          elements
/// cost     as reduce_sum
template <class T, device D>
Tensor<T, D> reduce_max(D const& exec, Tensor<T, D> const& x, ReduceOptions const& options = {}) {
    return detail::fold_along<detail::axis_extremes<true>>(exec, x, options);
}

/// The smallest elements along some axes, by default of all of them. NaN where one of the elements is NaN.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if there is a result of no
///          elements
/// cost     as reduce_sum
template <class T, device D>
Tensor<T, D> reduce_min(D const& exec, Tensor<T, D> const& x, ReduceOptions const& options = {}) {
    return detail::fold_along<detail::axis_extremes<false>>(exec, x, options);
}

/// The products of the elements along some axes, by default of all of them, in the order in which reduce_sum adds. If
/// that is not a normal number of dtype<T>::sum, float or double, they are multiplied in input order with exponents of any
/// size: so [1e30 1e30 1e-30] has the product 1e30. Digits are lost only where a product of some elements is not normal
/// and that of all is. The product of no elements is 1.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as reduce_sum; one thread multiplies again what overflows or vanishes for a result
template <class T, device D>
Tensor<T, D> reduce_prod(D const& exec, Tensor<T, D> const& x, ReduceOptions const& options = {}) {
    return detail::fold_along<detail::axis_products>(exec, x, options);
}

template <class T, class Device>
Tensor<T, Device> reduce_mean(Tensor<T, Device> const& x, ReduceOptions const& options = {}) {
    return reduce_mean(x.device(), x, options);
}
template <class T, class Device>
Tensor<T, Device> reduce_max(Tensor<T, Device> const& x, ReduceOptions const& options = {}) {
    return reduce_max(x.device(), x, options);
}
template <class T, class Device>
Tensor<T, Device> reduce_min(Tensor<T, Device> const& x, ReduceOptions const& options = {}) {
    return reduce_min(x.device(), x, options);
}
template <class T, class Device>
Tensor<T, Device> reduce_prod(Tensor<T, Device> const& x, ReduceOptions const& options = {}) {
    return reduce_prod(x.device(), x, options);
}

using reduce_mean_op = reduce_op<detail::axis_means>;           ///< See reduce_mean.
using reduce_max_op = reduce_op<detail::axis_extremes<true>>;   ///< See reduce_max.
using reduce_min_op = reduce_op<detail::axis_extremes<false>>;  ///< See reduce_min.
using reduce_prod_op = reduce_op<detail::axis_products>;        ///< See reduce_prod.

}  // namespace rowan::inline v0
