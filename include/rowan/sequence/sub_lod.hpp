// rowan/sequence/sub_lod.hpp: sub_lod and slice_sequences, some sequences of a batch with all that belongs to them.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0 {

/// Some sequences of a Lod: their own Lod, from 0 on, and the rows that they cover.
struct SubLod {
    Lod lod;                     ///< of these sequences alone
    std::int64_t row_begin = 0;  ///< their first row
    std::int64_t row_end = 0;    ///< and the one after their last
};

/// Sequences [begin, end) of a level, with the levels below it; those above are left out. The range may be empty.
/// errors   IndexError if there is no such level or unless begin <= end <= the number of its sequences
/// cost     O(offsets of the result)
SubLod sub_lod(Lod const& lod, std::size_t level, std::size_t begin, std::size_t end);

/// Sequences [begin, end) of a level as a batch of their own, whose rows are an alias of those of x.
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
