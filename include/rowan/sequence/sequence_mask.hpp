// rowan/sequence/sequence_mask.hpp: sequence_mask, which places of padded sequences hold elements.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace rowan::inline v0 {

/// Row i is true in its first lengths[i] places, in all if there are fewer. Without max_length there are as many as the longest needs.
/// shapes   lengths of any shape -> lengths.shape + [max_length]
/// errors   IndexError if a length is negative; ShapeError if the result does not fit
/// cost     one write of the result
inline Tensor<bool> sequence_mask(Cpu exec, Ids<> lengths, std::optional<std::size_t> max_length = {}) {
    detail::check_ids(exec, "lengths", lengths, std::numeric_limits<std::int64_t>::max());
    std::size_t longest = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) longest = std::max(longest, static_cast<std::size_t>(lengths[i]));
    std::size_t const width = max_length.value_or(longest);
    auto shape = lengths.shape();
    shape.push_back(width);
    auto mask = Tensor<bool>::from_shape(shape);
    bool* const out = mask.data();
    if (width == 0) return mask;
    parallel_for(exec, lengths.size(), (std::size_t{1} << 18) / width + 1, [&](std::size_t i, std::size_t end) {
        for (; i < end; ++i) {
            std::size_t const length = std::min(static_cast<std::size_t>(lengths[i]), width);
            std::fill_n(std::fill_n(out + i * width, length, true), width - length, false);
        }
    });
    return mask;
}

inline Tensor<bool> sequence_mask(Ids<> lengths, std::optional<std::size_t> max_length = {}) {
    return sequence_mask(Cpu{}, lengths, max_length);
}

}  // namespace rowan::inline v0
