// rowan/io/detail/crc32c.hpp: CRC-32C, the checksum of rowan's files.
#pragma once

#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
#define ROWAN_CRC32C_X86
#endif

namespace rowan::inline v0::detail {

/// a * b modulo the polynomial of CRC-32C, bit-reflected: the highest bit is the coefficient of x^0.
constexpr std::uint32_t crc32c_product(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (; a != 0; a <<= 1) {
        if (a >> 31 != 0) product ^= b;
        b = (b >> 1) ^ ((b & 1) != 0 ? 0x82F63B78U : 0);
    }
    return product;
}

/// x^n modulo the polynomial.
constexpr std::uint32_t crc32c_power(std::uint64_t n) {
    std::uint32_t power = 0x40000000U, product = 0x80000000U;
    for (; n != 0; n >>= 1, power = crc32c_product(power, power)) {
        if ((n & 1) != 0) product = crc32c_product(product, power);
    }
    return product;
}

/// The factor x^(8n) by which n zero bytes multiply a state. n is reduced modulo the period of x, 2^31 - 1, so that 8n
/// does not overflow.
constexpr std::uint32_t crc32c_zeros(std::uint64_t n) { return crc32c_power(8 * (n % 0x7FFFFFFFU)); }

/// Updates a state (a checksum with inverted bits) with n bytes, on any processor.
ROWAN_IF_CALLED std::uint32_t crc32c_portable(std::uint32_t state, std::byte const* p, std::size_t n);

#ifdef ROWAN_CRC32C_X86
/// The same with the SSE4.2 instruction.
[[gnu::target("sse4.2")]] std::uint32_t crc32c_sse42(std::uint32_t state, std::byte const* p, std::size_t n);

/// The same with carry-less 64-bit products, eight at a time.
[[gnu::target("avx512f,vpclmulqdq,sse4.2")]] std::uint32_t crc32c_avx512(std::uint32_t state, std::byte const* p,
                                                                         std::size_t n);
#endif

/// The checksum of bytes whose own checksum is `before`, followed by `bytes`.
std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before = 0);

/// The checksum of n bytes, where part(begin, end) returns the checksum of a part; multi-threaded. The checksum of a
/// concatenation is that of the first part times crc32c_zeros(size of the second), XOR that of the second.
template <class Part>
std::uint32_t crc32c_of_parts(Cpu exec, std::uint64_t n, Part const& part) {
    static constexpr std::size_t size = std::size_t{256} << 10;  // small enough that a part stays in the cache
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(n / size + (n % size != 0)));
    parallel_for(exec, sums.size(), 32, [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k) sums[k] = part(k * size, std::min<std::uint64_t>(n, (k + 1) * size));
    });
    static constexpr std::uint32_t zeros = crc32c_zeros(size);
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < sums.size(); ++k) {
        bool const whole = k + 1 < sums.size();
        all = crc32c_product(all, whole ? zeros : crc32c_zeros(n - k * size)) ^ sums[k];
    }
    return all;
}

/// The same for bytes in memory.
std::uint32_t crc32c(Cpu exec, std::span<std::byte const> bytes);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/crc32c_inl.hpp>
