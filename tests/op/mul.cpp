// tests/op/mul.cpp: products of two tensors, element by element.
#include <rowan/op/elementwise/mul.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cstdint>
#include <limits>

namespace test_mul {

using rowan::bfloat16, rowan::Cpu, rowan::mul, rowan::mul_op, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec,
    rowan::UNK;

static_assert(mul_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK})) == tensor_spec<float>({4, 3}, 1));

TEST_CASE("mul is the product, element by element", "[op][golden]") {
    CHECK((mul(Tensor<float>{{1, 2}, {3, 4}}, Tensor<float>{{5, 6}, {7, -8}}) == Tensor<float>{{5, 12}, {21, -32}}));
    auto const most = std::numeric_limits<std::int64_t>::max();
    CHECK((mul(Tensor<std::int64_t>{most, -3}, Tensor<std::int64_t>{2, 2}) == Tensor<std::int64_t>{-2, -6}));
}

TEST_CASE("mul of bfloat16 rounds the product once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1), y = inputs::wild<bfloat16>({37}, 2), z = mul(x, y);
    for (std::size_t i = 0; i < 37; ++i) CHECK(z(i).bits() == bfloat16(float(x(i)) * float(y(i))).bits());
}

}  // namespace test_mul
