// tests/core/device.cpp: Cpu as a tag and as an execution.
#include <rowan/core/device.hpp>

#include "catch.hpp"

namespace test_device {

TEST_CASE("Cpu takes all threads unless told otherwise", "[device]") {
    CHECK(rowan::Cpu{}.threads == 0);
    CHECK(rowan::Cpu{.threads = 3}.threads == 3);
}

TEST_CASE("Cpu is a device, other types are not", "[device]") {
    CHECK(rowan::device<rowan::Cpu>);
    CHECK(!rowan::device<int>);
    CHECK(!rowan::device<rowan::Cpu const&>);
}

}  // namespace test_device
