// rowan/sequence/sequence_mask.hpp: sequence_mask, a mask of the valid entries of padded sequences.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>

#include <cstddef>
#include <optional>

namespace rowan::inline v0 {

/// Entry j of row i is j < lengths[i], for j in [0, max_length). max_length defaults to the greatest length.
/// shapes   lengths of any shape -> lengths.shape + [max_length]
/// errors   IndexError if a length is negative; ShapeError if the result is too large or has more than 8 dims
/// cost     one write of the result
Tensor<bool> sequence_mask(Cpu exec, Ids<> lengths, std::optional<std::size_t> max_length = {});

inline Tensor<bool> sequence_mask(Ids<> lengths, std::optional<std::size_t> max_length = {}) {
    return sequence_mask(Cpu{}, lengths, max_length);
}

}  // namespace rowan::inline v0

#include <rowan/sequence/sequence_mask_inl.hpp>
