// rowan/op/detail/permute.hpp: permute, which copies a tensor in another order of its axes.
#pragma once

#include <rowan/detail/rows.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rowan::inline v0::detail {

/// to[i * next_to + k] = from[k * next_from + i] for i and k below `size`.
template <class T>
struct TransposedBlock {
    static constexpr std::size_t size = 1;
    static void copy(T const* from, std::size_t, T* to, std::size_t) { *to = *from; }
};
#if __has_builtin(__builtin_shufflevector)
/// The same for numbers of 4 bytes, in registers: at -O2, compilers move one by one.
template <class T>
requires(sizeof(T) == 4 && std::is_trivially_copyable_v<T>) struct TransposedBlock<T> {
    static constexpr std::size_t size = 4;
    static void copy(T const* from, std::size_t next_from, T* to, std::size_t next_to) {
        typedef std::uint32_t quad __attribute__((vector_size(16)));
        auto const row = [&](std::size_t k) {
            quad x;
            std::memcpy(&x, from + k * next_from, sizeof x);
            return x;
        };
        auto const low = [](quad a, quad b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); };
        auto const high = [](quad a, quad b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); };
        quad const a = row(0), b = row(1), c = row(2), d = row(3);
        quad const columns[] = {low(low(a, c), low(b, d)), high(low(a, c), low(b, d)), low(high(a, c), high(b, d)),
                                high(high(a, c), high(b, d))};
        for (std::size_t i = 0; i < 4; ++i)
            std::memcpy(static_cast<void*>(to + i * next_to), &columns[i], sizeof(quad));
    }
};
#endif

/// to[i * next_to + k] = from[k * next_from + i] for i in [0, m), at most a cache line of `from`, and k in [0, n). Lines
/// are copied to a tile, so that each is read once although powers of two between them are in few sets of the cache.
template <class T>
struct TransposedLines {
    static constexpr std::size_t line = 64 / sizeof(T) == 0 ? 1 : 64 / sizeof(T), lines = 64;

    std::size_t n, next_from, next_to;

    void operator()(std::size_t m, T const* from, T* to) const {
        T tile[lines * line];
        for (std::size_t first = 0; first < n; first += lines) {
            std::size_t const count = std::min(lines, n - first);
            for (std::size_t k = 0; k < count; ++k) {
                T const* const x = from + (first + k) * next_from;
                m == line ? std::copy_n(x, line, tile + k * line) : std::copy_n(x, m, tile + k * line);
            }
            for (std::size_t r = 0; r < m; ++r) prefetch_row<true>(to + r * next_to + first, count * sizeof(T));
            std::size_t i = 0;
            for (; i + Block::size <= m; i += Block::size) block_of_lines(count, tile + i, to + i * next_to + first);
            for (; i < m; ++i) {
                for (std::size_t k = 0; k < count; ++k) to[i * next_to + first + k] = tile[k * line + i];
            }
        }
    }

private:
    using Block = TransposedBlock<T>;

    void block_of_lines(std::size_t count, T const* tile, T* to) const {
        std::size_t k = 0;
        for (; k + Block::size <= count; k += Block::size) Block::copy(tile + k * line, line, to + k, next_to);
        for (; k < count; ++k) {
            for (std::size_t i = 0; i < Block::size; ++i) to[i * next_to + k] = tile[k * line + i];
        }
    }
};

/// Copies all elements of a tensor in another order: `axes` are those of the result, with their strides in `from`.
template <class T>
void permute(Cpu exec, AxisOffsets const& axes, T const* from, T* to) {
    if (axes.count < 2)
        return for_ranges(exec, axes.elements(), 1,
                          [&](std::size_t begin, std::size_t end) { std::copy(from + begin, from + end, to + begin); });
    AxisOffsets outer = axes;
    std::size_t const width = outer.size[--outer.count], stride = outer.stride[outer.count];
    if (stride == 1)
        return for_ranges(exec, outer.elements(), width, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) std::copy_n(from + outer(begin), width, to + begin * width);
        });
    AxisOffsets results = outer;  // the same axes, with their strides in the result
    std::size_t step = width, lane = 0;
    for (std::size_t i = outer.count; i-- > 0; step *= outer.size[i]) {
        results.stride[i] = step;
        if (outer.stride[i] == 1) lane = i;  // the axis whose elements are adjacent in `from`
    }
    std::size_t const lanes = outer.size[lane], next_to = results.stride[lane];
    for (AxisOffsets* const rest : {&outer, &results}) {
        std::copy(rest->size + lane + 1, rest->size + rest->count, rest->size + lane);
        std::copy(rest->stride + lane + 1, rest->stride + rest->count, rest->stride + lane);
        --rest->count;
    }
    constexpr std::size_t line = TransposedLines<T>::line;
    std::size_t const pieces = (lanes + line - 1) / line;
    for_ranges(exec, outer.elements() * pieces, width * std::min(lanes, line), [&](std::size_t begin, std::size_t end) {
        TransposedLines<T> const transpose{width, stride, next_to};
        for (; begin < end; ++begin) {
            std::size_t const at = begin / pieces, first = begin % pieces * line;
            transpose(std::min(line, lanes - first), from + outer(at) + first, to + results(at) + first * next_to);
        }
    });
}

}  // namespace rowan::inline v0::detail
