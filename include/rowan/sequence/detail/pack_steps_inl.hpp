// rowan/sequence/detail/pack_steps_inl.hpp: definitions of rowan/sequence/detail/pack_steps.hpp.
#pragma once

#include <rowan/sequence/detail/pack_steps.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <span>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void check_map_levels(Lod const& lod, Lod const& of_map, std::size_t level) {
    if (of_map.empty()) throw ShapeError("map.lod().levels()", "0", "at least 1");
    if (lod.levels() <= level)
        throw ShapeError("input.lod().levels()", lod.levels(), {"at least ", level + 1, ", for the level of the map"});
    for (std::size_t l = 0; l <= level; ++l) {
        auto const found = lod[l];
        auto const want = of_map[l];
        if (found.size() != want.size())
            throw ShapeError({"input.lod().sequences(", l, ")"}, found.size() - 1, {want.size() - 1, ", the map's"});
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] != want[i])
                throw ShapeError({"input.lod()[", l, "][", i, "]"}, found[i], {want[i], ", the map's"});
        }
    }
}

ROWAN_CALLED_FUNCTION void check_same_origin(StepLayout const& layout, StepOrigin const& of_map) {
    if (!layout.origin || layout.origin->equals(of_map)) return;
    throw ShapeError("map", "made from other sequences or in another order",
                     "the map of the unpack that made the steps");
}

ROWAN_CALLED_FUNCTION Lod join_levels(Lod const& above, std::size_t level,
                                      std::vector<std::vector<std::int64_t>> const& below) {
    std::vector<std::span<std::int64_t const>> levels;
    for (std::size_t l = 0; l <= level; ++l) levels.push_back(above[l]);
    if (below.empty()) return LodAccess::make(LodAccess::memory(above), levels);
    levels.insert(levels.end(), below.begin(), below.end());
    return Lod(levels);
}

}  // namespace rowan::inline v0::detail

#endif
