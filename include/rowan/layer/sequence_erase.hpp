// rowan/layer/sequence_erase.hpp: layer::sequence_erase, sequences without given tokens.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_erase.hpp>

namespace rowan::inline v0::layer {

/// Removes some tokens from the sequences of the last level; the others keep their order.
///     auto text = layer::sequence_erase(words, {.tokens = {0, 1}});      // without padding and unknown words
/// shapes   x [n] or [n, 1] … with levels -> fewer rows, with the upper levels of x
/// errors   ShapeError if x has no levels or its rows have more or less than one element
/// cost     as rowan::sequence_erase, when the net runs
template <id_type I, class Device>
Var<I, Device> sequence_erase(Var<I, Device> const& x, SequenceEraseOptions const& options) {
    return apply<sequence_erase_op>(options, x);
}

}  // namespace rowan::inline v0::layer
