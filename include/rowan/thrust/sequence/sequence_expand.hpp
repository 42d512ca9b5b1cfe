// rowan/thrust/sequence/sequence_expand.hpp: sequence_expand on a device.
#pragma once

#include <rowan/detail/block_sum.hpp>
#include <rowan/sequence/sequence_expand.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/detail/on_device.hpp>
#include <rowan/thrust/sequence/detail/row_copies.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

/// The row of x that is copied to row i of the result.
struct ExpandedRow {
    std::int64_t const* starts;  // of the instances, in the result
    std::int64_t const* rows;    // of the instances, in x
    std::size_t instances;

    ROWAN_HD std::int64_t operator()(std::size_t i) const {
        std::size_t const k = find_block(starts, instances, i);
        return rows[k] + (static_cast<std::int64_t>(i) - starts[k]) % (rows[k + 1] - rows[k]);
    }
};

/// Sums a block of up to 64 repeats of a row of x, for N columns. The sums of the first row of a block of an instance are
/// followed by those of its other rows, then by those of the next block.
template <class S, int N, class From, class To>
struct SumRepeats {
    std::int64_t const* starts;  // of the instances, in `from`
    std::int64_t const* rows;    // of the instances, in x
    std::int64_t const* blocks;  // of the instances, in `to`
    std::size_t instances;
    FastDivmod lanes;  // threads per row
    From const* from;
    To* to;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const row = lanes.quotient(k), column = (k - row * lanes.by) * N, width = lanes.by * N;
        std::size_t const i = find_block(blocks, instances, row);
        auto const length = static_cast<std::size_t>(rows[i + 1] - rows[i]);
        auto const all = static_cast<std::size_t>(starts[i + 1] - starts[i]);  // rows of the instance in `from`
        std::size_t const in = row - static_cast<std::size_t>(blocks[i]), block = in < length ? 0 : in / length;
        std::size_t next = in + block * (block_size - 1) * length;  // of these rows
        std::size_t const after = next + block_size * length, end = after < all ? after : all;
        From const* const first = from + static_cast<std::size_t>(starts[i]) * width + column;
        Chunk<S, N> sum;
        for (int e = 0; e < N; ++e) sum.x[e] = constant<S>(0.0);
        if (next < end) sum = load_chunk<S, N>(first + next * width);
        while ((next += length) < end) {
            Chunk<S, N> const more = load_chunk<S, N>(first + next * width);
            for (int e = 0; e < N; ++e) sum.x[e] = plus(sum.x[e], more.x[e]);
        }
        store_chunk(sum, to + row * width + column);
    }
};

template <class System>
struct SequenceExpansion<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void expand(Exec const& exec, Expansion const& e, std::size_t width, T const* rows, T* out) {
        std::vector<std::int64_t> numbers = e.starts;
        numbers.insert(numbers.end(), e.rows.begin(), e.rows.end());
        OnDevice<std::int64_t, Exec> const uploaded(exec, numbers);
        copy_device_rows(exec, static_cast<std::size_t>(e.starts.back()), width * sizeof(T), rows, out,
                         ExpandedRow{uploaded.data(), uploaded.data() + e.starts.size(), e.starts.size() - 1},
                         SameRow{});
    }

    /// A launch unless a row is repeated more than 64 times, then one for each level of blocks of 64 repeats.
    /// cost     O(instances) on the host; an upload of 16 to 24 bytes per instance for each launch
    template <class T>
    static void grad(Exec const& exec, Expansion const& e, std::size_t width, T const* out_grad, T* x_grad) {
        if (e.rows.back() == 0 || width == 0) return;
        sum_repeats(exec, e, e.starts, width, out_grad, x_grad);
    }

private:
    /// Instance i of `from` begins at row starts[i] and has as many repeats as lie between it and the next.
    template <class T, class From>
    static void sum_repeats(Exec const& exec, Expansion const& e, std::vector<std::int64_t> const& starts,
                            std::size_t width, From const* from, T* x_grad) {
        using S = sum_t<T>;
        std::vector<std::int64_t> blocks{0};  // where the instances begin in the sums of their blocks
        for (std::size_t i = 0; i + 1 < e.rows.size(); ++i) {
            std::int64_t const length = e.rows[i + 1] - e.rows[i], size = static_cast<std::int64_t>(block_size);
            std::int64_t const repeats = length == 0 ? 0 : (starts[i + 1] - starts[i]) / length;
            blocks.push_back(blocks.back() + length * std::max((repeats + size - 1) / size, std::int64_t{1}));
        }
        if (blocks == e.rows) return sum_blocks<S>(exec, e, starts, blocks, width, from, x_grad);
        DeviceStorage<S, System> const sums(exec, static_cast<std::size_t>(blocks.back()) * width);
        sum_blocks<S>(exec, e, starts, blocks, width, from, sums.data());
        sum_repeats(exec, e, blocks, width, static_cast<S const*>(sums.data()), x_grad);
    }

    template <class S, class From, class To>
    static void sum_blocks(Exec const& exec, Expansion const& e, std::vector<std::int64_t> const& starts,
                           std::vector<std::int64_t> const& blocks, std::size_t width, From const* from, To* to) {
        std::vector<std::int64_t> numbers = starts;
        numbers.insert(numbers.end(), e.rows.begin(), e.rows.end());
        if (blocks != e.rows) numbers.insert(numbers.end(), blocks.begin(), blocks.end());
        OnDevice<std::int64_t, Exec> const uploaded(exec, numbers);
        std::int64_t const* const at = uploaded.data();
        std::size_t const n = starts.size();
        auto const rows = static_cast<std::size_t>(blocks.back());
        auto const sum = [&]<int N>() {
            FastDivmod const lanes(width / N);
            launch_always(exec, rows * lanes.by,
                          SumRepeats<S, N, From, To>{at, at + n, at + numbers.size() - n, n - 1, lanes, from, to});
        };
        if (in_chunks(width, from, static_cast<To const*>(to))) {
            sum.template operator()<chunk_size>();
        } else {
            sum.template operator()<1>();
        }
    }
};

}  // namespace rowan::inline v0::detail
