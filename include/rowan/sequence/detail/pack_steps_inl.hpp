// rowan/sequence/detail/pack_steps_inl.hpp: definitions of rowan/sequence/detail/pack_steps.hpp.
#pragma once

#include <rowan/sequence/detail/pack_steps.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <span>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Lod join_levels(Lod const& above, std::size_t level,
                               std::vector<std::vector<std::int64_t>> const& below) {
    std::vector<std::span<std::int64_t const>> levels;
    for (std::size_t l = 0; l <= level; ++l) levels.push_back(above[l]);
    if (below.empty()) return LodAccess::make(LodAccess::memory(above), levels);
    levels.insert(levels.end(), below.begin(), below.end());
    return Lod(levels);
}

}  // namespace rowan::inline v0::detail

#endif
