// tests/op/fc.cpp
#include <rowan/op/matrix/fc.hpp>

#include "catch.hpp"
#include "reference.hpp"

namespace test_fc {

using rowan::Cpu, rowan::Tensor, rowan::fc_op, rowan::tensor_spec, rowan::UNK;

TEST_CASE("fc is the product plus the bias", "[op]") {
    Tensor<float> const x{{1, 2}, {3, 4}}, w{{1, 0, 1}, {0, 1, 1}}, b{10, 20, 30};
    CHECK((rowan::fc(x, w, b) == Tensor<float>{{11, 22, 33}, {13, 24, 37}}));
}

}  // namespace test_fc
