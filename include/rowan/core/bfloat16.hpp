// rowan/core/bfloat16.hpp: bfloat16, the upper half of a float.
#pragma once

#include <rowan/core/detail/bit_cast.hpp>
#include <rowan/core/detail/config.hpp>

#include <cstdint>

namespace rowan::inline v0 {

/// A storage type with 8 exponent and 7 fraction bits, the range of float in two bytes; arithmetic is done in float.
/// Conversion from float rounds to nearest, ties to even; a NaN becomes quiet, and keeps its sign and upper payload.
class bfloat16 {
public:
    bfloat16() = default;  ///< zero
    /// Rounds to nearest, ties to even.
    ROWAN_HD constexpr explicit bfloat16(float x) noexcept : bits_(round(detail::bit_cast<std::uint32_t>(x))) {}
    /// Exact conversion.
    ROWAN_HD constexpr operator float() const noexcept { return detail::bit_cast<float>(std::uint32_t{bits_} << 16); }

    /// The number with this bit pattern.
    ROWAN_HD static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
        bfloat16 x;
        x.bits_ = bits;
        return x;
    }
    ROWAN_HD constexpr std::uint16_t bits() const noexcept { return bits_; }  ///< the bit pattern

private:
    ROWAN_HD static constexpr std::uint16_t round(std::uint32_t x) noexcept {
        std::uint32_t const nan = (x | 0x00400000U) >> 16;
        std::uint32_t const near = (x + 0x7FFFU + ((x >> 16) & 1U)) >> 16;
        return static_cast<std::uint16_t>((x & 0x7FFFFFFFU) > 0x7F800000U ? nan : near);
    }

    std::uint16_t bits_ = 0;
};

}  // namespace rowan::inline v0
