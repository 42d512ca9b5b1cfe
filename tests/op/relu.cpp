// tests/op/relu.cpp: max(x, 0), and its gradient from the result.
#include <rowan/op/elementwise/relu.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace test_relu {

using rowan::bfloat16, rowan::relu_op, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(relu_op::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<float>({UNK, 3}, 1));
static_assert(rowan::gradient_operator<relu_op>::infer(tensor_spec<float>({UNK, 3}), tensor_spec<float>({4, UNK}))[0] == tensor_spec<float>({4, UNK}));

TEST_CASE("relu is the positive part", "[op][golden]") {
    CHECK((rowan::relu(Tensor<float>{{-1, 2, 0}, {0.5, -0.25, 7}}) == Tensor<float>{{0, 2, 0}, {0.5, 0, 7}}));
    CHECK((rowan::relu(Tensor<std::int32_t>{-7, 7, 0}) == Tensor<std::int32_t>{0, 7, 0}));
    CHECK((rowan::relu_op::backward(rowan::Cpu{}, Tensor<float>{0, 2, 0.5}, Tensor<float>{4, -16, 3}) == Tensor<float>{0, -16, 3}));
}

TEST_CASE("relu keeps an infinity and a NaN", "[op]") {
    double const inf = std::numeric_limits<double>::infinity();
    auto const y = rowan::relu(Tensor<double>{inf, -inf, std::nan("")});
    CHECK((y(0) == inf && y(1) == 0));
    CHECK(std::isnan(y(2)));
}

TEST_CASE("relu of bfloat16", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1);
    auto const y = rowan::relu(x), g = rowan::relu_op::backward(rowan::Cpu{}, y, x);
    for (std::size_t i = 0; i < 37; ++i) {
        CHECK(y(i).bits() == (x(i) > 0 ? x(i) : bfloat16(0.F)).bits());
        CHECK(g(i).bits() == y(i).bits());
    }
}

}  // namespace test_relu
