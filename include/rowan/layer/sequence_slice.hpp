// rowan/layer/sequence_slice.hpp: layer::sequence_slice, a slice of each sequence.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_slice.hpp>

namespace rowan::inline v0::layer {

/// Keeps rows [offset[i], offset[i] + length[i]) of sequence i of the last level.
///     auto part = layer::sequence_slice(words, offset, length);    // offset, length: layer::data<std::int64_t>(…, {UNK})
/// shapes   x [n, ...] with levels, offset and length with one number per sequence -> [Σ length, ...], with the upper
///          levels of x
/// errors   ShapeError if x has no levels, or offset or length is not of rank 1; when the net runs, ShapeError if their
///          size is not the number of sequences, IndexError if a slice is not inside its sequence
/// cost     as rowan::sequence_slice, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> sequence_slice(Var<T, Device> const& x, Var<I, Device> const& offset, Var<I, Device> const& length) {
    return apply<sequence_slice_op>({}, x, offset, length);
}

}  // namespace rowan::inline v0::layer
