// rowan/layer/sequence_unpad.hpp: layer::sequence_unpad, the sequences at the beginning of padded rows.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_unpad.hpp>

namespace rowan::inline v0::layer {

/// Sequence s of the result is the first length[s] elements of row s of x: the inverse of layer::sequence_pad. If x has
/// levels, they are above that of the sequences.
/// shapes   x [s, m, ...], length [s] -> [Σ length, ...], with one level more than x
/// errors   ShapeError if the rank of x is less than 2 or that of length is not 1; when the net runs, ShapeError if a
///          length is above m or their number is not s, LodError if one is negative
/// cost     as rowan::from_padded, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> sequence_unpad(Var<T, Device> const& x, Var<I, Device> const& length) {
    return apply<sequence_unpad_op>({}, x, length);
}

}  // namespace rowan::inline v0::layer
