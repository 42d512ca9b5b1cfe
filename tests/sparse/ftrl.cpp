// tests/sparse/ftrl.cpp: FTRL-proximal, for the root and for other powers.
#include <rowan/sparse/ftrl.hpp>

#include "steps.hpp"

#include <cmath>
#include <cstdint>

namespace test_ftrl {

using reference::product;
using rowan::bfloat16, rowan::ftrl, rowan::FtrlOptions, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr FtrlOptions root{.learning_rate = 0.05, .l1 = 0.3, .l2 = 0.2};
constexpr FtrlOptions power{.learning_rate = 0.05, .l1 = 0.3, .l2 = 0.2, .lr_power = -0.3};

auto step(FtrlOptions const& options) {
    return [options](auto&&... x) { ftrl(x..., options); };
}

auto formula(FtrlOptions const& options) {
    return [options](auto g, auto& p, auto& s, auto& l) {
        using S = decltype(g);
        auto const constant = [](double x) { return static_cast<S>(x); };
        auto const grown = [&](S x) { return options.lr_power == -0.5 ? std::sqrt(x) : std::pow(x, constant(-options.lr_power)); };
        S const l1 = constant(options.l1 + 1e-10);
        S const rate = constant(options.learning_rate);
        S const n = s + product(g, g);
        l = l + g - product((grown(n) - grown(s)) / rate, p);
        S const y = grown(n) / rate + constant(2 * (options.l2 + 1e-10));
        p = std::abs(l) > l1 ? (l > 0 ? l1 - l : -l1 - l) / y : S{0};
        s = n;
    };
}

}  // namespace

TEST_CASE("a step by hand: weights are 0 until the linear state exceeds l1", "[ftrl]") {
    Tensor<double> param{{0.5}, {0.5}, {0.5}};
    Tensor<double> squared{{9}, {9}, {9}};
    Tensor<double> linear{{1}, {-7}, {1}};
    ftrl(param, squared, linear, SelectedRows<double>(3, {0, 1, 0}, {{1}, {4}, {3}}), {.learning_rate = 0.5, .l1 = 3.5, .l2 = 1});
    // n = 25, sigma = (5 - 3) / 0.5 = 4; linear = 1 + 4 - 2 = 3, and -7 + 4 - 2 = -5; weight (5 - 3.5) / (5 / 0.5 + 2)
    CHECK((squared == Tensor<double>{{25}, {25}, {9}}));
    CHECK((linear == Tensor<double>{{3}, {-5}, {1}}));
    CHECK((param(0, 0) == 0 && param(2, 0) == 0.5));
    CHECK(std::abs(param(1, 0) - 0.125) < 1e-9);
}

TEST_CASE("ftrl makes NaN of a NaN gradient, not 0", "[ftrl]") {
    auto param = Tensor<float>::zeros({1, 2});
    auto square = param, linear = param;
    ftrl(param, square, linear, Tensor<float>{{std::nanf(""), 0.5F}}, {.l1 = 1});
    CHECK((std::isnan(param(0, 0)) && param(0, 1) == 0));
}

TEST_CASE("ftrl has the bits of its formula, with the root", "[ftrl]") {
    reference::check_step<float, float, float, float>(step(root), formula(root));
    reference::check_step<double, double, double, double>(step(root), formula(root));
}

TEST_CASE("ftrl has the bits of its formula, with another power", "[ftrl]") {
    reference::check_step<float, float, float, float>(step(power), formula(power));
    reference::check_step<double, double, double, double>(step(power), formula(power));
}

TEST_CASE("table, states and gradient of ftrl may differ in type", "[ftrl][mixed]") {
    reference::check_step<float, bfloat16, float, float>(step(root), formula(root));
    reference::check_step<bfloat16, float, double, float>(step(power), formula(power));
}

TEST_CASE("float results of ftrl stay close to double", "[ftrl]") {
    for (double const q : {-0.5, -0.3}) {
        FtrlOptions const options{.learning_rate = 0.1, .l1 = 0.01, .l2 = 0.1, .lr_power = q};
        Tensor<float> param{{0.1F}};
        Tensor<float> squared{{0.1F}};
        Tensor<float> linear{{0}};
        double p = 0.1;
        double s = 0.1;
        double l = 0;
        for (int t = 1; t <= 50; ++t) {
            double const g = std::sin(t) + 0.2;
            ftrl(param, squared, linear, SelectedRows<double>(1, {0}, {{g}}), options);
            double const n = s + g * g;
            l += g - (std::pow(n, -q) - std::pow(s, -q)) / 0.1 * p;
            p = std::abs(l) > 0.01 ? (std::copysign(0.01, l) - l) / (std::pow(n, -q) / 0.1 + 2 * 0.1) : 0;
            s = n;
        }
        CHECK(std::abs(param(0, 0) - p) < 1e-5);
        CHECK(std::abs(linear(0, 0) - l) < 1e-4);
    }
}

TEST_CASE("a gradient without rows changes neither param nor states of ftrl", "[ftrl]") {
    auto const before = inputs::state<float>({4, 2}, 1);
    auto param = before;
    auto squared = before;
    auto linear = before;
    ftrl(param, squared, linear, SelectedRows<float>(4, {}, Tensor<float>::from_shape({0, 2})));
    CHECK((reference::same(param, before) && reference::same(squared, before) && reference::same(linear, before)));
}

TEST_CASE("rows in the gradient take ftrl's dense step, others keep their bits", "[ftrl][property]") {
    reference::check_lazy<float, float>(step(root));
    reference::check_lazy<float, float>(step(power));
}

}  // namespace test_ftrl
