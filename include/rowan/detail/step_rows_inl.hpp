// rowan/detail/step_rows_inl.hpp: definitions of rowan/detail/step_rows.hpp.
#pragma once

#include <rowan/detail/step_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <array>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Lod StepLayout::lod(std::shared_ptr<StepLayout const> const& layout, std::size_t t) {
    if (layout->levels.empty()) return {};
    std::array<std::span<std::int64_t const>, Lod::max_levels> offsets;
    for (std::size_t l = 0; l < layout->levels.size(); ++l) {
        auto const& level = layout->levels[l];
        offsets[l] = std::span(level.offsets)
                         .subspan(static_cast<std::size_t>(level.begin[t]),
                                  static_cast<std::size_t>(level.begin[t + 1] - level.begin[t]));
    }
    return LodAccess::make(layout, std::span(offsets.data(), layout->levels.size()));
}

}  // namespace rowan::inline v0::detail

#endif
