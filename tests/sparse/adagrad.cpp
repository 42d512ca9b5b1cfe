// tests/sparse/adagrad.cpp: AdaGrad, epsilon outside the root.
#include <rowan/sparse/adagrad.hpp>

#include "steps.hpp"

#include <cmath>
#include <cstdint>

namespace test_adagrad {

using reference::product;
using rowan::adagrad, rowan::bfloat16, rowan::float16, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr rowan::AdaGradOptions options{.learning_rate = 0.05, .epsilon = 1e-3};

auto const step = [](auto&&... x) { adagrad(x..., options); };
auto const formula = [](auto g, auto& p, auto& m) {
    using S = decltype(g);
    m += product(g, g);
    p -= product(static_cast<S>(options.learning_rate), g) / (std::sqrt(m) + static_cast<S>(options.epsilon));
};

}  // namespace

TEST_CASE("duplicates are summed first, other rows do not change, epsilon is outside the root", "[adagrad][golden]") {
    auto param = Tensor<float>::full({10, 2}, 5);
    auto moment = Tensor<float>::full({10, 2}, 2);
    adagrad(param, moment, SelectedRows<float>(10, {0, 4, 7, 4}, Tensor<float>::full({4, 2}, 1)), {.learning_rate = 2, .epsilon = 2});
    for (std::size_t i = 0; i < 10; ++i) {
        bool const once = i == 0 || i == 7;
        double const want = once ? 4.4641016 : i == 4 ? 4.1010205 : 5;
        CHECK(std::abs(param(i, 1) - want) < 1e-6);
        CHECK(moment(i, 1) == (once ? 3 : i == 4 ? 6 : 2));
    }
}

TEST_CASE("adagrad has the bits of its formula", "[adagrad]") {
    reference::check_step<float, float, float>(step, formula);
    reference::check_step<double, double, double>(step, formula);
}

TEST_CASE("table, state and gradient of different types are computed together and narrowed once", "[adagrad][mixed]") {
    reference::check_step<float, bfloat16, float>(step, formula);
    reference::check_step<bfloat16, float, float>(step, formula);
    reference::check_step<float16, float16, float16>(step, formula);
    reference::check_step<float, double, float>(step, formula);
    reference::check_step<std::int32_t, float, double>(step, formula);
}

TEST_CASE("a weight decay of AdaGrad has PyTorch's values, and is of the touched rows", "[adagrad][golden]") {
    // torch.optim.Adagrad in double with lr=0.1, weight_decay=0.1, eps=1e-3: 1 and -2 with gradients 0.5 and 1, two steps; the decoupled decay by its formula
    struct Want {
        double p0, p2, m0, m2;
    };
    SelectedRows<double> const grad(3, {0, 2, 2}, {{0.5}, {0.25}, {0.75}});
    for (bool const decoupled : {false, true}) {
        Want const want = decoupled ? Want{0.8106867854501257, -2.1297618123501105, 0.5, 2.0} : Want{0.8301346116186856, -2.170077845909835, 0.7081196342202818, 1.2641197254991812};
        rowan::AdaGradOptions const with{.learning_rate = 0.1, .epsilon = 1e-3, .weight_decay = 0.1, .decoupled = decoupled};
        Tensor<double> p{{1}, {7}, {-2}}, m{{0}, {0}, {0}};
        for (int t = 0; t < 2; ++t) adagrad(p, m, grad, with);
        CHECK((std::abs(p(0, 0) - want.p0) < 1e-15 && std::abs(p(2, 0) - want.p2) < 1e-15 && p(1, 0) == 7));
        CHECK((std::abs(m(0, 0) - want.m0) < 1e-15 && std::abs(m(2, 0) - want.m2) < 1e-15 && m(1, 0) == 0));
        adagrad(p, m, to_dense(grad), with);
        CHECK(p(1, 0) < 7);
    }
}

TEST_CASE("adagrad with a weight decay has the bits of its formula", "[adagrad]") {
    for (bool const decoupled : {false, true}) {
        auto const decaying = [=](auto&&... x) { adagrad(x..., {.learning_rate = 0.05, .epsilon = 1e-3, .weight_decay = 0.25, .decoupled = decoupled}); };
        auto const slow = [=](auto g, auto& p, auto& m) {
            using S = decltype(g);
            if (decoupled) {
                p = product(static_cast<S>(1 - product(0.05, 0.25)), p);
            } else {
                g += product(S(0.25), p);
            }
            formula(g, p, m);
        };
        reference::check_step<float, float, float>(decaying, slow);
        reference::check_step<bfloat16, float, float>(decaying, slow);
    }
}

TEST_CASE("a million duplicates of one row are one step with their sum", "[adagrad]") {
    auto const g = SelectedRows<float>(3, inputs::Rows(1'000'000, 2), inputs::wild<float>({1'000'000, 1}, 4));
    auto want = Tensor<float>::full({3, 1}, 1);
    auto want_moment = want;
    reference::update(g, formula, want, want_moment);
    for (int threads : {1, 2}) {
        auto got = Tensor<float>::full({3, 1}, 1);
        auto moment = got;
        step(rowan::Cpu{threads}, got, moment, g);
        CHECK((reference::same(got, want) && reference::same(moment, want_moment)));
    }
}

TEST_CASE("a gradient with no rows changes nothing", "[adagrad][golden]") {
    auto param = Tensor<float>::full({4, 2}, 1);
    auto moment = param;
    adagrad(param, moment, SelectedRows<float>(4, {}, Tensor<float>::from_shape({0, 2})));
    CHECK((param == Tensor<float>::full({4, 2}, 1) && moment == param));
}

TEST_CASE("float results stay close to double, with the default options of other libraries", "[adagrad]") {
    Tensor<float> param{{0.5F}};
    Tensor<float> moment{{0}};
    double p = 0.5;
    double m = 0;
    for (int t = 1; t <= 100; ++t) {
        double const g = std::sin(t);
        adagrad(param, moment, SelectedRows<double>(1, {0}, {{g}}));
        m += g * g;
        p -= 0.01 * g / (std::sqrt(m) + 1e-6);
    }
    CHECK(std::abs(param(0, 0) - p) < 1e-6);
    CHECK(std::abs(moment(0, 0) - m) < 1e-4);
}

TEST_CASE("rows in the gradient take adagrad's dense step, others keep their bits", "[adagrad][property]") {
    reference::check_lazy<float>(step);
}

}  // namespace test_adagrad
