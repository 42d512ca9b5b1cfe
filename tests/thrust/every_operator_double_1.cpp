// tests/thrust/every_operator_double_1.cpp: the first half of the operators on elements of double, on a device.
#include "every_operator.hpp"

TEST_CASE("the first half of the operators on double does on a device what it does on Cpu", "[thrust][op]") {
    every_operator_on_device::ask<double>(every_operator_on_device::Part<0>{});
}
