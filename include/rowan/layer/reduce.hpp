// rowan/layer/reduce.hpp: layers for the means, maxima, minima and products along some axes.
#pragma once

#include <rowan/layer/detail/axis_from_first.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/reduce/reduce.hpp>

#include <utility>

namespace rowan::inline v0::layer {

/// The means along some axes, by default the mean of all elements, see rowan::reduce_mean.
///     auto const of_rows = layer::reduce_mean(x, {.axes = {1}, .keep_dims = true});
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them; without levels if axis 0 is
///          among the axes
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as rowan::reduce_mean, when the net runs
template <class T, class Device>
Var<T, Device> reduce_mean(Var<T, Device> const& x, ReduceOptions options = {}) {
    return apply<reduce_mean_op>(rowan::detail::counted_from_first(x, std::move(options)), x);
}
/// The maxima along some axes, by default that of all elements, see rowan::reduce_max. Elements that equal the maximum
/// get equal shares of its gradient.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them; without levels if axis 0 is
///          among the axes
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; when the net runs, ShapeError if there is a
///          result of no elements
/// cost     as rowan::reduce_max, when the net runs
template <class T, class Device>
Var<T, Device> reduce_max(Var<T, Device> const& x, ReduceOptions options = {}) {
    return apply<reduce_max_op>(rowan::detail::counted_from_first(x, std::move(options)), x);
}
/// The minima along some axes, as layer::reduce_max.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them; without levels if axis 0 is
///          among the axes
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; when the net runs, ShapeError if there is a
///          result of no elements
/// cost     as rowan::reduce_min, when the net runs
template <class T, class Device>
Var<T, Device> reduce_min(Var<T, Device> const& x, ReduceOptions options = {}) {
    return apply<reduce_min_op>(rowan::detail::counted_from_first(x, std::move(options)), x);
}
/// The products along some axes, by default that of all elements, see rowan::reduce_prod.
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them; without levels if axis 0 is
///          among the axes
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as rowan::reduce_prod, when the net runs
template <class T, class Device>
Var<T, Device> reduce_prod(Var<T, Device> const& x, ReduceOptions options = {}) {
    return apply<reduce_prod_op>(rowan::detail::counted_from_first(x, std::move(options)), x);
}
/// The mean of all elements: the cost of a net that computes a loss for each row.
///     train(layer::mean(layer::square(layer::sub(prediction, target))), reader, options);
/// shapes   x [...] -> []
/// errors   none
/// cost     as rowan::reduce_mean, when the net runs
template <class T, class Device>
Var<T, Device> mean(Var<T, Device> const& x) {
    return apply<reduce_mean_op>({}, x);
}

}  // namespace rowan::inline v0::layer
