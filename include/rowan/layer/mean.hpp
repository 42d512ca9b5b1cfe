// rowan/layer/mean.hpp: layer::mean, the mean of all elements.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/reduce/reduce.hpp>

namespace rowan::inline v0::layer {

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
