// tests/op/scale.cpp: factor · x + bias of tensors, factor · x of SelectedRows.
#include <rowan/op/elementwise/scale.hpp>

#include "inputs.hpp"
#include "reference.hpp"
#include "refused.hpp"

#include <cstdint>
#include <type_traits>

namespace test_scale {

using rowan::bfloat16, rowan::Cpu, rowan::scale_op, rowan::SelectedRows, rowan::selected_rows_spec, rowan::Tensor,
    rowan::tensor_spec, rowan::UNK, rowan::ValueError;

static_assert(scale_op::infer(tensor_spec<float>({UNK, 3}, 1), {2, 1}) == tensor_spec<float>({UNK, 3}, 1));
static_assert(scale_op::infer(selected_rows_spec<float>({UNK, 3}), {2, 0}) == selected_rows_spec<float>({UNK, 3}));
static_assert(rowan::gradient_operator<scale_op>::infer(selected_rows_spec<float>({UNK, 3}))[0] == selected_rows_spec<float>({UNK, 3}));

TEST_CASE("scale is factor · x + bias", "[op][golden]") {
    Tensor<float> const x{{1, 2}, {-3, 0.5}};
    CHECK((rowan::scale(x, 2) == Tensor<float>{{2, 4}, {-6, 1}}));
    CHECK((rowan::scale(x, -2, 0.5) == Tensor<float>{{-1.5, -3.5}, {6.5, -0.5}}));
    CHECK((rowan::scale(Tensor<std::int32_t>{1, -7}, 3, -1) == Tensor<std::int32_t>{2, -22}));
    CHECK((scale_op::run(Cpu{}, x, {}) == x));
}

TEST_CASE("the product of scale is rounded before the sum", "[op]") {
    double const a = 1 + 0x1p-30, factor = 1 - 0x1p-30;  // a · factor = 1 - 2^-60
    CHECK(rowan::scale(Tensor<double>{a}, factor, -1)(0) == 0);
    Tensor<double> const many = Tensor<double>::full({64}, a);
    CHECK((rowan::scale(many, factor, -1) == Tensor<double>::zeros({64})));
}

TEST_CASE("scale keeps SelectedRows sparse", "[op]") {
    SelectedRows<float> const g(9, {4, 4}, {{1, 2}, {3, 4}});
    auto const twice = scale_op::run(Cpu{}, g, {2, 0});
    static_assert(std::is_same_v<decltype(twice), SelectedRows<float> const>);
    CHECK(twice == SelectedRows<float>(9, {4, 4}, {{2, 4}, {6, 8}}));
    CHECK(scale_op::backward(Cpu{}, g, {2, 7}) == twice);
    SelectedRows<std::int64_t> const whole(9, {4}, Tensor<std::int64_t>{5});
    CHECK((scale_op::run(Cpu{}, whole, {-2, 0}).value() == Tensor<std::int64_t>{-10}));
}

TEST_CASE("scale of bfloat16 rounds once", "[op]") {
    auto const x = inputs::wild<bfloat16>({37}, 1), z = rowan::scale(x, 0.1, 0.5);
    for (std::size_t i = 0; i < 37; ++i) CHECK(z(i).bits() == bfloat16(reference::product(float(x(i)), 0.1F) + 0.5F).bits());
}

TEST_CASE("scale refuses fractions of integers, and a bias of SelectedRows", "[op][bad]") {
    Tensor<std::int32_t> const x{1, 2};
    SelectedRows<float> const g(9, {4}, Tensor<float>{1});
    SelectedRows<std::int64_t> const whole(9, {4}, Tensor<std::int64_t>{5});
    CHECK(test::refusal<ValueError>([&](Cpu e) { rowan::scale(e, x, 0.5); }, x) ==
          "factor is 0.5, expected a whole number, as the elements are integers");
    CHECK(test::refusal<ValueError>([&](Cpu e) { rowan::scale(e, x, 1, 0.25); }, x) ==
          "bias is 0.25, expected a whole number, as the elements are integers");
    CHECK(test::refusal<ValueError>([&](Cpu e) { scale_op::run(e, whole, {0.5, 0}); }, whole) ==
          "factor is 0.5, expected a whole number, as the elements are integers");
    std::string const bias = "bias is 1, expected 0 for a SelectedRows, whose absent rows stay 0";
    CHECK(test::refusal<ValueError>([&](Cpu e) { scale_op::run(e, g, {2, 1}); }, g) == bias);
    CHECK(test::refusal<ValueError>([] { scale_op::infer(selected_rows_spec<float>({2, 2}), {2, 1}); }) == bias);
}

}  // namespace test_scale
