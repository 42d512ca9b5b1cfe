// rowan/thrust/detail/lane.hpp: which elements a thread of the device works on.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// k / by and k % by. A division of 64-bit numbers takes as long as a read from the cache, so it is avoided.
struct FastDivmod {
    std::size_t by;
    int shift;  // by == 1 << shift, or -1

    explicit FastDivmod(std::size_t divisor)
        : by(divisor), shift(std::has_single_bit(divisor) ? std::countr_zero(divisor) : -1) {}

    ROWAN_HD std::size_t quotient(std::size_t k) const {
        if (shift >= 0) return k >> shift;
        if ((k | by) >> 32 == 0) return static_cast<std::uint32_t>(k) / static_cast<std::uint32_t>(by);
        return k / by;
    }
};

/// The alignment of `bytes` that are read at once: a power of two, at most 16.
constexpr std::size_t chunk_alignment(std::size_t bytes, std::size_t of_element) {
    std::size_t const whole = bytes & (~bytes + 1), most = whole < 16 ? whole : 16;
    return most < of_element ? of_element : most;
}

/// N elements that a thread reads and writes at once.
template <class T, int N>
struct alignas(chunk_alignment(N * sizeof(T), alignof(T))) Chunk {
    T x[N];
};
template <class T>
struct Chunk<T, 1> {
    T x[1];
};

/// How many elements of rows of `width` elements a thread takes: 4, or 1 where rows do not begin at multiples of that.
inline constexpr int chunk_size = 4;

template <class... T>
bool in_chunks(std::size_t width, T const*... p) {
    return width % chunk_size == 0 &&
           ((reinterpret_cast<std::uintptr_t>(p) % alignof(Chunk<T, chunk_size>) == 0) && ...);
}

}  // namespace rowan::inline v0::detail
