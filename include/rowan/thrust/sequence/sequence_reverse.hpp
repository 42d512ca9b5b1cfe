// rowan/thrust/sequence/sequence_reverse.hpp: sequence_reverse on a device.
#pragma once

#include <rowan/sequence/sequence_reverse.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/sequence/detail/row_copies.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// The row of x that is copied to row i of the result.
struct MirroredRow {
    std::int64_t const* offsets;
    std::size_t sequences;

    ROWAN_HD std::int64_t operator()(std::size_t i) const {
        std::size_t const s = find_block(offsets, sequences, i);
        return offsets[s] + offsets[s + 1] - 1 - static_cast<std::int64_t>(i);
    }
};

template <class System>
struct SequenceReversal<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void run(Exec const& exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T* out) {
        OnDevice<std::int64_t, Exec> const begins(exec, offsets);
        copy_device_rows(exec, static_cast<std::size_t>(offsets.back()), width * sizeof(T), rows, out,
                         MirroredRow{begins.data(), offsets.size() - 1}, SameRow{});
    }
};

}  // namespace rowan::inline v0::detail
