// rowan/op/reduce/reduce.hpp: reduce_mean, reduce_max, reduce_min and reduce_prod along some axes.
#pragma once

#include <rowan/op/detail/axis_folds.hpp>
#include <rowan/op/detail/reduce_op.hpp>
#include <rowan/op/reduce/declared.hpp>

namespace rowan::inline v0 {

/// The means of the elements along some axes, by default of all of them: the sums of reduce_sum, divided before they
/// are narrowed. The mean of no elements is 0.
///     reduce_mean([[1 2] [3 5]], {.axes = {0}})   ->   [2 3.5]
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as reduce_sum
ROWAN_REDUCTION(reduce_mean, axis_means)

/// The greatest elements along some axes, by default of all of them. NaN where one of the elements is NaN.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if there is a result of no
///          elements
/// cost     as reduce_sum
ROWAN_REDUCTION(reduce_max, axis_extremes<true>)

/// The smallest elements along some axes, by default of all of them. NaN where one of the elements is NaN.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if there is a result of no
///          elements
/// cost     as reduce_sum
ROWAN_REDUCTION(reduce_min, axis_extremes<false>)

/// The products of the elements along some axes, by default of all of them, in the order in which reduce_sum adds. If
/// that is not a normal number of dtype<T>::sum, float or double, they are multiplied in input order with exponents of any
/// size: so [1e30 1e30 1e-30] has the product 1e30. Digits are lost only where a product of some elements is not normal
/// and that of all is. The product of no elements is 1.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as reduce_sum; one thread multiplies again what overflows or vanishes for a result
ROWAN_REDUCTION(reduce_prod, axis_products)

}  // namespace rowan::inline v0
