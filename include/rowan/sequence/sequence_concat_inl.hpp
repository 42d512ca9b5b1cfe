// rowan/sequence/sequence_concat_inl.hpp: definitions of rowan/sequence/sequence_concat.hpp.
#pragma once

#include <rowan/sequence/sequence_concat.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_alike(std::string const& field, std::string const& member, std::span<Lod const> lods) {
    if (lods.empty()) throw ShapeError(field + ".size()", "0", "at least 1");
    auto const name = [&](std::size_t j) { return field + "[" + std::to_string(j) + "]" + member; };
    check_levels(name(0), lods[0]);
    std::string const like = ", as in " + field + "[0]";
    std::size_t const levels = lods[0].levels();
    for (std::size_t j = 1; j < lods.size(); ++j) {
        if (lods[j].levels() != levels)
            throw ShapeError(name(j) + ".levels()", std::to_string(lods[j].levels()), std::to_string(levels) + like);
        for (std::size_t l = 0; l < levels; ++l) {
            auto const offsets = lods[j][l];
            auto const want = lods[0][l];
            std::string const level = std::to_string(l);
            if (offsets.size() != want.size())
                throw ShapeError(name(j) + ".sequences(" + level + ")", std::to_string(offsets.size() - 1),
                                 std::to_string(want.size() - 1) + like);
            if (l + 1 == levels) continue;
            auto const differs = std::ranges::mismatch(offsets, want);
            if (differs.in1 == offsets.end()) continue;
            throw ShapeError(name(j) + "[" + level + "][" + std::to_string(differs.in1 - offsets.begin()) + "]",
                             std::to_string(*differs.in1), std::to_string(*differs.in2) + like);
        }
    }
}

ROWAN_FUNCTION Lod concat_starts(std::span<Lod const> lods) {
    std::size_t const n = last_level(lods[0]).size() - 1;
    std::vector<std::int64_t> lengths;
    lengths.reserve(n * lods.size());
    for (std::size_t s = 0; s < n; ++s) {
        for (Lod const& lod : lods) lengths.push_back(static_cast<std::int64_t>(length_at(last_level(lod), s)));
    }
    return Lod::from_lengths({lengths});
}

}  // namespace rowan::inline v0::detail

#endif
