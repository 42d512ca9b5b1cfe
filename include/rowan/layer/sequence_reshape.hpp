// rowan/layer/sequence_reshape.hpp: layer::sequence_reshape, sequences with rows of another width.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_reshape.hpp>

namespace rowan::inline v0::layer {

/// The elements of each sequence of the last level, in order, as rows of options.width elements. Paddle's
/// sequence_reshape.
///     auto pairs = layer::sequence_reshape(rows, {.width = 8});    // rows of 4 elements: two of them become one
/// shapes   x [n, ...] with levels -> [n * row_size / width, width], with the upper levels of x
/// errors   ValueError if the width is less than 1; ShapeError if x has no levels; when the net runs, ShapeError if the
///          number of elements of a sequence is not a multiple of the width
/// cost     O(offsets), when the net runs: an alias
template <class T, class Device>
Var<T, Device> sequence_reshape(Var<T, Device> const& x, SequenceReshapeOptions const& options) {
    return apply<sequence_reshape_op>(options, x);
}

}  // namespace rowan::inline v0::layer
