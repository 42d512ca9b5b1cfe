// tests/op/sub.cpp: differences of two tensors.
#include <rowan/op/elementwise/sub.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cstdint>
#include <limits>

namespace test_sub {

using rowan::bfloat16, rowan::Cpu, rowan::negate_op, rowan::ShapeError, rowan::sub_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(sub_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK})) == tensor_spec<float>({4, 3}, 1));
static_assert(negate_op::infer(tensor_spec<double>({UNK})) == tensor_spec<double>({UNK}));

TEST_CASE("sub is the difference, element by element", "[op][golden]") {
    CHECK((rowan::sub(Tensor<float>{{11, 22}, {33, 44}}, Tensor<float>{{10, 20}, {30, 50}}) == Tensor<float>{{1, 2}, {3, -6}}));
    auto const least = std::numeric_limits<std::int64_t>::min();
    CHECK((rowan::sub(Tensor<std::int64_t>{least, 1}, Tensor<std::int64_t>{1, 2}) ==
           Tensor<std::int64_t>{std::numeric_limits<std::int64_t>::max(), -1}));
    CHECK((rowan::negate(Tensor<float>{1, -2}) == Tensor<float>{-1, 2}));
    CHECK((rowan::negate(Tensor<std::int64_t>{least, 1}) == Tensor<std::int64_t>{least, -1}));
}

TEST_CASE("sub of bfloat16 rounds the difference once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1), y = inputs::wild<bfloat16>({37}, 2), z = rowan::sub(x, y);
    for (std::size_t i = 0; i < 37; ++i) CHECK(z(i).bits() == bfloat16(float(x(i)) - float(y(i))).bits());
}

}  // namespace test_sub
