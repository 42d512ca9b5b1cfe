// tests/op/math.cpp: exp, log, roots and powers, element by element.
#include <rowan/op/math.hpp>

#include "check_unary.hpp"
#include "refused.hpp"

#include <cstdint>

namespace test_math {

using rowan::Cpu, rowan::Tensor;
using test::check_unary, test::ulps;
using Real = long double;

TEST_CASE("exp and log are right to a unit or two in the last place, everywhere", "[op][golden]") {
    auto const exp = [](Real x) { return std::exp(x); };
    auto const log = [](Real x) { return std::log(x); };
    check_unary<rowan::exp_op>(1.5, -3.F, 3.F, exp);
    check_unary<rowan::exp_op>(1.5, -3.0, 3.0, exp);
    check_unary<rowan::log_op>(1.0, 0.01F, 4.F, log);
    check_unary<rowan::log_op>(1.0, 0.01, 4.0, log);
    auto const all = [&]<class T>(T, Real least, Real most) {
        auto x = Tensor<T>::from_shape({50'021});
        for (std::size_t i = 0; i < x.size(); ++i) x(i) = static_cast<T>(least + (most - least) * static_cast<Real>(i) / 50'020);
        auto const y = rowan::exp(x), back = rowan::log(y);
        double worst_exp = 0, worst_log = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            worst_exp = std::max(worst_exp, ulps(y(i), exp(x(i))));
            worst_log = std::max(worst_log, ulps(back(i), log(y(i))));
        }
        CHECK(worst_exp <= 1.5);
        CHECK(worst_log <= 1.0);
    };
    all(float{}, -110, 95);  // 0, subnormal numbers and infinity, too
    all(double{}, -760, 720);
}

TEST_CASE("roots, squares, absolute values and powers equal the formulas", "[op][golden]") {
    check_unary<rowan::sqrt_op>(0.5, 0.01, 9.0, [](Real x) { return std::sqrt(x); });
    check_unary<rowan::rsqrt_op>(1.5, 0.01F, 9.F, [](Real x) { return 1 / std::sqrt(x); });
    check_unary<rowan::square_op>(0.5, -3.0, 3.0, [](Real x) { return x * x; });
    check_unary<rowan::abs_op>(0, -3.F, 3.F, [](Real x) { return std::abs(x); });
    check_unary<rowan::pow_op>(1.5, -3.0, 3.0, [](Real x) { return x * x * x; }, {.exponent = 3});
    check_unary<rowan::pow_op>(2.5, 0.1, 3.0, [](Real x) { return 1 / (x * x); }, {.exponent = -2});
    check_unary<rowan::pow_op>(13, 0.1, 30.0, [](Real x) { return std::pow(x, 1.7L); }, {.exponent = 1.7});
    check_unary<rowan::pow_op>(1400, -1.5, 2.5, [](Real x) { return std::pow(x, 129.0L); }, {.exponent = 129});
    CHECK((rowan::abs(Tensor<std::int32_t>{-3, 0, 4, INT32_MIN}) == Tensor<std::int32_t>{3, 0, 4, INT32_MIN}));
    CHECK((rowan::square(Tensor<std::int32_t>{-3, 1 << 16}) == Tensor<std::int32_t>{9, 0}));
}

TEST_CASE("zeros, infinities and NaN are those of the C library", "[op]") {
    Tensor<double> const x{0, -0.0, 1, -1, INFINITY, -INFINITY, NAN};
    auto const check = [&](Tensor<double> const& got, auto const& want) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            INFO(x(i));
            CHECK(ulps(got(i), want(x(i))) <= 1.5);
            CHECK((std::isnan(x(i)) || x(i) < 0 || std::signbit(got(i)) == std::signbit(want(x(i)))));
        }
    };
    check(rowan::exp(x), [](double v) { return std::exp(v); });
    check(rowan::log(x), [](double v) { return std::log(v); });
    check(rowan::sqrt(x), [](double v) { return std::sqrt(v); });
    check(rowan::rsqrt(x), [](double v) { return 1 / std::sqrt(v); });
    for (double const exponent : {0.0, 1.0, -1.0, 2.0, -3.0, 64.0, 65.0, 66.0, -65.0, 1e300})
        check(rowan::pow(x, {.exponent = exponent}), [&](double v) { return std::pow(v, exponent); });
    CHECK(!std::signbit(rowan::abs(x)(1)));
    CHECK((rowan::pow_grad_op::run(Cpu{}, Tensor<double>{0, 2}, Tensor<double>{5, 5}, {.exponent = 0}) == Tensor<double>{0, 0}));
    CHECK((rowan::abs_grad_op::run(Cpu{}, Tensor<double>{0, -2}, Tensor<double>{5, 5}) == Tensor<double>{0, -5}));
}

TEST_CASE("a function of many elements has the same bits on any number of threads", "[op]") {
    auto const x = inputs::wild<float>({rowan::detail::serial_below + 77}, 3);
    test::check_any_threads([&](Cpu exec) { return rowan::log(exec, rowan::exp(exec, x)); });
}

TEST_CASE("an exponent must be finite, and gradients have the shape", "[op][bad]") {
    Tensor<double> const x{1, 2}, g{{1, 2}};
    CHECK(test::refusal<rowan::ValueError>([&](Cpu e) { rowan::pow(e, x, {.exponent = NAN}); }, x) ==
          "exponent is nan, expected a finite number");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { rowan::log_grad_op::run(e, x, g); }, x, g) ==
          "out_grad.shape() is [1, 2], expected [2]");
}

}  // namespace test_math
