// rowan/io/detail/crc32c_inl.hpp: definitions of rowan/io/detail/crc32c.hpp.
#pragma once

#include <rowan/io/detail/crc32c.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <array>
#include <cstring>

#ifdef ROWAN_CRC32C_X86
#include <immintrin.h>
#endif

namespace rowan::inline v0::detail {

/// Row k: the state that each byte value produces from a zero state, followed by n + k zero bytes.
template <std::size_t Rows>
constexpr auto crc32c_table(std::uint64_t n) {
    std::array<std::array<std::uint32_t, 256>, Rows> table{};
    for (std::size_t k = 0; k < Rows; ++k) {
        std::uint32_t const factor = crc32c_zeros(n + k + 1);
        for (std::uint32_t byte = 1; byte < 256; ++byte) {
            std::uint32_t const rest = byte & (byte - 1);  // without its lowest bit
            table[k][byte] = rest == 0 ? crc32c_product(byte, factor) : table[k][rest] ^ table[k][byte ^ rest];
        }
    }
    return table;
}

ROWAN_CALLED_FUNCTION std::uint32_t crc32c_portable(std::uint32_t state, std::byte const* p, std::size_t n) {
    static constexpr auto table = crc32c_table<8>(0);
    for (; n >= 8; n -= 8, p += 8) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        word ^= state;
        state = 0;
        for (std::size_t i = 0; i < 8; ++i) state ^= table[7 - i][word >> 8 * i & 0xFF];
    }
    for (; n != 0; --n, ++p) state = state >> 8 ^ table[0][(state ^ std::to_integer<std::uint32_t>(*p)) & 0xFF];
    return state;
}

#ifdef ROWAN_CRC32C_X86
#ifdef __NVCC__  // nvcc passes GCC's pragmas on but warns about them
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif

// The instruction has a latency of three cycles, so three independent runs are interleaved.
[[gnu::target("sse4.2")]] ROWAN_FUNCTION std::uint32_t crc32c_sse42(std::uint32_t state, std::byte const* p,
                                                                    std::size_t n) {
    static constexpr std::size_t run = 4096;
    static constexpr auto table = crc32c_table<4>(run - 4);
    struct at {
        [[gnu::target("sse4.2")]] static std::uint64_t next(std::uint64_t state, std::byte const* p) {
            unsigned long long word;
            std::memcpy(&word, p, 8);
            return __builtin_ia32_crc32di(state, word);
        }
        // The state x after a run of zero bytes.
        static std::uint64_t skip(std::uint64_t x) {
            return table[3][x & 0xFF] ^ table[2][x >> 8 & 0xFF] ^ table[1][x >> 16 & 0xFF] ^ table[0][x >> 24];
        }
    };
    std::uint64_t a = state;
    for (; n >= 3 * run; n -= 3 * run, p += 3 * run) {
        std::uint64_t b = 0, c = 0;
        for (std::size_t i = 0; i < run; i += 8) {
            a = at::next(a, p + i);
            b = at::next(b, p + run + i);
            c = at::next(c, p + 2 * run + i);
        }
        a = at::skip(at::skip(a) ^ b) ^ c;
    }
    for (; n >= 8; n -= 8, p += 8) a = at::next(a, p);
    return crc32c_portable(static_cast<std::uint32_t>(a), p, n);
}

// Folds 256 bytes at a time: multiplies them by x^2048 modulo the polynomial and XORs them with the next 256 bytes.
[[gnu::target("avx512f,vpclmulqdq,sse4.2")]] ROWAN_FUNCTION std::uint32_t crc32c_avx512(std::uint32_t state,
                                                                                        std::byte const* p,
                                                                                        std::size_t n) {
    static constexpr std::size_t block = 256;
    if (n < 2 * block) return crc32c_sse42(state, p, n);
    // The first 8 of each 16 bytes are 64 powers of x higher; a product of reflected factors is 33 powers too high.
    static constexpr std::uint32_t low = crc32c_power(8 * block + 64 - 33), high = crc32c_power(8 * block - 33);
    __m512i const factors = _mm512_set4_epi32(0, static_cast<int>(high), 0, static_cast<int>(low));
    __m512i a[4];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) a[i] = _mm512_loadu_si512(p + 64 * i);
    a[0] = _mm512_xor_si512(a[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
    for (n -= block, p += block; n >= block; n -= block, p += block) {
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) {
            a[i] = _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(a[i], factors, 0x00),
                                             _mm512_clmulepi64_epi128(a[i], factors, 0x11),
                                             _mm512_loadu_si512(p + 64 * i), 0x96);
        }
    }
    std::byte rest[block];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) _mm512_storeu_si512(rest + 64 * i, a[i]);
    return crc32c_sse42(crc32c_sse42(0, rest, block), p, n);
}

#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif
#endif

ROWAN_FUNCTION std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before) {
#ifdef ROWAN_CRC32C_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq"))
        return ~crc32c_avx512(~before, bytes.data(), bytes.size());
    if (__builtin_cpu_supports("sse4.2")) return ~crc32c_sse42(~before, bytes.data(), bytes.size());
#endif
    return ~crc32c_portable(~before, bytes.data(), bytes.size());
}

ROWAN_FUNCTION std::uint32_t crc32c(Cpu exec, std::span<std::byte const> bytes) {
    return crc32c_of_parts(exec, bytes.size(), [&](std::size_t begin, std::size_t end) {
        return crc32c(bytes.subspan(begin, end - begin));
    });
}

}  // namespace rowan::inline v0::detail

#endif
