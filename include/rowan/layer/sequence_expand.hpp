// rowan/layer/sequence_expand.hpp: layer::sequence_expand, rows repeated by the lengths of sequences.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_expand.hpp>

namespace rowan::inline v0::layer {

/// Repeats row k of x, or sequence k if x has levels, once for each element of sequence k of y. Only the levels of y
/// are used.
///     auto context = layer::sequence_expand(last, words);      // a row for each sentence -> a row for each word
/// shapes   x [sequences, ...], y [n, ...] with levels -> [rows, ...], with the levels of x, or one level if it has
///          none
/// errors   ShapeError if y has no levels; when the net runs, ShapeError if the number of rows or sequences of x
///          differs from the number of sequences of y
/// cost     as rowan::sequence_expand, when the net runs
template <class T, class U, class Device>
Var<T, Device> sequence_expand(Var<T, Device> const& x, Var<U, Device> const& y,
                               SequenceExpandOptions const& options = {}) {
    return apply<sequence_expand_op>(options, x, y);
}

}  // namespace rowan::inline v0::layer
