// rowan/layer/reduce_sum.hpp: layer::reduce_sum, the sums along some axes.
#pragma once

#include <rowan/layer/detail/axis_from_first.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>

#include <utility>

namespace rowan::inline v0::layer {

/// Sums the elements along some axes, by default along all of them, see rowan::reduce_sum. For the sum of each
/// sequence, see layer::sequence_pool.
///     auto const total = layer::reduce_sum(x, {.axes = {0}});     // the sum of the rows of a batch
/// shapes   x [...] -> the dims of x without those of the axes, or with dims of 1 for them; without levels if axis 0 is
///          among the axes
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice
/// cost     as rowan::reduce_sum, when the net runs
template <class T, class Device>
Var<T, Device> reduce_sum(Var<T, Device> const& x, ReduceOptions options = {}) {
    return apply<reduce_sum_op>(rowan::detail::counted_from_first(x, std::move(options)), x);
}

}  // namespace rowan::inline v0::layer
