// tests/core/bfloat16.cpp: bfloat16 against its definition, all 65536 of them.
#include <rowan/core/bfloat16.hpp>

#include "catch.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace test_bfloat16 {

using rowan::bfloat16;

namespace {

std::uint16_t rounded(std::uint32_t bits) { return bfloat16(std::bit_cast<float>(bits)).bits(); }

}  // namespace

TEST_CASE("every bfloat16 is the upper half of a float, and back", "[bfloat16]") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
        auto const x = bfloat16::from_bits(static_cast<std::uint16_t>(bits));
        float const wide = x;
        wrong += x.bits() != bits || std::bit_cast<std::uint32_t>(wide) != bits << 16;
        bool const nan = (bits & 0x7FFF) > 0x7F80;
        wrong += bfloat16(wide).bits() != (nan ? bits | 0x40 : bits);  // a NaN becomes quiet
    }
    CHECK(wrong == 0);
}

TEST_CASE("a float rounds to the nearest bfloat16, ties to even", "[bfloat16]") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
        if ((bits & 0x7FFF) >= 0x7F80) continue;  // the next of the largest is infinity
        std::uint32_t const low = bits << 16;
        wrong += rounded(low + 1) != bits || rounded(low + 0x7FFF) != bits;
        wrong += rounded(low + 0x8000) != bits + (bits & 1);
        wrong += rounded(low + 0x8001) != bits + 1 || rounded(low + 0xFFFF) != bits + 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a NaN stays a NaN, also one whose payload lies in the lower half", "[bfloat16]") {
    CHECK(rounded(0x7F800001) == 0x7FC0);
    CHECK(rounded(0xFF80FFFF) == 0xFFC0);
    CHECK(rounded(0xFFFFFFFF) == 0xFFFF);
    CHECK(std::isnan(float(bfloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("zeros, infinities, the largest float", "[bfloat16]") {
    CHECK(bfloat16(-0.0F).bits() == 0x8000);
    CHECK(bfloat16(-std::numeric_limits<float>::infinity()).bits() == 0xFF80);
    CHECK(bfloat16(std::numeric_limits<float>::max()).bits() == 0x7F80);
    CHECK(bfloat16(std::numeric_limits<float>::denorm_min()).bits() == 0);
    CHECK(bfloat16().bits() == 0);
}

}  // namespace test_bfloat16
