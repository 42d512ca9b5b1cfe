// rowan/layer/sequence_mask.hpp: layer::sequence_mask, a mask of the valid entries of padded sequences.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_mask.hpp>

namespace rowan::inline v0::layer {

/// Entry j of row i is j < lengths[i].
///     auto [rows, length] = layer::sequence_pad(scores);
///     auto valid = layer::cast<float>(layer::sequence_mask(length));      // 1 for words, 0 for padding
/// shapes   lengths [...] -> [..., max_length], with the levels of lengths; max_length defaults to the greatest length
/// errors   ShapeError if lengths have rank 8; when the net runs, IndexError if a length is negative
/// cost     as rowan::sequence_mask, when the net runs
template <id_type I, class Device>
Var<bool, Device> sequence_mask(Var<I, Device> const& lengths, SequenceMaskOptions const& options = {}) {
    return apply<sequence_mask_op>(options, lengths);
}

}  // namespace rowan::inline v0::layer
