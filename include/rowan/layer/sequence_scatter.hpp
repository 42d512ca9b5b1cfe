// rowan/layer/sequence_scatter.hpp: layer::sequence_scatter, updates added to places of each row that a sequence of ids
// names.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_scatter.hpp>

namespace rowan::inline v0::layer {

/// Adds updates to places of rows: the result has x[s, ids[i]] + updates[i] for each id i of sequence s of the last
/// level of ids. Paddle's sequence_scatter.
///     auto votes = layer::sequence_scatter(scores, words, weights);    // words of the source get more probable
/// shapes   x [n, d, ...], ids [m] with n sequences, updates [m, ...] -> the shape and the levels of x
/// errors   ShapeError if ranks or dims do not match, or ids have no levels; when the net runs, ShapeError if the
///          number of sequences is not n, IndexError if an id is not in [0, d)
/// cost     as rowan::sequence_scatter, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> sequence_scatter(Var<T, Device> const& x, Var<I, Device> const& ids, Var<T, Device> const& updates) {
    return apply<sequence_scatter_op>({}, x, ids, updates);
}

}  // namespace rowan::inline v0::layer
