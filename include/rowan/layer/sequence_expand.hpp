// rowan/layer/sequence_expand.hpp: layer::sequence_expand, rows repeated as often as sequences are long.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence_expand.hpp>

namespace rowan::inline v0::layer {

/// Row k of x, or where x has levels its sequence k, as often as sequence k of y is long; y gives its levels alone.
///     auto context = layer::sequence_expand(last, words);      // a row for each sentence -> a row for each word
/// Of y there is no gradient: if it depended on a parameter, training would refuse the net. Take what is fed, such as ids.
/// shapes   x [sequences, ...], y [n, ...] with levels -> [rows, ...], with the levels of x, or one level if it has none
/// errors   ShapeError if y has no levels; when the net runs, ShapeError if x has another number of rows or sequences
/// cost     as rowan::sequence_expand, when the net runs
template <class T, class U, class Device>
Var<T, Device> sequence_expand(Var<T, Device> const& x, Var<U, Device> const& y,
                               SequenceExpandOptions const& options = {}) {
    return apply<sequence_expand_op>(options, x, y);
}

}  // namespace rowan::inline v0::layer
