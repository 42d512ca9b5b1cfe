// rowan/sequence/sub_lod.hpp: sub_lod, the levels of a range of sequences.
#pragma once

#include <rowan/sequence/lod.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0 {

/// A range of the sequences of a Lod: their own Lod, whose offsets begin with 0, and their rows.
struct SubLod {
    Lod lod;                     ///< of these sequences only
    std::int64_t row_begin = 0;  ///< the first row
    std::int64_t row_end = 0;    ///< one past the last row
};

/// Sequences [begin, end) of a level with all levels below it; the levels above are dropped. The range may be empty.
/// errors   IndexError if level is not in [0, lod.levels()), or unless begin <= end <= lod.sequences(level)
/// cost     O(offsets of the result)
ROWAN_IF_CALLED SubLod sub_lod(Lod const& lod, std::size_t level, std::size_t begin, std::size_t end);

}  // namespace rowan::inline v0

#include <rowan/sequence/sub_lod_inl.hpp>
