// rowan/thrust/op/sum_rows.hpp: sum_rows on a device.
#pragma once

#include <rowan/op/sum_rows.hpp>
#include <rowan/thrust/detail/elementwise.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0::detail {

/// Sums blocks of 64 rows.
template <class S, int N, class From, class To>
struct SumRowBlock {
    From const* from;
    To* to;
    std::size_t n;
    FastDivmod lanes;  // threads per row

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const block = lanes.quotient(k);
        std::size_t const width = lanes.by * N, column = (k - block * lanes.by) * N;
        std::size_t const begin = block * block_size;
        std::size_t const end = n - begin < block_size ? n : begin + block_size;
        Chunk<S, N> sum = widened(begin * width + column);
        for (std::size_t i = begin + 1; i < end; ++i) {
            Chunk<S, N> const more = widened(i * width + column);
            for (int e = 0; e < N; ++e) sum.x[e] = plus(sum.x[e], more.x[e]);
        }
        Chunk<To, N> made;
        for (int e = 0; e < N; ++e) store(sum.x[e], made.x + e);
        *reinterpret_cast<Chunk<To, N>*>(to + block * width + column) = made;
    }

    ROWAN_HD Chunk<S, N> widened(std::size_t i) const {
        auto const found = *reinterpret_cast<Chunk<From, N> const*>(from + i);
        Chunk<S, N> wide;
        for (int e = 0; e < N; ++e) wide.x[e] = load<S>(found.x + e);
        return wide;
    }
};

template <class System>
struct ColumnSums<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    /// cost     temporary memory for the sums of blocks, in dtype<T>::sum: slightly more than 1/64 of the elements of x
    template <class T>
    static void sum(Device const& exec, std::size_t n, std::size_t width, T const* x, T* out) {
        if (width == 0) return;
        if (in_chunks(width, x, static_cast<T const*>(out))) {
            sum_in_chunks<chunk_size>(exec, n, width, x, out);
        } else {
            sum_in_chunks<1>(exec, n, width, x, out);
        }
    }

private:
    template <int N, class T>
    static void sum_in_chunks(Device const& exec, std::size_t n, std::size_t width, T const* x, T* out) {
        using S = sum_t<T>;
        std::size_t const blocks = (n + block_size - 1) / block_size, more = (blocks + block_size - 1) / block_size;
        FastDivmod const lanes(width / N);
        if (blocks == 1) return launch(exec, lanes.by, SumRowBlock<S, N, T, T>{x, out, n, lanes});
        DeviceStorage<S, System> const first(exec, blocks * width), second(exec, blocks == more ? 0 : more * width);
        launch(exec, blocks * lanes.by, SumRowBlock<S, N, T, S>{x, first.data(), n, lanes});
        S *from = first.data(), *to = second.data();
        for (n = blocks; n > block_size; std::swap(from, to)) {
            std::size_t const sums = (n + block_size - 1) / block_size;
            launch(exec, sums * lanes.by, SumRowBlock<S, N, S, S>{from, to, n, lanes});
            n = sums;
        }
        launch(exec, lanes.by, SumRowBlock<S, N, S, T>{from, out, n, lanes});
    }
};

}  // namespace rowan::inline v0::detail
