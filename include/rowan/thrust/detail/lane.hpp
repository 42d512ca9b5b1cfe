// rowan/thrust/detail/lane.hpp: how a thread of the device finds its elements.
#pragma once

#include <rowan/detail/lanes.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Computes k / by without a 64-bit division where possible, since that takes as long as a cache access.
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

/// The alignment of `bytes` bytes that are accessed at once: the largest power of two that divides `bytes`, at most 16
/// but at least `of_element`.
constexpr std::size_t chunk_alignment(std::size_t bytes, std::size_t of_element) {
    std::size_t const whole = bytes & (~bytes + 1), most = whole < 16 ? whole : 16;
    return most < of_element ? of_element : most;
}

/// N elements that a thread reads or writes at once.
template <class T, int N>
struct alignas(chunk_alignment(N * sizeof(T), alignof(T))) Chunk {
    T x[N];
};
template <class T>
struct Chunk<T, 1> {
    T x[1];
};

/// Reads N elements, converted to `S`.
template <class S, int N, class T>
ROWAN_HD Chunk<S, N> load_chunk(T const* from) {
    auto const found = *reinterpret_cast<Chunk<T, N> const*>(from);
    Chunk<S, N> numbers;
    for (int e = 0; e < N; ++e) numbers.x[e] = load<S>(found.x + e);
    return numbers;
}

#ifdef __CUDA_ARCH__
/// Writes a chunk in words of 16 or 8 bytes, which nvcc does not always do for the assignment of a chunk.
template <class T, int N>
__device__ void store_words(Chunk<T, N> const& chunk, T* to) {
    using W = std::conditional_t<sizeof(chunk) % 16 == 0, uint4, uint2>;
    for (std::size_t i = 0; i < sizeof(chunk) / sizeof(W); ++i) {
        W word;
        std::memcpy(&word, reinterpret_cast<W const*>(&chunk) + i, sizeof(W));
        __stwb(reinterpret_cast<W*>(to) + i, word);
    }
}
#endif

/// Writes N numbers, converted to `T`.
template <class S, int N, class T>
ROWAN_HD void store_chunk(Chunk<S, N> const& numbers, T* to) {
    Chunk<T, N> made;
    for (int e = 0; e < N; ++e) store(numbers.x[e], made.x + e);
#ifdef __CUDA_ARCH__
    if constexpr (N != 1 && sizeof(made) % 8 == 0) return store_words(made, to);
#endif
    *reinterpret_cast<Chunk<T, N>*>(to) = made;
}

/// Elements per thread if in_chunks(width, pointers): the width is a multiple of it and the pointers are aligned to a
/// Chunk. Otherwise a thread takes one element.
inline constexpr int chunk_size = 4;

template <class... T>
bool in_chunks(std::size_t width, T const*... p) {
    return width % chunk_size == 0 &&
           ((reinterpret_cast<std::uintptr_t>(p) % alignof(Chunk<T, chunk_size>) == 0) && ...);
}

}  // namespace rowan::inline v0::detail
