// rowan/detail/rows.hpp: prefetches of rows, and copies that bypass the caches.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rowan::inline v0::detail {

/// The prefetch distance in rows: as many rows of this size as 8 KiB hold, which covers the memory latency, from 4 to
/// 64.
inline std::size_t lookahead(std::size_t row_bytes) noexcept {
    return std::clamp<std::size_t>(8192 / std::max<std::size_t>(row_bytes, 1), 4, 64);
}

/// Prefetches `bytes` bytes from `p` on for reading or writing, at most 2 KiB: from there on the hardware prefetches.
template <bool write>
ROWAN_INLINE void prefetch_row(void const* p, std::size_t bytes) {
    constexpr int access = write ? 1 : 0;
    auto const* line = static_cast<char const*>(p);
    std::size_t lines = std::min<std::size_t>((reinterpret_cast<std::uintptr_t>(p) % 64 + bytes + 63) / 64, 32);
    for (; lines >= 4; lines -= 4, line += 256) {  // unrolled: this loop is as hot as the arithmetic
        __builtin_prefetch(line, access);
        __builtin_prefetch(line + 64, access);
        __builtin_prefetch(line + 128, access);
        __builtin_prefetch(line + 192, access);
    }
    for (; lines != 0; --lines, line += 64) __builtin_prefetch(line, access);
    asm volatile("");  // otherwise g++ removes calls of functions that only prefetch
}

/// Outputs of this many bytes or more are written with non-temporal stores, which do not read or evict cache lines.
inline constexpr std::size_t stream_from = std::size_t{8} << 20;

#ifdef __SSE2__
/// What one non-temporal store writes. <immintrin.h> would cost each file that includes this one 20,000 tokens.
#ifdef __AVX512F__
using Streamed = long long __attribute__((vector_size(64)));
#else
using Streamed = long long __attribute__((vector_size(16)));
#endif

/// Writes x to an address that is a multiple of its size, past the caches.
ROWAN_INLINE void stream(Streamed x, char* to) {
    auto* const out = reinterpret_cast<Streamed*>(to);
#ifdef __clang__
    __builtin_nontemporal_store(x, out);
#elif defined(__AVX512F__)
    __builtin_ia32_movntdq512(out, x);
#else
    __builtin_ia32_movntdq(out, x);
#endif
}
#endif

/// memcpy that bypasses the caches; stream_end() must follow the last one. Plain memcpy unless `to` and `bytes` are
/// multiples of 64.
ROWAN_INLINE void stream_copy(void* to, void const* from, std::size_t bytes) {
#ifdef __SSE2__
    if (bytes % 64 == 0 && reinterpret_cast<std::uintptr_t>(to) % 64 == 0) {
        auto* out = static_cast<char*>(to);
        auto const* in = static_cast<char const*>(from);
        for (std::size_t i = 0; i < bytes; i += 64) {
            Streamed a, b, c, d;  // no array: g++ would write it to memory first
            std::memcpy(&a, in + i, sizeof a);
            if constexpr (sizeof a == 64) {
                stream(a, out + i);
            } else {
                std::memcpy(&b, in + i + 16, 16);
                std::memcpy(&c, in + i + 32, 16);
                std::memcpy(&d, in + i + 48, 16);
                stream(a, out + i);
                stream(b, out + i + 16);
                stream(c, out + i + 32);
                stream(d, out + i + 48);
            }
        }
        return;
    }
#endif
    std::memcpy(to, from, bytes);
}

/// Makes streamed rows visible to other threads.
ROWAN_INLINE void stream_end() {
#ifdef __SSE2__
    __builtin_ia32_sfence();
#endif
}

}  // namespace rowan::inline v0::detail
