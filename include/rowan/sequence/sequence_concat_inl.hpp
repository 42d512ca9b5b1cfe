// rowan/sequence/sequence_concat_inl.hpp: definitions of rowan/sequence/sequence_concat.hpp.
#pragma once

#include <rowan/sequence/sequence_concat.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ConcatPlan plan_concat(std::string const& field, std::string const& member, std::span<Lod const> lods,
                                      std::optional<std::size_t> level) {
    if (lods.empty()) throw ShapeError({field, ".size()"}, "0", "at least 1");
    auto const name = [&](std::size_t j) { return field + "[" + std::to_string(j) + "]" + member; };
    check_levels(name(0), lods[0]);
    std::string const like = ", as in " + field + "[0]";
    std::size_t const levels = lods[0].levels(), at = level.value_or(levels - 1);
    lods[0].check_level(at);
    for (std::size_t j = 1; j < lods.size(); ++j) {
        if (lods[j].levels() != levels) throw ShapeError({name(j), ".levels()"}, lods[j].levels(), {levels, like});
        for (std::size_t l = 0; l <= at; ++l) {
            auto const offsets = lods[j][l];
            auto const want = lods[0][l];
            if (offsets.size() != want.size())
                throw ShapeError({name(j), ".sequences(", l, ")"}, offsets.size() - 1, {want.size() - 1, like});
            if (l == at) continue;
            auto const differs = std::ranges::mismatch(offsets, want);
            if (differs.in1 == offsets.end()) continue;
            throw ShapeError({name(j), "[", l, "][", differs.in1 - offsets.begin(), "]"}, *differs.in1,
                             {*differs.in2, like});
        }
    }
    ConcatPlan plan;
    for (Lod const& lod : lods) {
        auto& rows = plan.rows.emplace_back(lod[at].begin(), lod[at].end());
        for (std::size_t l = at + 1; l < levels; ++l) {
            for (auto& row : rows) row = lod[l][static_cast<std::size_t>(row)];
        }
    }
    std::size_t const n = lods[0].sequences(at);
    std::vector<std::int64_t> lengths;
    lengths.reserve(n * lods.size());
    for (std::size_t s = 0; s < n; ++s) {
        for (auto const& rows : plan.rows) lengths.push_back(rows[s + 1] - rows[s]);
    }
    plan.blocks = Lod::from_lengths({lengths});
    return plan;
}

ROWAN_FUNCTION Lod concat_lods(std::span<Lod const> lods, std::optional<std::size_t> level) {
    std::size_t const levels = lods[0].levels(), at = level.value_or(levels - 1);
    std::vector<std::vector<std::int64_t>> lengths(levels);
    for (std::size_t l = 0; l < at; ++l) lengths[l] = lods[0].lengths(l);
    lengths[at].resize(lods[0].sequences(at));
    for (std::size_t s = 0; s < lengths[at].size(); ++s) {
        for (Lod const& lod : lods) {
            auto begin = static_cast<std::size_t>(lod[at][s]), end = static_cast<std::size_t>(lod[at][s + 1]);
            lengths[at][s] += static_cast<std::int64_t>(end - begin);
            for (std::size_t l = at + 1; l < levels; ++l) {
                auto const offsets = lod[l];
                for (std::size_t q = begin; q < end; ++q) lengths[l].push_back(offsets[q + 1] - offsets[q]);
                begin = static_cast<std::size_t>(offsets[begin]);
                end = static_cast<std::size_t>(offsets[end]);
            }
        }
    }
    return Lod::from_lengths(lengths);
}

}  // namespace rowan::inline v0::detail

#endif
