// rowan/layer/reorder.hpp: layer::reorder, sequences in the order of the lengths of others, and back.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/reorder.hpp>

namespace rowan::inline v0::layer {

/// The first-level sequences of x, or its rows if it has no levels, in the order of the lengths of the sequences of y,
/// longest first; with options.restore, from that order back. The elements of y, of any type, are not used.
///     auto sorted = layer::reorder(states, words);                         // a row for each sentence
///     auto same = layer::reorder(sorted, words, {.restore = true});
/// shapes   x of m sequences or rows, y with m sequences in a level -> the shape of x
/// errors   ShapeError if y has no levels; IndexError if it has no such level; when the net runs, ShapeError if x has
///          another number of sequences or rows
/// cost     as reorder_op, when the net runs
template <class T, class U, class Device>
Var<T, Device> reorder(Var<T, Device> const& x, Var<U, Device> const& y, ReorderOptions const& options = {}) {
    return apply<reorder_op>(options, x, y);
}

}  // namespace rowan::inline v0::layer
