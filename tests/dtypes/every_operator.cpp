// tests/dtypes/every_operator.cpp: every operator on floating-point numbers takes elements of a type of your own.
#include "every_operator.hpp"

TEST_CASE("every operator computes elements of an own type as doubles, and rounds them", "[dtypes]") {
    every_operator_of::check<test::fixed>(0x1p-12);
}
