// tests/sparse/adamax.cpp: AdaMax, with PyTorch's epsilon, which is added to the gradient's absolute value.
#include <rowan/sparse/adamax.hpp>

#include "steps.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace test_adamax {

using reference::product;
using rowan::adamax, rowan::bfloat16, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr rowan::AdamaxOptions options{
    .learning_rate = 0.05, .beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-2, .step = 3, .weight_decay = 0.1};

auto const step = [](auto&&... x) { adamax(x..., options); };
auto const formula = []<class S>(S g, S& p, S& m, S& u) {
    g += product(S(options.weight_decay), p);
    m = product(S(options.beta1), m) + product(S(1 - options.beta1), g);
    u = std::max(product(S(options.beta2), u), std::abs(g) + S(options.epsilon));
    p -= product(S(options.learning_rate / (1 - 0.8 * (0.8 * 0.8))), m / u);
};

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
constexpr float most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();

}  // namespace

TEST_CASE("four steps of adamax are those of a program in Python", "[adamax][golden]") {
    Tensor<double> const grads{{1, -2, 0.001}, {0.5, 0.25, -30}, {-0.125, 4, 0}, {0, -1, 7}};
    auto const check = [&](double decay, Tensor<double> const& p, Tensor<double> const& m, Tensor<double> const& u) {
        Tensor<double> param{{1, -0.5, 0.25}}, moment = Tensor<double>::zeros({1, 3}), norm = moment;
        for (std::size_t t = 0; t < 4; ++t)
            adamax(param, moment, norm, grads.slice(t, t + 1), {.step = static_cast<std::int64_t>(t + 1), .weight_decay = decay});
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(std::abs(param(0, i) - p(0, i)) < 1e-14);
            CHECK(std::abs(moment(0, i) - m(0, i)) < 1e-14);
            CHECK(std::abs(norm(0, i) - u(0, i)) < 1e-13);
        }
    };
    check(0, {{0.9950896706922778, -0.49785969524963786, 0.2500534979600578}}, {{0.10214999999999998, 0.13445, -1.7299270999999994}},
          {{0.9970030089700299, 3.99600000999, 29.940030009980013}});
    check(0.1, {{0.9948087391765269, -0.49778892632563854, 0.2500501876858003}},
          {{0.13644741721961468, 0.11732064840889532, -1.7213571782051647}}, {{1.09670330887003, 3.9463342669847625, 29.915279585103242}});
}

TEST_CASE("adamax has the bits of its formula", "[adamax]") {
    reference::check_step<float, float, float, float>(step, formula);
    reference::check_step<double, double, double, double>(step, formula);
}

TEST_CASE("table, states and gradient of adamax may differ in type", "[adamax][mixed]") {
    reference::check_step<bfloat16, float, double, rowan::float16>(step, formula);
}

TEST_CASE("adamax moves by the greatest and the least gradients, and NaN remains", "[adamax]") {
    auto const after = [](float g, float u, double epsilon, std::int64_t t) {
        auto param = Tensor<float>::full({1, 37}, 1), norm = Tensor<float>::full({1, 37}, u);
        auto moment = Tensor<float>::full({1, 37}, t == 1 ? 0 : g);
        adamax(param, moment, norm, Tensor<float>::full({1, 37}, g), {.learning_rate = 0.5, .epsilon = epsilon, .step = t});
        for (std::size_t i = 1; i < 37; ++i) CHECK((param(0, i) == param(0, 0) || std::isnan(param(0, 0))));  // all lanes
        return param(0, 36);
    };
    std::int64_t const many = std::int64_t{1} << 40;
    CHECK(after(most, 0, 1e-8, 1) == 0.5F);
    CHECK(after(-most, 0, 1e-8, many) == 1.5F);
    CHECK(after(least, 0, 0, many) == 0.5F);
    CHECK(after(-0.0F, 0, 1e-8, 1) == 1);
    CHECK(after(0, most, 0, 1) == 1);
    CHECK(after(-0.0F, 1, 0, 1) == 1);
    CHECK(std::isnan(after(0, 0, 0, 1)));
    CHECK(std::isnan(after(nan, 1, 1e-8, 1)));
    CHECK(std::isnan(after(1, nan, 1e-8, 1)));
    CHECK(std::isnan(after(inf, 1, 1e-8, 1)));
}

TEST_CASE("norms of other rows do not decay in adamax; a gradient without rows changes nothing", "[adamax]") {
    Tensor<float> param{{1}, {1}}, moment{{0}, {0}}, norm{{1}, {1}};
    adamax(param, moment, norm, SelectedRows<float>(2, {1}, {{0}}), {.beta2 = 0.5});
    CHECK(norm == Tensor<float>{{1}, {0.5F}});
    adamax(param, moment, norm, SelectedRows<float>(2, {}, Tensor<float>::from_shape({0, 1})));
    CHECK((param == Tensor<float>{{1}, {1}} && norm == Tensor<float>{{1}, {0.5F}}));
}

TEST_CASE("rows in the gradient take adamax's dense step, others keep their bits", "[adamax][property]") {
    reference::check_lazy<float, float>(step);
}

}  // namespace test_adamax
