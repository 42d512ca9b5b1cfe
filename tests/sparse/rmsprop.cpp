// tests/sparse/rmsprop.cpp: RMSProp, plain and centered, epsilon inside the root.
#include <rowan/sparse/rmsprop.hpp>

#include "steps.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace test_rmsprop {

using reference::product;
using rowan::bfloat16, rowan::rmsprop, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr rowan::RmsPropOptions options{.learning_rate = 0.05, .rho = 0.8, .momentum = 0.3, .epsilon = 1e-2};

template <class S>
S average(S mean, S x) {
    return product(static_cast<S>(options.rho), mean) + product(static_cast<S>(1 - options.rho), x);
}

template <class S>
void move(S g, S variance, S& p, S& v) {
    S const root = std::sqrt(variance + static_cast<S>(options.epsilon));
    v = product(static_cast<S>(options.momentum), v) + product(static_cast<S>(options.learning_rate), g) / root;
    p -= v;
}

auto const step = [](auto&&... x) { rmsprop(x..., options); };
auto const plain = [](auto g, auto& p, auto& square, auto& v) {
    square = average(square, product(g, g));
    move(g, square, p, v);
};
auto const centered = [](auto g, auto& p, auto& square, auto& mean, auto& v) {
    square = average(square, product(g, g));
    mean = average(mean, g);
    move(g, square - product(mean, mean), p, v);
};

}  // namespace

TEST_CASE("all rows in the gradient move, in any order, and epsilon is inside the root", "[rmsprop][golden]") {
    auto param = Tensor<float>::zeros({4, 1});
    auto square = param;
    auto velocity = param;
    rmsprop(param, square, velocity, SelectedRows<float>(4, {3, 1, 0}, {{1}, {1}, {1}}), {.learning_rate = 0.1});
    for (std::size_t row : std::vector<std::size_t>{0, 1, 3}) CHECK(std::abs(param(row, 0) + 0.3162262) < 1e-6);
    CHECK((param(2, 0) == 0 && square(2, 0) == 0 && velocity(2, 0) == 0));
}

TEST_CASE("the centered form divides by the root of the variance", "[rmsprop]") {
    Tensor<float> param{{1}};
    Tensor<float> square{{2}};
    Tensor<float> mean{{1}};
    Tensor<float> velocity{{0}};
    rmsprop(param, square, mean, velocity, SelectedRows<float>(1, {0}, {{2}}), {.learning_rate = 1, .rho = 0.5, .epsilon = 0.25});
    CHECK((square(0, 0) == 3 && mean(0, 0) == 1.5F && velocity(0, 0) == 2 && param(0, 0) == -1));
}

TEST_CASE("the variance of centered rmsprop is never less than 0, and NaN remains", "[rmsprop]") {
    auto param = Tensor<float>::zeros({1, 191});
    auto square = param, mean = param, velocity = param, grad = param;
    for (std::size_t i = 0; i < 190; ++i) grad(0, i) = static_cast<float>(10 + i);
    grad(0, 190) = std::nanf("");
    for (int step_number = 0; step_number < 200; ++step_number) rmsprop(param, square, mean, velocity, grad);
    for (std::size_t i = 0; i < 191; ++i) CHECK(std::isfinite(param(0, i)) == (i < 190));
}

TEST_CASE("rmsprop has the bits of its formula", "[rmsprop]") {
    reference::check_step<float, float, float, float>(step, plain);
    reference::check_step<double, double, double, double>(step, plain);
}

TEST_CASE("centered rmsprop has the bits of its formula", "[rmsprop]") {
    reference::check_step<float, float, float, float, float>(step, centered);
    reference::check_step<double, double, double, double, double>(step, centered);
}

TEST_CASE("table, states and gradient of rmsprop may differ in type", "[rmsprop][mixed]") {
    reference::check_step<float, bfloat16, float, float>(step, plain);
    reference::check_step<bfloat16, float, float, double, float>(step, centered);
}

TEST_CASE("float results of rmsprop stay close to double", "[rmsprop]") {
    Tensor<float> param{{0.5F}};
    Tensor<float> square{{0}};
    Tensor<float> mean{{0}};
    Tensor<float> velocity{{0}};
    double p = 0.5;
    double s = 0;
    double m = 0;
    double v = 0;
    for (int t = 1; t <= 50; ++t) {
        double const g = std::sin(t);
        rmsprop(param, square, mean, velocity, SelectedRows<double>(1, {0}, {{g}}), {.learning_rate = 0.01, .momentum = 0.5});
        s = 0.9 * s + 0.1 * g * g;
        m = 0.9 * m + 0.1 * g;
        v = 0.5 * v + 0.01 * g / std::sqrt(s - m * m + 1e-6);
        p -= v;
    }
    CHECK(std::abs(param(0, 0) - p) < 1e-5);
    CHECK(std::abs(velocity(0, 0) - v) < 1e-5);
}

TEST_CASE("averages of other rows do not decay; a gradient without rows changes nothing", "[rmsprop]") {
    Tensor<float> param{{1}, {1}};
    Tensor<float> square{{1}, {1}};
    Tensor<float> velocity{{1}, {1}};
    rmsprop(param, square, velocity, SelectedRows<float>(2, {1}, {{0}}), {.learning_rate = 1, .rho = 0.5});
    CHECK((param == Tensor<float>{{1}, {1}} && square == Tensor<float>{{1}, {0.5F}} && velocity == Tensor<float>{{1}, {0}}));
    rmsprop(param, square, velocity, SelectedRows<float>(2, {}, Tensor<float>::from_shape({0, 1})));
    CHECK((param == Tensor<float>{{1}, {1}} && square == Tensor<float>{{1}, {0.5F}} && velocity == Tensor<float>{{1}, {0}}));
}

TEST_CASE("rows in the gradient take rmsprop's dense step, others keep their bits", "[rmsprop][property]") {
    reference::check_lazy<float, float>(step);
    reference::check_lazy<float, float, float>(step);
}

}  // namespace test_rmsprop
