// tests/thrust/bad_inputs.cpp: bad inputs give the errors of Cpu on Thrust's systems.
#include <rowan/thrust.hpp>

#include "devices.hpp"

#include "bad_inputs.hpp"

namespace test_bad_inputs {

TEMPLATE_TEST_CASE("bad inputs of sparse, sequence and op have the errors of Cpu on a device, and nothing changes", "[thrust][bad_input]", ROWAN_TEST_DEVICES) {
    bad_inputs::check(TestType{}, bad_inputs::sparse_calls<TestType>());
    bad_inputs::check(TestType{}, bad_inputs::sequence_calls<TestType>());
    bad_inputs::check(TestType{}, bad_inputs::op_calls<TestType>());
}

}  // namespace test_bad_inputs
