// tests/op/math.cpp: exp, log, sin, cos, roots, powers and rounding, element by element.
#include <rowan/core/detail/float_control.hpp>
#include <rowan/op/elementwise/exp.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/pow.hpp>
#include <rowan/op/elementwise/relu.hpp>
#include <rowan/op/elementwise/rounding.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/elementwise/sin.hpp>
#include <rowan/op/elementwise/softplus.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/sparse/sgd.hpp>

#include "check_unary.hpp"

#include <bit>
#include <cfenv>
#include <cstdint>
#include <limits>
#include <vector>

namespace test_math {

using rowan::Cpu, rowan::dtype, rowan::Tensor;
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

TEST_CASE("results follow the caller's rounding and flushing, with the same bits for any number of threads", "[op]") {
    constexpr std::size_t n = 300'000;
    auto x = Tensor<float>::from_shape({n}), y = Tensor<float>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) {
        x(i) = (static_cast<float>(i % 997) - 700) / 6.7F;
        y(i) = i % 7 == 0 ? 1e-39F : static_cast<float>(i % 1013) * 1e-38F;
    }
    auto const all = [&](Cpu exec) {
        auto param = y;
        rowan::sgd(exec, param, x, {.learning_rate = 1e-38});
        return std::vector<Tensor<float>>{rowan::mul(exec, x, y), rowan::exp(exec, x), std::move(param)};
    };
    auto const usual = all(Cpu{4});  // the helpers have begun
    using rowan::detail::FloatControl;
    FloatControl const before = FloatControl::get();
    std::vector<FloatControl> words;
    std::fesetround(FE_UPWARD);
    words.push_back(FloatControl::get());
    std::fesetround(FE_TONEAREST);
#if defined(__SSE__)
    words.push_back({before.word | 0x8040});  // flush to zero, denormals are zeros
#endif
    for (FloatControl const word : words) {
        word.set();
        auto const one = all(Cpu{1});
        bool same = true;
        for (int i = 0; i < 5; ++i) same = same && test::same_bits(all(Cpu{4}), one);
        before.set();
        CHECK(same);
        for (std::size_t k = 0; k < one.size(); ++k) CHECK_FALSE(test::same_bits(one[k], usual[k]));
    }
    CHECK(test::same_bits(all(Cpu{4}), usual));
}

