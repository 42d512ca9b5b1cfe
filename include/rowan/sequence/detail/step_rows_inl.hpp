// rowan/sequence/detail/step_rows_inl.hpp: definitions of rowan/sequence/detail/step_rows.hpp.
#pragma once

#include <rowan/sequence/detail/step_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <array>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION Lod StepLayout::lod(std::shared_ptr<StepLayout const> const& layout, std::size_t t) {
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

ROWAN_CALLED_FUNCTION std::shared_ptr<StepLayout const> lay_out(Lod const& lod, std::size_t level,
                                                                std::span<std::int64_t const> starts,
                                                                std::span<std::int64_t const> elements,
                                                                StepOrigin origin,
                                                                std::vector<std::int64_t>& row_starts) {
    auto const made = std::make_shared<StepLayout>();
    StepLayout& layout = *made;
    layout.origin = std::move(origin);
    if (level + 1 == lod.levels()) {
        layout.rows.assign(starts.begin(), starts.end());
        return made;
    }
    LevelElements const at(lod, level);
    for (std::size_t l = level + 1; l < lod.levels(); ++l) {
        auto const offsets = lod[l];
        auto& of_steps = layout.levels.emplace_back();
        of_steps.begin.push_back(0);
        for (std::size_t t = 0; t + 1 < starts.size(); ++t) {
            auto const first = static_cast<std::size_t>(starts[t]),
                       size = static_cast<std::size_t>(starts[t + 1]) - first;
            std::int64_t end = 0;
            of_steps.offsets.push_back(0);
            for (std::int64_t const e : elements.subspan(first, size)) {
                auto const last = static_cast<std::size_t>(at.begin(l, e + 1));
                for (auto q = static_cast<std::size_t>(at.begin(l, e)); q < last; ++q)
                    of_steps.offsets.push_back(end += offsets[q + 1] - offsets[q]);
            }
            of_steps.begin.push_back(static_cast<std::int64_t>(of_steps.offsets.size()));
        }
    }
    row_starts.push_back(0);
    for (std::int64_t const e : elements) row_starts.push_back(row_starts.back() + at.row(e + 1) - at.row(e));
    for (std::int64_t const i : starts) layout.rows.push_back(row_starts[static_cast<std::size_t>(i)]);
    return made;
}

}  // namespace rowan::inline v0::detail

#endif
