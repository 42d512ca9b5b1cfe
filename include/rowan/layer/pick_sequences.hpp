// rowan/layer/pick_sequences.hpp: layer::pick_sequences, the sequences of a batch that a list names.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/pick_sequences.hpp>

namespace rowan::inline v0::layer {

/// Result j is first-level sequence ids[j] of x with all that it contains, or row ids[j] if x has no levels. Ids may
/// repeat and be in any order.
///     auto chosen = layer::pick_sequences(sentences, layer::data<std::int64_t>("chosen", {UNK}));
/// shapes   x of m sequences or rows, ids [n] -> n of them, with the levels of x
/// errors   ShapeError if ids are not of rank 1; when the net runs, IndexError if an id is not in [0, m)
/// cost     as rowan::pick_sequences, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> pick_sequences(Var<T, Device> const& x, Var<I, Device> const& ids) {
    return apply<pick_sequences_op>({}, x, ids);
}

}  // namespace rowan::inline v0::layer
