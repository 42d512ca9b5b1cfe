// rowan/layer/sequence_reverse.hpp: layer::sequence_reverse, the rows of each sequence in reverse order.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_reverse.hpp>

namespace rowan::inline v0::layer {

/// Reverses the rows of each sequence of the last level.
///     auto backwards = layer::sequence_reverse(words);      // [a b c] [] [d e]   ->   [c b a] [] [e d]
/// shapes   x [n, ...] with levels -> [n, ...], with the levels of x
/// errors   ShapeError if x has no levels
/// cost     as rowan::sequence_reverse, when the net runs
template <class T, class Device>
Var<T, Device> sequence_reverse(Var<T, Device> const& x) {
    return apply<sequence_reverse_op>({}, x);
}

}  // namespace rowan::inline v0::layer
