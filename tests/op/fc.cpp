// tests/op/fc.cpp
#include <rowan/op/matrix/fc.hpp>

#include "check_gradients.hpp"
#include "reference.hpp"
#include "refused.hpp"

namespace test_fc {

using rowan::Cpu, rowan::Tensor, rowan::fc_op, rowan::tensor_spec, rowan::UNK;

TEST_CASE("fc is the product plus the bias", "[op]") {
    Tensor<float> const x{{1, 2}, {3, 4}}, w{{1, 0, 1}, {0, 1, 1}}, b{10, 20, 30};
    CHECK((rowan::fc(x, w, b) == Tensor<float>{{11, 22, 33}, {13, 24, 37}}));
}

TEST_CASE("gradients of fc equal central differences", "[op]") {
    for (std::size_t const n : {0u, 1u, 3u}) {
        test::check_gradients<fc_op>(std::tuple(test::values({n, 4}, 1), test::values({4, 5}, 2), test::values({5}, 3)));
    }
    test::check_gradients<fc_op>(std::tuple(test::values({2, 0}, 1), test::values({0, 3}, 2), test::values({3}, 3)));
}

}  // namespace test_fc
