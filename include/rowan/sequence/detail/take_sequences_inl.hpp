// rowan/sequence/detail/take_sequences_inl.hpp: TakenSequences.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/sequence/detail/take_sequences.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION TakenSequences::TakenSequences(Lod const& of, std::vector<std::int64_t> picks)
    : from(std::move(picks)), starts{0} {
    std::vector<Buffer<std::int64_t>> lengths(of.levels());  // counted against the limits of a run
    starts.reserve(from.size() + 1);
    for (std::int64_t& first : from) {
        std::int64_t begin = first, end = begin + 1;
        for (std::size_t l = 0; l < of.levels(); ++l) {
            auto const offsets = of[l];
            for (auto q = static_cast<std::size_t>(begin); q < static_cast<std::size_t>(end); ++q)
                lengths[l].push_back(offsets[q + 1] - offsets[q]);
            begin = offsets[static_cast<std::size_t>(begin)];
            end = offsets[static_cast<std::size_t>(end)];
        }
        first = begin;
        starts.push_back(checked_add("rows of the result", starts.back(), end - begin));
    }
    lod = Lod::from_lengths(lengths);
}

}  // namespace rowan::inline v0::detail

#endif