TEST_CASE("sin and cos are right to a unit in the last place everywhere, of huge numbers, too", "[op][golden]") {
    auto const sin = [](Real x) { return std::sin(x); };
    auto const cos = [](Real x) { return std::cos(x); };
    check_unary<rowan::sin_op>(0.51, -9.F, 9.F, sin);
    check_unary<rowan::sin_op>(0.8, -9.0, 9.0, sin);
    check_unary<rowan::cos_op>(0.51, -9.F, 9.F, cos);
    check_unary<rowan::cos_op>(0.8, -9.0, 9.0, cos);
    auto const all = [&]<class T, class Bits>(T, Bits, std::uint64_t want) {
        inputs::Random random(7);
        auto x = Tensor<T>::from_shape({20'000});
        for (std::size_t i = 0; i < x.size(); i += 4) {  // all bit patterns; near multiples of π/2; around 2^20
            x(i) = std::bit_cast<T>(static_cast<Bits>(random.bits()));
            x(i + 1) = static_cast<T>(static_cast<Real>(random.bits() >> (random.bits() % 64)) * 1.5707963267948966192L);
            x(i + 2) = static_cast<T>(1048576 - 4 + 8 * random.uniform());
            x(i + 3) = -x(i + 1);
        }
        double worst_sin = 0, worst_cos = 0;
        std::uint64_t hash = 0;
        auto const y = rowan::sin(x), z = rowan::cos(x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            worst_sin = std::max(worst_sin, ulps(y(i), sin(x(i))));
            worst_cos = std::max(worst_cos, ulps(z(i), cos(x(i))));
            hash = (hash * 31 + std::bit_cast<Bits>(y(i))) * 31 + std::bit_cast<Bits>(z(i));
        }
        CHECK(hash == want);  // on every processor
        double const most = sizeof(T) == 4 ? 0.51 : 0.8;
        CHECK(worst_sin <= most);
        CHECK(worst_cos <= most);
        for (std::size_t i = 0; i < 80; ++i) CHECK(test::same_bits(rowan::sin(Tensor<T>{x(i)}), Tensor<T>{y(i)}));
    };
    all(float{}, std::uint32_t{}, 0xC234700A54DDCBEAU);
    all(double{}, std::uint64_t{}, 0x8795A5F2459AF024U);
    // 6381956970095103 · 2^797 is the double nearest to a multiple of π/2 (Muller, Elementary Functions). 10^22: Ng, Good to the last bit.
    Tensor<double> const x{0x1.6ac5b262ca1ffp+849, 1e22, std::numeric_limits<double>::max(), 1048576, -0.0, 5e-324};
    Real const sines[] = {1, -0.8522008497671888018L, 0.004961954789184061791L, 0.3304931400217346716L, -0.0L, 5e-324};
    Real const cosines[] = {-4.687165924254627611e-19L, 0.5232147853951389455L, -0.9999876894265599375L, 0.9438083939013119840L, 1, 1};
    auto const y = rowan::sin(x), z = rowan::cos(x), ones = Tensor<double>::full({6}, 1.0);
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(ulps(y(i), sines[i]) <= 0.8);
        CHECK(ulps(z(i), cosines[i]) <= 0.8);
    }
    CHECK(std::signbit(y(4)));
    CHECK(test::same_bits(rowan::sin_op::backward(Cpu{}, x, ones), z));
    CHECK((rowan::cos_op::backward(Cpu{}, x, Tensor<double>::full({6}, -1.0)) == y));
}

TEST_CASE("signs and rounded numbers are NumPy's, and their gradients are 0", "[op][golden]") {
    check_unary<rowan::floor_op>(0, -9.F, 9.F, [](Real x) { return std::floor(x); });
    check_unary<rowan::ceil_op>(0, -9.0, 9.0, [](Real x) { return std::ceil(x); });
    check_unary<rowan::round_op>(0, -9.0, 9.0, [](Real x) { return std::nearbyint(x); });
    auto const all = [&]<class T>(T) {
        using limits = std::numeric_limits<T>;
        T const whole = 1 / limits::epsilon();  // numbers from here on have no fractions
        std::vector<T> of{0, T(0.5), 1, T(1.5), T(2.5), T(0.4), limits::min(), limits::denorm_min(), limits::max(), limits::infinity(), limits::quiet_NaN(),
                          T(0.5) - limits::epsilon() / 4, whole / 2 - T(0.5), whole / 2 + T(0.5), whole - T(0.5), whole - 1, whole, whole + 1, 2 * whole + 2, T(1e19)};
        for (std::size_t i = 0, n = of.size(); i < n; ++i) of.push_back(-of[i]);
        Tensor<T> const x = Tensor<T>::from_values({of.size()}, of), ones = Tensor<T>::full({of.size()}, T(1));
        auto const check = [&](auto op, auto const& want) {
            using Op = decltype(op);
            auto const y = Op::run(Cpu{}, x);
            for (std::size_t i = 0; i < x.size(); ++i) {
                INFO(Op::name << " " << x(i));
                CHECK(((std::isnan(x(i)) && std::isnan(y(i))) || (y(i) == want(x(i)) && std::signbit(y(i)) == std::signbit(want(x(i))))));
                CHECK(test::same_bits(Op::run(Cpu{}, Tensor<T>{x(i)}), Tensor<T>{y(i)}));
            }
            CHECK((Op::backward(Cpu{}, y, ones) == Tensor<T>::full({x.size()}, T(0))));
        };
        check(rowan::sign_op{}, [](T v) { return v > 0 ? T(1) : v < 0 ? T(-1) : T(0); });
        check(rowan::floor_op{}, [](T v) { return std::floor(v); });
        check(rowan::ceil_op{}, [](T v) { return std::ceil(v); });
        check(rowan::round_op{}, [](T v) { return std::nearbyint(v); });
    };
    all(float{});
    all(double{});
    constexpr std::int64_t least = INT64_MIN, most = INT64_MAX;
    Tensor<std::int64_t> const wholes{least, -2, 0, 7, most};
    CHECK((rowan::sign(wholes) == Tensor<std::int64_t>{-1, -1, 0, 1, 1}));
    CHECK((rowan::floor(wholes) == wholes && rowan::ceil(wholes) == wholes && rowan::round(wholes) == wholes));
    CHECK((rowan::sign(Tensor<std::uint8_t>{0, 255}) == Tensor<std::uint8_t>{0, 1}));
    Tensor<rowan::bfloat16> const narrow{rowan::bfloat16(-2.5F), rowan::bfloat16(255.0F), rowan::bfloat16(0.75F)};
    CHECK((rowan::round(narrow)(0).bits() == rowan::bfloat16(-2.F).bits() && rowan::ceil(narrow)(2).bits() == rowan::bfloat16(1.F).bits()));
    CHECK(rowan::floor(Tensor<float>::from_shape({3, 0})).shape() == Tensor<float>::shape_type{3, 0});
}

TEST_CASE("roots, squares, absolute values and powers equal the formulas", "[op][golden]") {
    check_unary<rowan::sqrt_op>(0.5, 0.01, 9.0, [](Real x) { return std::sqrt(x); });
    check_unary<rowan::rsqrt_op>(1.5, 0.01F, 9.F, [](Real x) { return 1 / std::sqrt(x); });
    check_unary<rowan::square_op>(0.5, -3.0, 3.0, [](Real x) { return x * x; });
    check_unary<rowan::abs_op>(0, -3.F, 3.F, [](Real x) { return std::abs(x); });
    check_unary<rowan::pow_op>(1.5, -3.0, 3.0, [](Real x) { return x * x * x; }, {.exponent = 3});
    check_unary<rowan::pow_op>(2, 0.1, 3.0, [](Real x) { return 1 / (x * x); }, {.exponent = -2});
    check_unary<rowan::pow_op>(1.5, 0.1, 30.0, [](Real x) { return std::pow(x, Real{1.7}); }, {.exponent = 1.7});
    check_unary<rowan::pow_op>(1.5, -1.5, 2.5, [](Real x) { return std::pow(x, 129.0L); }, {.exponent = 129});
    CHECK((rowan::abs(Tensor<std::int32_t>{-3, 0, 4, INT32_MIN}) == Tensor<std::int32_t>{3, 0, 4, INT32_MIN}));
    CHECK((rowan::square(Tensor<std::int32_t>{-3, 1 << 16}) == Tensor<std::int32_t>{9, 0}));
}

TEST_CASE("zeros, infinities and NaN are those of the C library", "[op]") {
    Tensor<double> const x{0, -0.0, 1, -1, INFINITY, -INFINITY, NAN};
    auto const check = [&](Tensor<double> const& got, auto const& want) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            INFO(x(i));
            CHECK(ulps(got(i), want(x(i))) <= 1.5);
            CHECK((std::isnan(got(i)) || x(i) < 0 || std::signbit(got(i)) == std::signbit(want(x(i)))));
        }
    };
    check(rowan::sin(x), [](double v) { return std::sin(v); });
    check(rowan::cos(x), [](double v) { return std::cos(v); });
    check(rowan::exp(x), [](double v) { return std::exp(v); });
    check(rowan::log(x), [](double v) { return std::log(v); });
    check(rowan::sqrt(x), [](double v) { return std::sqrt(v); });
    check(rowan::rsqrt(x), [](double v) { return 1 / std::sqrt(v); });
    for (double const exponent : {0.0, 1.0, -1.0, 2.0, -3.0, 64.0, 65.0, 66.0, -65.0, 1e300})
        check(rowan::pow(x, {.exponent = exponent}), [&](double v) { return std::pow(v, exponent); });
    CHECK(!std::signbit(rowan::abs(x)(1)));
    CHECK((rowan::pow_op::backward(Cpu{}, Tensor<double>{0, 2}, Tensor<double>{5, 5}, {.exponent = 0}) == Tensor<double>{0, 0}));
    CHECK((rowan::abs_op::backward(Cpu{}, Tensor<double>{0, -2}, Tensor<double>{5, 5}) == Tensor<double>{0, -5}));
}

