// rowan/layer/sequence_softmax.hpp: layer::sequence_softmax, the softmax over the rows of each sequence.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_softmax.hpp>

namespace rowan::inline v0::layer {

/// The softmax over the rows of each sequence of the last level, column by column: the weights of attention. Paddle's
/// sequence_softmax.
///     auto weights = layer::sequence_softmax(scores);      // a score for each word -> weights with sum 1 in a sentence
/// shapes   x [n, ...] with levels -> [n, ...], with the levels of x
/// errors   ShapeError if x has no levels
/// cost     as rowan::sequence_softmax, when the net runs
template <class T, class Device>
Var<T, Device> sequence_softmax(Var<T, Device> const& x) {
    return apply<sequence_softmax_op>({}, x);
}

}  // namespace rowan::inline v0::layer
