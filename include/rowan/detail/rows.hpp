// rowan/detail/rows.hpp: moving whole rows: prefetch, and copies that leave the caches alone.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rowan::inline v0::detail {

/// How many rows ahead of their use rows of this size are asked for: 8 KiB, enough to have the memory's whole latency under way.
inline std::size_t lookahead(std::size_t row_bytes) noexcept {
    return std::clamp<std::size_t>(8192 / std::max<std::size_t>(row_bytes, 1), 4, 64);
}

/// Asks for `bytes` from `p` on, to be read (or written). Beyond 2 KiB the hardware has caught on.
template <bool write>
ROWAN_INLINE void prefetch_row(void const* p, std::size_t bytes) {
    constexpr int access = write ? 1 : 0;
    auto const* line = static_cast<char const*>(p);
    std::size_t lines = std::min<std::size_t>((bytes + 63) / 64, 32);
    for (; lines >= 4; lines -= 4, line += 256) {  // straight-line code: these loops are as hot as the arithmetic
        __builtin_prefetch(line, access);
        __builtin_prefetch(line + 64, access);
        __builtin_prefetch(line + 128, access);
        __builtin_prefetch(line + 192, access);
    }
    for (; lines != 0; --lines, line += 64) __builtin_prefetch(line, access);
    asm volatile("");  // g++ drops calls of a function that only prefetches: it has no effect that it knows of
}

/// Copies of outputs larger than this go past the caches: the lines are not read first, and nothing else is driven out.
inline constexpr std::size_t stream_from = std::size_t{8} << 20;

/// memcpy past the caches; stream_end() must follow the last one.
ROWAN_INLINE void stream_copy(void* to, void const* from, std::size_t bytes) {
#ifdef __SSE2__
    if (bytes % 64 == 0 && reinterpret_cast<std::uintptr_t>(to) % 64 == 0) {
        auto* out = static_cast<char*>(to);
        auto const* in = static_cast<char const*>(from);
        for (std::size_t i = 0; i < bytes; i += 64) {
#if defined(__AVX512F__)
            _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i), _mm512_loadu_si512(in + i));
#else
            __m128i const a = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i));
            __m128i const b = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i + 16));
            __m128i const c = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i + 32));
            __m128i const d = _mm_loadu_si128(reinterpret_cast<__m128i const*>(in + i + 48));
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), a);
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + 16), b);
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + 32), c);
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + 48), d);
#endif
        }
        return;
    }
#endif
    std::memcpy(to, from, bytes);
}

/// Makes streamed rows visible to other threads.
ROWAN_INLINE void stream_end() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

}  // namespace rowan::inline v0::detail
