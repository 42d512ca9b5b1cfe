// tests/op/div.cpp: quotients of two tensors.
#include <rowan/op/elementwise/div.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"

#include <cmath>

namespace test_div {

using rowan::bfloat16, rowan::Cpu, rowan::div_op, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(div_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK})) == tensor_spec<float>({4, 3}, 1));

TEST_CASE("div is the quotient, element by element", "[op][golden]") {
    CHECK((rowan::div(Tensor<float>{{1, 2}, {3, -8}}, Tensor<float>{{2, 4}, {0, 3}}) == Tensor<float>{{0.5f, 0.5f}, {INFINITY, -8 / 3.f}}));
    CHECK(std::isnan(rowan::div(Tensor<float>{0}, Tensor<float>{0})(0)));
    CHECK((rowan::div_grad_y_op::run(Cpu{}, Tensor<float>{2, 1}, Tensor<float>{3, 5}, Tensor<float>{4, -1}) == Tensor<float>{-1.5f, 5}));
}

TEST_CASE("div has the same bits on any number of threads, and rounds bfloat16 once", "[op]") {
    auto const x = inputs::wild<float>({rowan::detail::serial_below + 77}, 3), y = inputs::wild<float>({rowan::detail::serial_below + 77}, 4);
    test::check_any_threads([&](Cpu exec) { return rowan::div(exec, x, y); });
    test::check_any_threads([&](Cpu exec) { return rowan::div_grad_y_op::run(exec, x, y, x); });
    auto const a = inputs::wild<bfloat16>({37}, 1), b = inputs::wild<bfloat16>({37}, 2), z = rowan::div(a, b);
    for (std::size_t i = 0; i < 37; ++i) CHECK(z(i).bits() == bfloat16(float(a(i)) / float(b(i))).bits());
}

}  // namespace test_div
