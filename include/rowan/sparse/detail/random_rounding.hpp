// rowan/sparse/detail/random_rounding.hpp: RandomRounding, floats rounded to 16 bits by random numbers.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/detail/bit_cast.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/float16.hpp>

#include <algorithm>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Rounds by a random number of which the upper bits count that the type needs: away from zero if it and what would be
/// cut off reach one unit of the last place.
template <class P>
struct RandomRounding {
    static_assert(!element<P>, "rowan::StochasticRounding: param is a tensor of bfloat16 or float16");
};
template <>
struct RandomRounding<bfloat16> {
    static constexpr unsigned bits = 16;
    static bfloat16 round(float x, std::uint32_t random) noexcept {
        std::uint32_t const from = bit_cast<std::uint32_t>(x), size = from & 0x7FFFFFFFU;
        if (size >= 0x7F800000U) return bfloat16(x);
        std::uint32_t const to = std::min((size + random) >> 16, 0x7F7FU);
        return bfloat16::from_bits(static_cast<std::uint16_t>((from >> 16 & 0x8000U) | to));
    }
};
template <>
struct RandomRounding<float16> {
    static constexpr unsigned bits = 32;
    static float16 round(float x, std::uint32_t random) noexcept {
        std::uint32_t const from = bit_cast<std::uint32_t>(x), size = from & 0x7FFFFFFFU;
        if (size >= 0x7F800000U) return float16(x);
        // What is kept and cut off, shifted so that what is kept begins at bit 32. Below 2^-14 numbers are multiples of
        // 2^-24, and the leading bit is stored.
        bool const normal = size >= 0x38800000U;
        std::uint64_t const digits = normal ? size - 0x38000000U : (size & 0x007FFFFFU) | 0x00800000U;
        std::uint32_t const shift = normal ? 13 : std::min(126U - (size >> 23), 63U);
        std::uint64_t const to = std::min<std::uint64_t>(((digits << 32 >> shift) + random) >> 32, 0x7BFF);
        return float16::from_bits(static_cast<std::uint16_t>((from >> 16 & 0x8000U) | to));
    }
};

}  // namespace rowan::inline v0::detail
