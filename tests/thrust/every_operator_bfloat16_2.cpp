// tests/thrust/every_operator_bfloat16_2.cpp: the second half of the operators on elements of bfloat16, on a device.
#include "every_operator.hpp"

TEST_CASE("the second half of the operators on bfloat16 does on a device what it does on Cpu", "[thrust][op]") {
    every_operator_on_device::ask<rowan::bfloat16, 1>();
}
