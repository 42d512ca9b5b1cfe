// tests/layer/initializer.cpp
#include <rowan/layer/initializer.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/op/matrix/matmul.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace test_initializer {

using namespace rowan;

namespace {

Tensor<double> values(Dims const& dims, layer::Initializer const& first, Cpu exec = {}) {
    test::DefaultScope scope;
    auto const v = layer::parameter<double>(dims, first);
    v->initialize(v->value(), 7, exec);
    return v->value().get<LoDTensor<double>>().value();
}

/// Mean and standard deviation.
std::pair<double, double> moments(Tensor<double> const& t) {
    double mean = 0, square = 0;
    for (double const x : t) mean += x / static_cast<double>(t.size());
    for (double const x : t) square += (x - mean) * (x - mean) / static_cast<double>(t.size());
    return {mean, std::sqrt(square)};
}

}  // namespace

TEST_CASE("first values follow their formulas", "[layer][first]") {
    CHECK(values({3}, {}) == Tensor<double>{0, 0, 0});
    CHECK(values({3}, layer::Constant{0.1}) == Tensor<double>{0.1, 0.1, 0.1});
    Tensor<double> const unit = values({2, 2}, {0, 1});  // splitmix64, and Box and Muller's formula, in Python
    CHECK(unit == Tensor<double>{{0.5243459416779314, 0.30213903321684277}, {0.9409962312900013, 0.8832292678334052}});
    Tensor<double> const normal{{-0.39226082138170837, 1.767004403788519}, {-0.8267779906538206, -0.7978521578845092}};
    for (std::size_t i = 0; i < 4; ++i) CHECK(values({2, 2}, layer::Normal{}).data()[i] == Approx(normal.data()[i]).epsilon(1e-14));

    auto const scaled = [](layer::Initializer const& first, Dims const& dims, double scale, bool is_normal) {
        auto const got = values(dims, first), want = values(dims, is_normal ? layer::Initializer(layer::Normal{}) : layer::Initializer(-1, 1));
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(got.data()[i] == Approx(scale * want.data()[i]).epsilon(1e-14));
    };
    scaled(layer::Normal{.stddev = 0.02}, {3, 5}, 0.02, true);
    scaled(layer::XavierUniform{}, {3, 5}, std::sqrt(6. / 8), false);
    scaled(layer::XavierUniform{.gain = 2}, {3}, 2 * std::sqrt(6. / 6), false);
    scaled(layer::XavierUniform{}, {2, 3, 5}, std::sqrt(6. / 16), false);
    scaled(layer::XavierNormal{}, {3, 5}, std::sqrt(2. / 8), true);
    scaled(layer::KaimingUniform{}, {3, 5}, std::sqrt(6. / 3), false);
    scaled(layer::KaimingUniform{.gain = 1}, {2, 3, 5}, std::sqrt(3. / 6), false);
    scaled(layer::KaimingNormal{}, {3, 5}, std::sqrt(2. / 3), true);
    CHECK(values({0, 4}, layer::KaimingNormal{}).size() == 0);
}

TEST_CASE("normal first values have mean and deviation, and the same bits for any number of threads", "[layer][first]") {
    auto const t = values({200, 300}, layer::Normal{.mean = 2, .stddev = 0.5}, {1});
    auto const [mean, deviation] = moments(t);
    CHECK(mean == Approx(2).margin(0.01));
    CHECK(deviation == Approx(0.5).epsilon(0.01));
    auto const within = std::count_if(t.begin(), t.end(), [](double x) { return std::abs(x - 2) < 0.5; });
    CHECK(static_cast<double>(within) / static_cast<double>(t.size()) == Approx(0.6827).epsilon(0.01));
    for (int const threads : {2, 8}) CHECK(values({200, 300}, layer::Normal{.mean = 2, .stddev = 0.5}, {threads}) == t);
}

TEST_CASE("first values that are not finite are refused, and nothing is added", "[layer][first]") {
    test::DefaultScope scope;
    auto const refused = [&](layer::Initializer const& first, char const* text) {
        CHECK_THROWS_WITH(layer::parameter({2}, first), text);
        CHECK_THROWS_WITH(layer::fc(layer::data("x" + std::to_string(scope.variables().size()), {UNK, 2}), {.bias = first}), text);
        CHECK(std::ranges::none_of(scope.variables(), [](auto const& v) { return v->role() == Role::parameter; }));
    };
    refused(layer::Normal{.stddev = -1}, "stddev is -1, expected 0 or more");
    refused({0, std::numeric_limits<double>::infinity()}, "high is inf, expected a finite number");
    refused(layer::XavierNormal{.gain = std::nan("")}, "stddev is nan, expected a finite number");
}

TEST_CASE("a fully connected layer has a name, and may have no bias", "[layer][first]") {
    test::DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2});
    auto const h = layer::fc(x, {.output_size = 3, .weight = layer::KaimingNormal{}, .bias = layer::Constant{1}, .name = "hidden"});
    auto const y = layer::fc(h, {.output_size = 2, .bias = false, .name = "out"});
    CHECK(scope.get("hidden.w_0").spec() == tensor_spec<double>({2, 3}));
    CHECK(scope.get("hidden.b_0").spec() == tensor_spec<double>({3}));
    CHECK(scope.get("out.w_0").spec() == tensor_spec<double>({3, 2}));
    CHECK(scope.find("out.b_0") == nullptr);
    auto& w = scope.get("out.w_0");
    w.initialize(w.value(), 7);
    CHECK(w.value().get<LoDTensor<double>>().value() == values({3, 2}, layer::XavierUniform{}));
    std::size_t const size = scope.variables().size();
    CHECK_THROWS_AS(layer::fc(y, {.name = "hidden"}), GraphError);
    scope.new_var("half.b_0", tensor_spec<double>({1}));
    CHECK_THROWS_AS(layer::fc(y, {.name = "half"}), GraphError);
    CHECK((scope.variables().size() == size + 1 && scope.find("half.w_0") == nullptr));
    test::set(*x, LoDTensor<double>(test::values({4, 2}, 1)));
    auto const target = layer::data<double>("target", {UNK, 2});
    test::set(*target, LoDTensor<double>(test::values({4, 2}, 2)));
    CHECK(test::check_net(layer::mse(y, target)).size() == 3);
    Net<>::trace_and_build(std::array{&*h, &*y}).run(scope);
    auto const of = [&](char const* name) { return scope.get(name).value().get<LoDTensor<double>>().value(); };
    CHECK(of("hidden.b_0") == Tensor<double>{1, 1, 1});
    CHECK(y->value().get<LoDTensor<double>>().value() == matmul(h->value().get<LoDTensor<double>>().value(), of("out.w_0")));
    auto const table = layer::embedding_table({.height = 4, .width = 2, .table = layer::Normal{.stddev = 0}});
    table->initialize(table->value(), 1);
    CHECK(table->value().get<LoDTensor<float>>().value() == Tensor<float>{{0, 0}, {0, 0}, {0, 0}, {0, 0}});
}

}  // namespace test_initializer
