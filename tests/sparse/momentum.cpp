// tests/sparse/momentum.cpp: gradient descent with a velocity, lazy.
#include <rowan/sparse/momentum.hpp>

#include "steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace test_momentum {

using reference::product;
using rowan::bfloat16, rowan::momentum, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr rowan::MomentumOptions plain{.learning_rate = 0.05, .momentum = 0.7};
constexpr rowan::MomentumOptions decayed{.learning_rate = 0.05, .momentum = 0.7, .weight_decay = 0.01};
constexpr rowan::MomentumOptions nesterov{.learning_rate = 0.05, .momentum = 0.7, .nesterov = true, .weight_decay = 0.01};

auto step(rowan::MomentumOptions const& options) {
    return [options](auto&&... x) { momentum(x..., options); };
}

auto formula(rowan::MomentumOptions const& options) {
    return [options](auto g, auto& p, auto& v) {
        using S = decltype(g);
        auto const mu = static_cast<S>(options.momentum);
        if (options.weight_decay != 0) g += product(static_cast<S>(options.weight_decay), p);
        v = product(mu, v) + g;
        p -= product(static_cast<S>(options.learning_rate), options.nesterov ? g + product(mu, v) : v);
    };
}

}  // namespace

TEST_CASE("all rows in the gradient move, in any order", "[momentum][golden]") {
    for (inputs::Rows const& rows : {inputs::Rows{1, 0}, inputs::Rows{3, 1, 0}, inputs::Rows{0, 3, 2, 1}}) {
        auto param = Tensor<float>::zeros({4, 1});
        auto velocity = param;
        momentum(param, velocity, SelectedRows<float>(4, rows, Tensor<float>::full({rows.size(), 1}, 1)), {.learning_rate = 0.1});
        for (std::int64_t row = 0; row < 4; ++row) {
            bool const named = std::ranges::find(rows, row) != rows.end();
            CHECK(param(row, 0) == (named ? -0.1F : 0));
            CHECK(velocity(row, 0) == (named ? 1 : 0));
        }
    }
}

TEST_CASE("4096 rows in random order all move", "[momentum][golden]") {
    inputs::Rows rows(4096);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i * 2731 % 4096);
    auto param = Tensor<float>::zeros({4096, 1});
    auto velocity = param;
    momentum(param, velocity, SelectedRows<float>(4096, rows, Tensor<float>::full({4096, 1}, 1)), {.learning_rate = 0.1});
    CHECK((param == Tensor<float>::full({4096, 1}, -0.1F)));
}

TEST_CASE("momentum has the bits of its formula", "[momentum]") {
    for (auto const& options : {plain, decayed, nesterov}) reference::check_step<float, float, float>(step(options), formula(options));
    reference::check_step<double, double, double>(step(nesterov), formula(nesterov));
}

TEST_CASE("table, velocity and gradient may differ in type", "[momentum][mixed]") {
    reference::check_step<float, bfloat16, float>(step(nesterov), formula(nesterov));
    reference::check_step<rowan::float16, float, double>(step(plain), formula(plain));
}

TEST_CASE("velocities of rows not named do not decay", "[momentum]") {
    auto param = Tensor<float>::full({3, 1}, 1);
    auto velocity = Tensor<float>::full({3, 1}, 2);
    momentum(param, velocity, SelectedRows<float>(3, {1}, {{0}}), {.learning_rate = 0.5, .momentum = 0.5, .weight_decay = 1});
    CHECK((velocity == Tensor<float>{{2}, {2}, {2}}));  // 0.5 · 2 + 0 + 1 · 1
    CHECK((param == Tensor<float>{{1}, {0}, {1}}));
    momentum(param, velocity, SelectedRows<float>(3, {}, Tensor<float>::from_shape({0, 1})));
    CHECK((param == Tensor<float>{{1}, {0}, {1}}));
}

TEST_CASE("float results stay close to double", "[momentum]") {
    for (bool const with_nesterov : {false, true}) {
        Tensor<float> param{{0.5F}};
        Tensor<float> velocity{{0}};
        double p = 0.5;
        double v = 0;
        for (int t = 1; t <= 50; ++t) {
            double g = std::sin(t);
            momentum(param, velocity, SelectedRows<double>(1, {0}, {{g}}), {.nesterov = with_nesterov, .weight_decay = 0.1});
            g += 0.1 * p;
            v = 0.9 * v + g;
            p -= 0.01 * (with_nesterov ? g + 0.9 * v : v);
        }
        CHECK(std::abs(param(0, 0) - p) < 1e-5);
        CHECK(std::abs(velocity(0, 0) - v) < 1e-5);
    }
}

TEST_CASE("rows in the gradient take momentum's dense step, others keep their bits", "[momentum][property]") {
    for (auto const& options : {plain, decayed, nesterov}) reference::check_lazy<float>(step(options));
}

}  // namespace test_momentum
