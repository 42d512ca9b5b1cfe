// tests/dtypes/every_operator_bfloat16.cpp: every operator on floating-point numbers takes elements of 16 bits.
#include "every_operator.hpp"

TEST_CASE("every operator computes elements of 16 bits as doubles, and rounds them", "[dtypes]") {
    every_operator_of::check<rowan::bfloat16>(0x1p-6);
}
