// rowan/layer/sequence_pool.hpp: layer::sequence_pool, one row for each sequence.
#pragma once

#include <rowan/layer/operators.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_pool.hpp>

namespace rowan::inline v0::layer {

/// The first row of each sequence of the last level; zeros for an empty one.
/// shapes   x [n, ...] with levels -> [sequences, ...] with the upper levels of x
/// errors   ShapeError if x has no levels
/// cost     as rowan::sequence_pool, when the net runs
template <class T, class Device>
Var<T, Device> sequence_first(Var<T, Device> const& x) {
    return sequence_pool(x, {Pooling::first});
}
/// The last row of each sequence of the last level; zeros for an empty one.
/// shapes   x [n, ...] with levels -> [sequences, ...] with the upper levels of x
/// errors   ShapeError if x has no levels
/// cost     as rowan::sequence_pool, when the net runs
template <class T, class Device>
Var<T, Device> sequence_last(Var<T, Device> const& x) {
    return sequence_pool(x, {Pooling::last});
}

}  // namespace rowan::inline v0::layer
