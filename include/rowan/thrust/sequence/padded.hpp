// rowan/thrust/sequence/padded.hpp: to_padded and from_padded on a device.
#pragma once

#include <rowan/sequence/padded.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/sequence/detail/row_copies.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

/// The row at a place of the padded tensor, or -1 for padding.
struct RowInPlace {
    std::int64_t const* offsets;
    std::int64_t const* lines;  // of the sequences, ascending
    std::size_t sequences;
    FastDivmod longest;

    ROWAN_HD std::int64_t operator()(std::size_t place) const {
        std::size_t const line = longest.quotient(place);
        if (sequences == 0 || static_cast<std::size_t>(lines[0]) > line) return -1;
        std::size_t const s = find_block(lines, sequences, line);
        std::int64_t const row = offsets[s] + static_cast<std::int64_t>(place - line * longest.by);
        return static_cast<std::size_t>(lines[s]) == line && row < offsets[s + 1] ? row : -1;
    }
};

template <class T, int N>
struct PadChunk {
    RowInPlace at;
    FastDivmod lanes;  // chunks per row
    T const* rows;
    T padding;
    T* out;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const place = lanes.quotient(k);
        std::int64_t const row = at(place);
        auto* const to = reinterpret_cast<Chunk<T, N>*>(out) + k;
        if (row >= 0) {
            *to = reinterpret_cast<Chunk<T, N> const*>(
                rows)[static_cast<std::size_t>(row) * lanes.by + k - place * lanes.by];
        } else {
            for (int e = 0; e < N; ++e) to->x[e] = padding;
        }
    }
};

struct MarkPresent {
    RowInPlace at;
    bool* mask;
    ROWAN_HD void operator()(std::size_t place) const { mask[place] = at(place) >= 0; }
};

template <class System>
struct Padding<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void run(Exec const& exec, PaddedPlaces const& to, std::size_t width, T const* rows, T padding, T* out,
                    bool* mask) {
        std::vector<std::int64_t> numbers(to.offsets.begin(), to.offsets.end());
        for (std::size_t const line : to.lines) numbers.push_back(static_cast<std::int64_t>(line));
        OnDevice<std::int64_t, Exec> const uploaded(exec, numbers);
        RowInPlace const at{uploaded.data(), uploaded.data() + to.offsets.size(), to.lines.size(),
                            FastDivmod(to.longest)};
        std::size_t const places = to.places * to.longest;
        launch(exec, places, MarkPresent{at, mask});
        if (width == 0) return;
        if (in_chunks(width, rows, static_cast<T const*>(out))) {
            std::size_t const lanes = width / chunk_size;
            launch(exec, places * lanes, PadChunk<T, chunk_size>{at, FastDivmod(lanes), rows, padding, out});
        } else {
            launch(exec, places * width, PadChunk<T, 1>{at, FastDivmod(width), rows, padding, out});
        }
    }
};

}  // namespace rowan::inline v0::detail
