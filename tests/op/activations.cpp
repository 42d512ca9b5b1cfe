// tests/op/activations.cpp: activation functions and their gradients against the formulas.
#include <rowan/op/elementwise/exp.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/pow.hpp>
#include <rowan/op/elementwise/relu.hpp>
#include <rowan/op/elementwise/rounding.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/elementwise/sin.hpp>
#include <rowan/op/elementwise/softplus.hpp>
#include <rowan/op/elementwise/tanh.hpp>

#include "check_unary.hpp"

namespace test_activations {

using rowan::Cpu, rowan::Tensor;
using test::check_unary;
using Real = long double;

TEST_CASE("piecewise linear activations equal their formulas", "[op][golden]") {
    check_unary<rowan::relu6_op>(0, -3.0, 9.0, [](Real x) { return std::min(std::max(x, 0.0L), 6.0L); });
    check_unary<rowan::hardtanh_op>(0, -5.0, 5.0, [](Real x) { return std::min(std::max(x, -1.0L), 3.0L); }, {.min = -1, .max = 3});
    check_unary<rowan::leaky_relu_op>(1, -5.0, 5.0, [](Real x) { return x > 0 ? x : x * -0.25L; }, {.alpha = -0.25});
    check_unary<rowan::hard_sigmoid_op>(1e4, -5.0, 5.0, [](Real x) { return std::min(std::max(x * 0.2L + 0.5L, 0.0L), 1.0L); });
    check_unary<rowan::hard_swish_op>(1e4, -5.0, 5.0, [](Real x) { return x * std::min(std::max(x + 3, 0.0L), 6.0L) / 6; });
    check_unary<rowan::thresholded_relu_op>(0, -5.0, 5.0, [](Real x) { return x > 2 ? x : 0; }, {.threshold = 2});
}

TEST_CASE("smooth activations equal their formulas, up to rounding", "[op][golden]") {
    auto const elu = [](Real x) { return x > 0 ? x : 1.5L * std::expm1(x); };
    check_unary<rowan::elu_op>(3, -9.0, 9.0, elu, {.alpha = 1.5});
    check_unary<rowan::elu_op>(3, -9.F, 9.F, elu, {.alpha = 1.5});
    auto const gelu = [](Real x) { return x / 2 * std::erfc(-x * std::sqrt(0.5L)); };
    check_unary<rowan::gelu_op>(12, -30.0, 9.0, gelu);
    check_unary<rowan::gelu_op>(12, -12.F, 9.F, gelu);
    auto const tanh_gelu = [](Real x) { return x / 2 * (1 + std::tanh(0.79788456080286535588L * (x + 0.044715L * x * x * x))); };
    check_unary<rowan::gelu_op>(40, -3.0, 9.0, tanh_gelu, {.approximate = true});
    auto const swish = [](Real x) { return x / (1 + std::exp(-1.5L * x)); };
    check_unary<rowan::swish_op>(30, -20.0, 20.0, swish, {.beta = 1.5});
    check_unary<rowan::swish_op>(30, -20.F, 20.F, swish, {.beta = 1.5});
    auto const softplus = [](Real x) { return std::max(x, 0.0L) + std::log1p(std::exp(-2 * std::abs(x))) / 2; };
    check_unary<rowan::softplus_op>(5, -20.0, 20.0, softplus, {.beta = 2});
    check_unary<rowan::softplus_op>(5, -20.F, 20.F, softplus, {.beta = 2});
    check_unary<rowan::softsign_op>(2, -9.0, 9.0, [](Real x) { return x / (1 + std::abs(x)); });
    check_unary<rowan::stanh_op>(8, -9.0, 9.0, [](Real x) { return 1.7159L * std::tanh(0.67L * x); });
}

TEST_CASE("activations of large numbers neither overflow nor lose a NaN", "[op]") {
    Tensor<float> const x{-1e30F, 1e30F, NAN};
    auto const check = [&]<class Op>(Op, float low, float high) {
        INFO(Op::name);
        auto const y = Op::run(Cpu{}, x);
        CHECK((y(0) == low && y(1) == high && std::isnan(y(2))));
    };
    check(rowan::relu6_op{}, 0, 6);
    check(rowan::hardtanh_op{}, 0, 24);
    check(rowan::leaky_relu_op{}, -1e28F, 1e30F);
    check(rowan::elu_op{}, -1, 1e30F);
    check(rowan::gelu_op{}, 0, 1e30F);
    check(rowan::swish_op{}, 0, 1e30F);
    check(rowan::softplus_op{}, 0, 1e30F);
    check(rowan::softsign_op{}, -1, 1);
    check(rowan::hard_sigmoid_op{}, 0, 1);
    check(rowan::hard_swish_op{}, 0, 1e30F);
    check(rowan::stanh_op{}, -1.7159F, 1.7159F);
    check(rowan::thresholded_relu_op{}, 0, 1e30F);
}

}  // namespace test_activations
