// rowan/thrust/op/detail/axis_sums.hpp: sums along any axes of a tensor on a device.
#pragma once

#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/thrust/detail/elementwise.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Sums a block of 64 contributions for N lanes.
template <class S, class Fold, int N, class From, class To>
struct SumAxisBlock {
    From const* from;
    To* to;
    AxisReduction r;
    FastDivmod blocks, lanes;  // threads per block

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const row = lanes.quotient(k), column = (k - row * lanes.by) * N;
        std::size_t const outer = blocks.quotient(row), begin = (row - outer * blocks.by) * block_size;
        std::size_t const end = r.n - begin < block_size ? r.n : begin + block_size;
        From const* const x = from + r.kept(outer) + column * r.lane;
        Chunk<S, N> sum = load_chunk<S, N>(x + r.summed(begin));
        for (std::size_t i = begin + 1; i < end; ++i) {
            Chunk<S, N> const more = load_chunk<S, N>(x + r.summed(i));
            for (int e = 0; e < N; ++e) Fold{}(more.x[e], sum.x[e]);
        }
        store_chunk(sum, to + row * r.width + column);
    }
};

template <class System>
struct AxisSums<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class S, class Fold, class From, class To>
    static void sum_blocks(Device const& exec, AxisReduction const& r, From const* from, To* to) {
        if (r.lane == 1 && in_chunks(r.width, from, static_cast<To const*>(to))) {
            sum_in_chunks<S, Fold, chunk_size>(exec, r, from, to);
        } else {
            sum_in_chunks<S, Fold, 1>(exec, r, from, to);
        }
    }

private:
    template <class S, class Fold, int N, class From, class To>
    static void sum_in_chunks(Device const& exec, AxisReduction const& r, From const* from, To* to) {
        FastDivmod const blocks(r.blocks()), lanes(r.width / N);
        launch(exec, r.outer * blocks.by * lanes.by, SumAxisBlock<S, Fold, N, From, To>{from, to, r, blocks, lanes});
    }
};

}  // namespace rowan::inline v0::detail
