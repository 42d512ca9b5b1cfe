// tests/sparse/adadelta.cpp: Adadelta, epsilon inside both roots.
#include <rowan/sparse/adadelta.hpp>

#include "steps.hpp"

#include <cmath>
#include <limits>

namespace test_adadelta {

using reference::product;
using rowan::adadelta, rowan::bfloat16, rowan::SelectedRows, rowan::Tensor;

namespace {

constexpr rowan::AdadeltaOptions options{.learning_rate = 0.5, .rho = 0.8, .epsilon = 1e-2, .weight_decay = 0.1};

auto const step = [](auto&&... x) { adadelta(x..., options); };
auto const formula = []<class S>(S g, S& p, S& s, S& d) {
    auto const average = [](S mean, S x) { return product(S(options.rho), mean) + product(S(1 - options.rho), x); };
    g += product(S(options.weight_decay), p);
    s = average(s, product(g, g));
    S const move = product(std::sqrt(d + S(options.epsilon)) / std::sqrt(s + S(options.epsilon)), g);
    d = average(d, product(move, move));
    p -= product(S(options.learning_rate), move);
};

}  // namespace

TEST_CASE("four steps of adadelta are those of a program in Python", "[adadelta][golden]") {
    Tensor<double> const grads{{1, -2, 0.001}, {0.5, 0.25, -30}, {-0.125, 4, 0}, {0, -1, 7}};
    auto const check = [&](double decay, Tensor<double> const& p, Tensor<double> const& s, Tensor<double> const& d) {
        Tensor<double> param{{1, -0.5, 0.25}}, squares = Tensor<double>::zeros({1, 3}), steps = squares;
        for (std::size_t t = 0; t < 4; ++t) adadelta(param, squares, steps, grads.slice(t, t + 1), {.weight_decay = decay});
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(std::abs(param(0, i) - p(0, i)) < 1e-14);
            CHECK(std::abs(squares(0, i) - s(0, i)) < 1e-13);
            CHECK(std::abs(steps(0, i) - d(0, i)) < 1e-19);
        }
    };
    check(0, {{0.9953418668689955, -0.5000571479922917, 0.2512116385199969}}, {{0.09455624999999998, 1.8366624999999996, 77.80000007289999}},
          {{1.112412110581948e-06, 2.3875405276879807e-06, 1.079365726422797e-06}});
    check(0.1, {{0.9942845616951599, -0.4998290737868963, 0.24980229953847227}},
          {{0.1183864386157686, 1.8243063002794908, 77.71542783035984}},
          {{1.151105998325832e-06, 2.368299827333469e-06, 2.554234078022785e-06}});
}

TEST_CASE("adadelta has the bits of its formula", "[adadelta]") {
    reference::check_step<float, float, float, float>(step, formula);
    reference::check_step<double, double, double, double>(step, formula);
}

TEST_CASE("table, states and gradient of adadelta may differ in type", "[adadelta][mixed]") {
    reference::check_step<bfloat16, float, double, rowan::float16>(step, formula);
}

TEST_CASE("adadelta stays where g² overflows or is 0, and NaN remains", "[adadelta]") {
    auto const after = [](float g) {
        Tensor<float> param{{1}}, squares{{0}}, steps{{0}};
        adadelta(param, squares, steps, Tensor<float>{{g}});
        return param(0, 0);
    };
    CHECK(after(std::numeric_limits<float>::max()) == 1);
    CHECK(after(0) == 1);
    CHECK(after(std::numeric_limits<float>::denorm_min()) == 1);
    CHECK(std::isnan(after(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("averages of other rows do not decay in adadelta; a gradient without rows changes nothing", "[adadelta]") {
    Tensor<float> param{{1}, {1}}, squares{{1}, {1}}, steps = squares;
    adadelta(param, squares, steps, SelectedRows<float>(2, {1}, {{0}}), {.rho = 0.5});
    CHECK((param == Tensor<float>{{1}, {1}} && squares == Tensor<float>{{1}, {0.5F}} && steps == Tensor<float>{{1}, {0.5F}}));
    adadelta(param, squares, steps, SelectedRows<float>(2, {}, Tensor<float>::from_shape({0, 1})));
    CHECK((squares == Tensor<float>{{1}, {0.5F}} && steps == Tensor<float>{{1}, {0.5F}}));
}

TEST_CASE("rows in the gradient take adadelta's dense step, others keep their bits", "[adadelta][property]") {
    reference::check_lazy<float, float>(step);
}

}  // namespace test_adadelta
