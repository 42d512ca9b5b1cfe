// tests/core/float16.cpp: float16 against its definition and the compiler's _Float16, all 65536 of them.
#include <rowan/core/float16.hpp>

#include "catch.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace test_float16 {

using rowan::float16;

namespace {

constexpr std::uint32_t infinity = 0x7C00;

// The definition: sign, 5 bits of exponent, 10 of fraction.
double value_of(std::uint32_t half) {
    int const exponent = static_cast<int>(half >> 10 & 31);
    double const fraction = half & 1023;
    double const size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000) != 0 ? -size : size;
}

std::uint16_t rounded(double x) { return float16(static_cast<float>(x)).bits(); }

}  // namespace

TEST_CASE("every float16 has the value of its definition, and that value rounds to it", "[float16]") {
    int wrong = 0;
    for (std::uint32_t half = 0; half <= 0xFFFF; ++half) {
        auto const x = float16::from_bits(static_cast<std::uint16_t>(half));
        float const wide = x;
        if ((half & 0x7FFF) > infinity) {
            wrong += !std::isnan(wide) || std::bit_cast<std::uint32_t>(wide) != ((half & 0x8000) << 16 | 0x7F800000 | (half & 0x3FF) << 13);
            wrong += float16(wide).bits() != (half | 0x200);  // a NaN becomes quiet
        } else if ((half & 0x7FFF) == infinity) {
            wrong += !std::isinf(wide) || std::signbit(wide) != (half > 0x8000) || float16(wide).bits() != half;
        } else {
            wrong += double{wide} != value_of(half) || std::signbit(wide) != (half >= 0x8000) || float16(wide).bits() != half;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a float rounds to the nearest float16, ties to even", "[float16]") {
    int wrong = 0;
    for (std::uint32_t half = 0; half < infinity; ++half) {
        double const low = value_of(half);
        double const high = half + 1 == infinity ? 65536 : value_of(half + 1);
        auto const middle = static_cast<float>((low + high) / 2);  // has 12 bits: exact
        std::uint32_t const even = half + (half & 1);
        for (std::uint32_t sign : {0x0000U, 0x8000U}) {
            float const side = sign == 0 ? 1.0F : -1.0F;
            wrong += rounded(side * middle) != (sign | even);
            wrong += rounded(side * std::nextafter(middle, 0.0F)) != (sign | half);
            wrong += rounded(side * std::nextafter(middle, 1e9F)) != (sign | (half + 1));
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("zeros, infinities, NaN, overflow and underflow", "[float16]") {
    using limits = std::numeric_limits<float>;
    CHECK(rounded(-0.0) == 0x8000);
    CHECK(rounded(limits::infinity()) == infinity);
    CHECK(rounded(65504) == 0x7BFF);
    CHECK(rounded(65519.996) == 0x7BFF);
    CHECK(rounded(65520) == infinity);
    CHECK(rounded(-1e30) == (0x8000 | infinity));
    CHECK(rounded(limits::max()) == infinity);
    CHECK(rounded(0x1p-25) == 0);
    CHECK(rounded(0x1.000002p-25) == 1);
    CHECK(rounded(limits::denorm_min()) == 0);
    CHECK(float16(std::bit_cast<float>(0xFF800001U)).bits() == 0xFE00);
    CHECK(float16().bits() == 0);
}

#ifdef __FLT16_MANT_DIG__
TEST_CASE("random floats of all sizes round as the compiler's _Float16 does", "[float16]") {
    __extension__ using half = _Float16;
    std::mt19937 random(1);
    int wrong = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        std::uint32_t const any = static_cast<std::uint32_t>(random());
        std::uint32_t const near = (any & 0x8FFFFFFF) | 0x30000000;  // exponents where float16 has its numbers
        for (std::uint32_t bits : {any, near}) {
            auto const x = std::bit_cast<float>(bits);
            wrong += float16(x).bits() != std::bit_cast<std::uint16_t>(static_cast<half>(x));
        }
    }
    CHECK(wrong == 0);
}
#endif

}  // namespace test_float16
