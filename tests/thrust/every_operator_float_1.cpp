// tests/thrust/every_operator_float_1.cpp: the first half of the operators on elements of float, on a device.
#include "every_operator.hpp"

TEST_CASE("the first half of the operators on float does on a device what it does on Cpu", "[thrust][op]") {
    every_operator_on_device::ask<float>(every_operator_on_device::Part<0>{});
}
