// rowan/core/float16.hpp: float16, IEEE 754 binary16.
#pragma once

#include <rowan/core/detail/bit_cast.hpp>
#include <rowan/core/detail/config.hpp>

#include <cstdint>

namespace rowan::inline v0 {

/// A storage type with 5 exponent and 10 fraction bits, largest finite value 65504; arithmetic is done in float.
/// Conversion from float rounds to nearest, ties to even; values that are too large become infinite, a NaN stays a NaN.
class float16 {
public:
    float16() = default;  ///< zero
    /// Rounds to nearest, ties to even.
    ROWAN_HD constexpr explicit float16(float x) noexcept : bits_(narrow(x)) {}
    /// Exact conversion.
    ROWAN_HD constexpr operator float() const noexcept { return widen(bits_); }

    /// The number with this bit pattern.
    ROWAN_HD static constexpr float16 from_bits(std::uint16_t bits) noexcept {
        float16 x;
        x.bits_ = bits;
        return x;
    }
    ROWAN_HD constexpr std::uint16_t bits() const noexcept { return bits_; }  ///< the bit pattern

private:
    // Both directions branch only on the class of the number. Subnormals are rounded by a float addition: in the sum
    // with 0.5 only the bits that fit remain, rounded to nearest, ties to even.
    ROWAN_HD static constexpr std::uint16_t narrow(float value) noexcept {
        std::uint32_t const bits = detail::bit_cast<std::uint32_t>(value);
        std::uint32_t const sign = (bits >> 16) & 0x8000U;
        std::uint32_t const size = bits & 0x7FFFFFFFU;
        std::uint32_t half = 0;
        if (size > 0x7F800000U) {
            half = 0x7E00U | (size >> 13 & 0x3FFU);  // NaN
        } else if (size >= 0x47800000U) {
            half = 0x7C00U;  // 2^16 and above
        } else if (size < 0x38800000U) {
            half = detail::bit_cast<std::uint32_t>(detail::bit_cast<float>(size) + 0.5F) - 0x3F000000U;  // below 2^-14
        } else {
            half = (size + 0xC8000FFFU + (size >> 13 & 1U)) >> 13;  // the carry into infinity is correct
        }
        return static_cast<std::uint16_t>(sign | half);
    }

    ROWAN_HD static constexpr float widen(std::uint16_t half) noexcept {
        std::uint32_t const sign = std::uint32_t{half & 0x8000U} << 16;
        std::uint32_t const size = half & 0x7FFFU;
        std::uint32_t bits = 0;
        if (size >= 0x7C00U) {
            bits = 0x7F800000U | (size & 0x3FFU) << 13;
        } else if (size >= 0x0400U) {
            bits = (size << 13) + 0x38000000U;
        } else {
            bits = detail::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24F);
        }
        return detail::bit_cast<float>(sign | bits);
    }

    std::uint16_t bits_ = 0;
};

}  // namespace rowan::inline v0
