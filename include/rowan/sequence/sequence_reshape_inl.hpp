// rowan/sequence/sequence_reshape_inl.hpp: definitions of rowan/sequence/sequence_reshape.hpp.
#pragma once

#include <rowan/sequence/sequence_reshape.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<std::int64_t> reshaped_offsets(Lod const& lod, std::size_t row_size, std::int64_t width) {
    auto const offsets = last_level(lod);
    std::vector<std::int64_t> result{0};
    result.reserve(offsets.size());
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        std::size_t const elements = length_at(offsets, s) * row_size;
        if (elements % static_cast<std::size_t>(width) != 0)
            throw ShapeError({"elements of sequence ", s}, elements, {"a multiple of ", width});
        result.push_back(result.back() + static_cast<std::int64_t>(elements) / width);
    }
    return result;
}

}  // namespace rowan::inline v0::detail

#endif
