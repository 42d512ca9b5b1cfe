// rowan/sequence/sequence_mask_inl.hpp: definitions of rowan/sequence/sequence_mask.hpp.
#pragma once

#include <rowan/sequence/sequence_mask.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstdint>
#include <limits>

namespace rowan::inline v0 {

ROWAN_FUNCTION Tensor<bool> sequence_mask(Cpu exec, Ids<> lengths, std::optional<std::size_t> max_length) {
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

}  // namespace rowan::inline v0

#endif
