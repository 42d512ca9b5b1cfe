// rowan/sequence/batches_inl.hpp: definitions of rowan/sequence/batches.hpp.
#pragma once

#include <rowan/sequence/batches.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <vector>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_same_levels(Lod const& lod, std::size_t levels) {
    if (!lod.empty() && levels != lod.levels())
        throw ShapeError("lengths", {levels, " levels"}, {lod.levels(), " levels"});
}

ROWAN_FUNCTION Lod with_more_lengths(Lod const& lod, std::span<Ids<> const> more) {
    if (lod.empty()) check_level_count(more.size());
    std::vector<std::vector<std::int64_t>> lengths;
    for (std::size_t l = 0; l < more.size(); ++l) {
        check_list(element_name(lod.empty() ? "lod" : "lengths", l), more[l]);
        auto& all = lengths.emplace_back();
        if (!lod.empty()) all = lod.lengths(l);
        for (std::size_t i = 0; i < more[l].size(); ++i) all.push_back(more[l][i]);
    }
    return levels_of_lengths(lengths);
}

}  // namespace rowan::inline v0::detail

#endif
