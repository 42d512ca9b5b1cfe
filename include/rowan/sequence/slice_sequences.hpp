// rowan/sequence/slice_sequences.hpp: slice_sequences, a range of the sequences of any level.
#pragma once

#include <rowan/sequence/drop_levels.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>

namespace rowan::inline v0 {

/// Sequences [begin, end) of a level as a batch that aliases the rows of x; LoDTensor::slice of a lower level.
/// shapes   x [rows, ...] with levels -> [rows of these sequences, ...] with the levels from `level` on
/// errors   as sub_lod
/// cost     as sub_lod; no rows are copied
template <class T, class Device>
LoDTensor<T, Device> slice_sequences(LoDTensor<T, Device> const& x, std::size_t level, std::size_t begin,
                                     std::size_t end) {
    x.lod().check_level(level);
    return drop_levels(x, level).slice(begin, end);
}

}  // namespace rowan::inline v0