TEST_CASE("powers and their gradients are right to the last places, also where they are subnormal or overflow", "[op][golden]") {
    auto const check = []<class T>(T, double range) {
        using limits = std::numeric_limits<T>;
        for (double const e : {0.5, -0.5, 1.7, 0.1, -2.0, 3.0, 4.0, 5.0, 64.0, 129.0, -1 / 3.0, 1e-3, 1e-300, -1e10, 1e15, -1e18 - 128}) {
            std::vector<T> of{0, 1, limits::min(), limits::denorm_min(), limits::max(), limits::infinity(), limits::quiet_NaN()};
            for (int i = -100; i <= 100; ++i) of.push_back(static_cast<T>(std::exp(i * range / 98.5L / e)));
            bool const whole = e == std::floor(e);
            for (std::size_t i = 0, n = of.size(); i < n; ++i) of.push_back(-of[i]);
            auto x = Tensor<T>::from_shape({of.size()}), ones = Tensor<T>::full({of.size()}, T(1));
            std::copy(of.begin(), of.end(), x.data());
            auto const y = rowan::pow(x, {.exponent = e}), slope = rowan::pow_op::backward(Cpu{}, x, ones, {.exponent = e});
            double off = 0, slope_off = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                Real const at = x(i), want = std::pow(at, Real(e));
                off = std::max(off, ulps(y(i), want) + (std::isnan(want) || std::signbit(y(i)) == std::signbit(want) ? 0 : 99));
                if (whole || !(at <= 0)) slope_off = std::max(slope_off, ulps(slope(i), Real(e) * std::pow(at, Real(e) - 1)));
            }
            INFO(dtype<T>::name << " " << e);
            CHECK(off <= 2);
            CHECK(slope_off <= 4);
        }
    };
    check(float{}, 104);
    check(double{}, 746);
    // The gradients of even and odd numbers, those beyond 2^53 included, and of exponents that x cannot hold.
    CHECK((rowan::pow_op::backward(Cpu{}, Tensor<float>{-1, 0.5F, 2}, Tensor<float>{1, 1, 1}, {.exponent = 1e300}) ==
           Tensor<float>{-INFINITY, 0, INFINITY}));
    CHECK(ulps(rowan::pow_op::backward(Cpu{}, Tensor<float>{1e-30F}, Tensor<float>{1}, {.exponent = 0x1p-140})(0), 0x1p-140L / 1e-30F) <= 4);
}

}  // namespace test_math
