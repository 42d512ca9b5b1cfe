// rowan/sequence/sub_lod.hpp: sub_lod and slice_sequences, a range of the sequences of a batch.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

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
SubLod sub_lod(Lod const& lod, std::size_t level, std::size_t begin, std::size_t end);

/// Sequences [begin, end) of a level as a batch that aliases the rows of x.
/// shapes   x [rows, ...] with levels -> [row_end - row_begin, ...] with the levels from `level` on
/// errors   as sub_lod
/// cost     as sub_lod; no rows are copied
template <class T, class Device>
LoDTensor<T, Device> slice_sequences(LoDTensor<T, Device> const& x, std::size_t level, std::size_t begin,
                                     std::size_t end) {
    x.check();
    auto part = sub_lod(x.lod(), level, begin, end);
    return {x.value().slice(static_cast<std::size_t>(part.row_begin), static_cast<std::size_t>(part.row_end)),
            std::move(part.lod)};
}

}  // namespace rowan::inline v0

#include <rowan/sequence/sub_lod_inl.hpp>
