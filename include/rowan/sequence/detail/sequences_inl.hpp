// rowan/sequence/detail/sequences_inl.hpp: definitions of rowan/sequence/detail/sequences.hpp.
#pragma once

#include <rowan/sequence/detail/sequences.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void check_levels(std::string const& field, Lod const& lod) {
    if (lod.empty()) throw ShapeError({field, ".levels()"}, "0", "at least 1");
}

ROWAN_CALLED_FUNCTION Lod upper_levels(Lod const& lod) { return lod.slice_levels(0, lod.levels() - 1); }

ROWAN_CALLED_FUNCTION Lod with_last_level(Lod const& lod, std::vector<std::int64_t> offsets) {
    struct Memory {
        Lod upper;
        std::vector<std::int64_t> last;
    };
    auto const memory = std::make_shared<Memory const>(Memory{upper_levels(lod), std::move(offsets)});
    std::array<std::span<std::int64_t const>, Lod::max_levels> levels;
    for (std::size_t l = 0; l + 1 < lod.levels(); ++l) levels[l] = memory->upper[l];
    levels[lod.levels() - 1] = memory->last;
    return LodAccess::make(memory, std::span(levels.data(), lod.levels()));
}

ROWAN_CALLED_FUNCTION std::size_t longest_of(std::span<std::int64_t const> offsets, std::size_t begin,
                                             std::size_t end) {
    std::size_t longest = 0;
    for (std::size_t s = begin; s < end; ++s) longest = std::max(longest, length_at(offsets, s));
    return longest;
}

ROWAN_CALLED_FUNCTION Lod join_lods(std::span<Lod const> lods) {
    std::vector<std::vector<std::int64_t>> lengths(lods[0].levels());
    for (Lod const& lod : lods) {
        for (std::size_t l = 0; l < lengths.size(); ++l) {
            auto const more = lod.lengths(l);
            lengths[l].insert(lengths[l].end(), more.begin(), more.end());
        }
    }
    return Lod::from_lengths(lengths);
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> sorted_ids(Ids<> const& ids) {
    std::vector<std::int64_t> sorted(ids.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = ids[i];
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

}  // namespace rowan::inline v0::detail

#endif
