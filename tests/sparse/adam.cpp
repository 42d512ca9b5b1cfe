// tests/sparse/adam.cpp: Adam, lazy, with one epsilon and powers that are counted by the caller.
#include <rowan/sparse/adam.hpp>

#include "steps.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace test_adam {

using reference::product;
using rowan::adam, rowan::bfloat16, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr rowan::AdamOptions options{.learning_rate = 0.05, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .step = 5};

auto const step = [](auto&&... x) { adam(x..., options); };
auto const formula = [](auto g, auto& p, auto& m, auto& v) {
    using S = decltype(g);
    auto const constant = [](double x) { return static_cast<S>(x); };
    double const power1 = options.beta1 * ((options.beta1 * options.beta1) * (options.beta1 * options.beta1));
    double const power2 = options.beta2 * ((options.beta2 * options.beta2) * (options.beta2 * options.beta2));
    m = product(constant(options.beta1), m) + product(constant(1 - options.beta1), g);
    v = product(constant(options.beta2), v) + product(constant(1 - options.beta2), product(g, g));
    S const root = std::sqrt(v / constant(1 - power2)) + constant(options.epsilon);
    p -= product(constant(options.learning_rate), m / constant(1 - power1)) / root;
};

}  // namespace

TEST_CASE("weight decay has PyTorch's values, as a part of the gradient and apart from it", "[adam][golden]") {
    // torch 2 in double: AdamW and Adam with lr=0.05, weight_decay=0.1, three steps
    Tensor<double> const g[] = {{0.5, -1, 0.25}, {-0.125, 2, 0}, {1, 0.5, -3}};
    for (bool const decoupled : {true, false}) {
        Tensor<double> p{1, -2, 0.5}, m{0, 0, 0}, v{0, 0, 0};
        for (std::int64_t k = 0; k < 3; ++k) adam(p, m, v, g[k], {.learning_rate = 0.05, .step = k + 1, .weight_decay = 0.1, .decoupled = decoupled});
        Tensor<double> const want = decoupled ? Tensor<double>{0.8755138195284058, -1.959644710687219, 0.43938279822667947} : Tensor<double>{0.8786399135550547, -1.9764113215049433, 0.44007615992592897};
        for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(p(i) - want(i)) < 1e-14);

        Tensor<double> table{{1}, {1}}, mean{{0}, {0}}, square{{0}, {0}};  // of a row-sparse gradient, the touched rows decay
        adam(table, mean, square, SelectedRows<double>(2, {1}, {{0}}), {.learning_rate = 0.5, .weight_decay = 0.5, .decoupled = decoupled});
        CHECK(table(0, 0) == 1);
        CHECK(std::abs(table(1, 0) - (decoupled ? 0.75 : 0.5)) < 1e-7);
    }
}

TEST_CASE("the first step is the learning rate", "[adam][golden]") {
    auto param = Tensor<float>::zeros({1, 1});
    auto mean = param;
    auto square = param;
    adam(param, mean, square, SelectedRows<float>(1, {0}, {{1}}), {.learning_rate = 0.1});
    CHECK(std::abs(param(0, 0) + 0.1) < 1e-7);
    CHECK((mean(0, 0) == 0.1F && square(0, 0) == 0.001F));
}

TEST_CASE("epsilon is the same for all rows, and outside the root", "[adam][golden]") {
    auto param = Tensor<float>::zeros({2, 1});
    auto mean = Tensor<float>::full({2, 1}, 1);
    auto square = mean;
    adam(param, mean, square, Tensor<float>::zeros({2, 1}), {.learning_rate = 1, .epsilon = 1});
    for (std::size_t row : std::vector<std::size_t>{0, 1}) CHECK(std::abs(param(row, 0) + 0.2760147) < 1e-6);
    param.fill(0);
    mean.fill(1);
    square.fill(1);
    adam(param, mean, square, SelectedRows<float>(2, {0}, {{0}}), {.learning_rate = 1, .epsilon = 1});
    CHECK(std::abs(param(0, 0) + 0.2760147) < 1e-6);
    CHECK((param(1, 0) == 0 && mean(1, 0) == 1 && square(1, 0) == 1));  // lazy: not named, not moved
}

TEST_CASE("adam has the bits of its formula", "[adam]") {
    reference::check_step<float, float, float, float>(step, formula);
    reference::check_step<double, double, double, double>(step, formula);
}

TEST_CASE("table, moments and gradient may differ in type", "[adam][mixed]") {
    reference::check_step<float, bfloat16, float, float>(step, formula);
    reference::check_step<bfloat16, float, double, rowan::float16>(step, formula);
}

TEST_CASE("float results stay close to double with powers multiplied step by step", "[adam]") {
    Tensor<float> param{{0.5F}};
    Tensor<float> mean{{0}};
    Tensor<float> square{{0}};
    double p = 0.5;
    double m = 0;
    double v = 0;
    double power1 = 1;
    double power2 = 1;
    for (int t = 1; t <= 200; ++t) {
        double const g = std::sin(t);
        adam(param, mean, square, SelectedRows<double>(1, {0}, {{g}}), {.learning_rate = 0.01, .step = t});
        power1 *= 0.9;
        power2 *= 0.999;
        m = 0.9 * m + (1 - 0.9) * g;
        v = 0.999 * v + (1 - 0.999) * g * g;
        p -= 0.01 * (m / (1 - power1)) / (std::sqrt(v / (1 - power2)) + 1e-8);
        CHECK(std::abs(param(0, 0) - p) < 1e-5);
    }
}

TEST_CASE("after very many steps the bias correction is 1", "[adam]") {
    auto param = Tensor<float>::zeros({1, 1});
    auto mean = Tensor<float>::full({1, 1}, 1);
    auto square = mean;
    adam(param, mean, square, SelectedRows<float>(1, {0}, {{1}}), {.learning_rate = 1, .epsilon = 0, .step = std::int64_t{1} << 40});
    CHECK(param(0, 0) == -1);
}

TEST_CASE("a gradient with no rows changes neither param nor moments", "[adam]") {
    auto const before = inputs::wild<float>({4, 2}, 1);
    auto param = before;
    auto mean = before;
    auto square = before;
    adam(param, mean, square, SelectedRows<float>(4, {}, Tensor<float>::from_shape({0, 2})));
    CHECK((reference::same(param, before) && reference::same(mean, before) && reference::same(square, before)));
}

TEST_CASE("rows in the gradient take adam's dense step, others keep their bits", "[adam][property]") {
    reference::check_lazy<float, float>(step);
}

}  // namespace test_adam
