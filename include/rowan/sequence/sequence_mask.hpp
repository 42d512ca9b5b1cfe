// rowan/sequence/sequence_mask.hpp: sequence_mask, which places of padded sequences hold elements.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>

#include <cstddef>
#include <optional>

namespace rowan::inline v0 {

/// Row i is true in its first lengths[i] places, in all if there are fewer. Without max_length there are as many as the longest needs.
/// shapes   lengths of any shape -> lengths.shape + [max_length]
/// errors   IndexError if a length is negative; ShapeError if the result does not fit
/// cost     one write of the result
Tensor<bool> sequence_mask(Cpu exec, Ids<> lengths, std::optional<std::size_t> max_length = {});

inline Tensor<bool> sequence_mask(Ids<> lengths, std::optional<std::size_t> max_length = {}) {
    return sequence_mask(Cpu{}, lengths, max_length);
}

}  // namespace rowan::inline v0

#include <rowan/sequence/sequence_mask_inl.hpp>
