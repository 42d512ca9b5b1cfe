// tests/op/softmax.cpp: rows as probabilities, and the gradient from the result.
#include <rowan/op/norm/softmax.hpp>

#include "../dtypes/own_types.hpp"
#include "any_threads.hpp"
#include "inputs.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace test_softmax {

using rowan::bfloat16, rowan::Cpu, rowan::ShapeError, rowan::softmax, rowan::softmax_grad, rowan::softmax_grad_op, rowan::softmax_op,
    rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(softmax_op::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<float>({UNK, 3}, 1));
static_assert(softmax_grad_op::infer(tensor_spec<float>({UNK, 3}), tensor_spec<float>({4, UNK})) == tensor_spec<float>({4, 3}));
static_assert(softmax_op::infer(tensor_spec<float>({UNK}, 1), {.axis = 0}) == tensor_spec<float>({UNK}, 1));
// Rows are independent along any axis but 0.
static_assert(softmax_op::row_inputs(tensor_spec<float>({UNK, 3})) == 0b1 && softmax_op::row_inputs(tensor_spec<float>({UNK, 3, 2}), {.axis = -2}) == 0b1);
static_assert(softmax_op::row_inputs(tensor_spec<float>({UNK, 3}), {.axis = -2}) == 0 && softmax_op::row_inputs(tensor_spec<float>({UNK, 3}), {.axis = 0}) == 0);
static_assert(softmax_grad_op::row_inputs(tensor_spec<float>({UNK, 3}), tensor_spec<float>({UNK, 3})) == 0b11);
static_assert(softmax_grad_op::row_inputs(tensor_spec<float>({UNK, 3}), tensor_spec<float>({UNK, 3}), {.axis = 0}) == 0);

TEST_CASE("softmax turns rows into probabilities", "[op][golden]") {
    CHECK((softmax(Tensor<float>{{5, 5, 5, 5}, {0, 90, 90, -20}}) == Tensor<float>{{0.25, 0.25, 0.25, 0.25}, {0, 0.5, 0.5, 0}}));
    for (std::size_t const classes : std::vector<std::size_t>{1, 2, 15, 16, 17, 100}) {
        auto const x = test::values({3, classes}, classes), y = softmax(x);
        for (std::size_t i = 0; i < 3; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < classes; ++k) sum += std::exp(x(i, k));
            for (std::size_t k = 0; k < classes; ++k) CHECK(std::abs(y(i, k) - std::exp(x(i, k)) / sum) <= 1e-15);
        }
    }
    // dot 0.25 * 4 + 0.5 * 2 = 2
    CHECK((softmax_grad(Tensor<double>{{0.25, 0.25, 0.5}}, Tensor<double>{{4, 0, 2}}) == Tensor<double>{{0.5, -0.5, 0}}));
}

TEST_CASE("softmax does not overflow; a NaN affects its row only", "[op]") {
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    auto const y = softmax(Tensor<double>{{1e308, 1e308, -inf}, {1, nan, 2}, {nan, 1, 2}, {inf, 1, 2}, {-inf, -inf, -inf}, {-1e308, 0, -inf}});
    CHECK((y(0, 0) == 0.5 && y(0, 1) == 0.5 && y(0, 2) == 0));
    for (std::size_t i = 1; i < 5; ++i) {
        for (std::size_t k = 0; k < 3; ++k) CHECK(std::isnan(y(i, k)));
    }
    CHECK((y(5, 0) == 0 && y(5, 1) == 1 && y(5, 2) == 0));
}

TEST_CASE("softmax of bfloat16 is computed in float and narrowed once; custom types provide exp", "[op]") {
    auto const x = inputs::wild<bfloat16>({3, 37}, 1);
    auto wide = Tensor<float>::from_shape({3, 37});
    std::copy(x.data(), x.data() + x.size(), wide.data());
    auto const want = softmax(wide);
    auto const y = softmax(x);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(y.data()[i].bits() == bfloat16(want.data()[i]).bits());
    Tensor<test::fixed> const same{{test::fixed{65536}, test::fixed{65536}}};
    CHECK(softmax(same)(0, 1).raw == 32768);
    CHECK(softmax_grad(same, same)(0, 0).raw == -65536);
}

TEST_CASE("softmax has the same bits on any number of threads", "[op]") {
    for (std::size_t const classes : std::vector<std::size_t>{1, 37, 300'000}) {
        auto const x = inputs::wild<float>({rowan::detail::serial_below / classes + 3, classes}, 3), y = softmax(x);
        test::check_any_threads([&](Cpu exec) { return softmax(exec, x); });
        test::check_any_threads([&](Cpu exec) { return softmax_grad(exec, y, x); });
    }
}

TEST_CASE("softmax along any axis is that of rows, in another order", "[op]") {
    auto const x = test::values({2, 3, 4, 5}, 1), g = test::values({2, 3, 4, 5}, 2);
    for (std::int64_t axis = -4; axis < 4; ++axis) {
        auto const y = softmax(x, {.axis = axis}), x_grad = softmax_grad(y, g, {.axis = axis});
        std::size_t const at = static_cast<std::size_t>(axis < 0 ? axis + 4 : axis), n = x.shape(at);
        std::size_t const inner = rowan::detail::product_from(x.shape(), at + 1);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (i / inner % n != 0) continue;  // the first of its row
            auto row = Tensor<double>::from_shape({1, n}), out = row, grad = row;
            for (std::size_t k = 0; k < n; ++k) {
                row(0, k) = x.data()[i + k * inner];
                out(0, k) = y.data()[i + k * inner];
                grad(0, k) = g.data()[i + k * inner];
            }
            auto const want = softmax(row), slope = softmax_grad(out, grad);
            for (std::size_t k = 0; k < n; ++k) REQUIRE((y.data()[i + k * inner] == want(0, k) && x_grad.data()[i + k * inner] == slope(0, k)));
        }
    }
    for (std::size_t const inner : {16u, 64u, 67u, 130u}) {
        auto const wide = inputs::wild<float>({3, 37, inner}, inner), want = rowan::transpose(softmax(rowan::transpose(wide, {{0, 2, 1}})), {{0, 2, 1}});
        CHECK((softmax(wide, {.axis = 1}) == want));
    }
    auto const many = inputs::wild<float>({rowan::detail::serial_below / 700, 7, 100}, 5);
    test::check_any_threads([&](Cpu exec) { return softmax(exec, many, {.axis = 1}); });
    CHECK((softmax(Tensor<float>{5, 5, 5, 5}) == Tensor<float>{0.25, 0.25, 0.25, 0.25}));
    CHECK(softmax(Tensor<float>::zeros({0, 3, 2}), {.axis = 0}).shape() == Tensor<float>::shape_type{0, 3, 2});
}

}  // namespace test_softmax
