// rowan/detail/random.hpp: random numbers as a function of a seed and a position, independent of the number of threads.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstdint>

namespace rowan::inline v0::detail {

/// Mixes all bits of a number, or of each of several: the finaliser of splitmix64 (Steele, Lea, Flood: Fast Splittable
/// Pseudorandom Number Generators, 2014).
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE constexpr V mix_bits(V x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/// The difference of the numbers that are mixed.
inline constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15U;

/// Number i, counted from 1, of the splitmix64 sequence with this seed.
ROWAN_HD constexpr std::uint64_t bits_at(std::uint64_t seed, std::uint64_t i) {
    return mix_bits(seed + i * golden_step);
}

/// Number i, counted from 0, of the splitmix64 sequence with the mixed seed, scaled to [0, 1). A pure function.
ROWAN_HD constexpr double uniform_at(std::uint64_t seed, std::uint64_t i) {
    return static_cast<double>(bits_at(mix_bits(seed), i + 1) >> 11) * 0x1p-53;
}

}  // namespace rowan::inline v0::detail
