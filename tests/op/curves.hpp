// tests/op/curves.hpp: activations with their slopes as formulas, to compare with at any number.
#pragma once

#include "catch.hpp"

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/op/elementwise/exp.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/pow.hpp>
#include <rowan/op/elementwise/relu.hpp>
#include <rowan/op/elementwise/rounding.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/elementwise/sin.hpp>
#include <rowan/op/elementwise/softplus.hpp>
#include <rowan/op/elementwise/tanh.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

namespace test {

/// Calls visit(op, options, value, slope, ulps, off) for each activation. At every number, infinities included, `Op`
/// is to be within `ulps` units in the last place of value(x), and its gradient within `off` epsilons of slope(x).
/// `Real` is the type of the formulas.
template <class Real, class Visit>
void each_curve(Visit const& visit) {
    auto const real = [](long double x) { return static_cast<Real>(x); };
    auto const logistic = [](Real x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); };
    auto const between = [](Real x, Real least, Real most) { return x < least ? least : x > most ? most : x; };
    bool const wide = sizeof(Real) > sizeof(double);
    Real const none = 0, one = 1, huge = std::numeric_limits<Real>::max();
    auto const inside = [=](Real x, Real least, Real most, Real slope) {
        return std::isnan(x) ? x : x > least && x < most ? slope : none;
    };

    visit(rowan::relu_op{}, rowan::no_attributes{}, [=](Real x) { return between(x, 0, INFINITY); },
          [=](Real x) { return inside(x, 0, INFINITY, 1) + (x == INFINITY ? one : none); }, 0, 0);
    visit(rowan::relu6_op{}, rowan::Relu6Options{}, [=](Real x) { return between(x, 0, 6); },
          [=](Real x) { return inside(x, 0, 6, 1); }, 0, 0);
    visit(rowan::hardtanh_op{}, rowan::HardtanhOptions{.min = -1, .max = 3}, [=](Real x) { return between(x, -1, 3); },
          [=](Real x) { return inside(x, -1, 3, 1); }, 0, 0);
    visit(rowan::leaky_relu_op{}, rowan::LeakyReluOptions{.alpha = -0.25}, [=](Real x) { return x > 0 ? x : x * -0.25F; },
          [=](Real x) { return std::isnan(x) ? x : x > 0 ? one : real(-0.25); }, 0.5, 0);
    visit(rowan::leaky_relu_op{}, rowan::LeakyReluOptions{.alpha = 0}, [=](Real x) { return between(x, 0, INFINITY); },
          [=](Real x) { return std::isnan(x) ? x : x > 0 ? one : none; }, 0, 0);
    visit(rowan::elu_op{}, rowan::EluOptions{.alpha = 1.5}, [=](Real x) { return x > 0 ? x : std::expm1(x) * 1.5F; },
          [=](Real x) { return x > 0 ? one : std::exp(x) * 1.5F; }, 3, 3);
    Real const root = std::sqrt(real(0.5)), density = 1 / std::sqrt(2 * std::acos(-one));
    visit(rowan::gelu_op{}, rowan::GeluOptions{},
          [=](Real x) { return x < -99 ? none : x / 2 * std::erfc(-x * root); },
          [=](Real x) { return std::erfc(-x * root) / 2 + between(x, -99, 99) * density * std::exp(-x * x / 2); }, wide ? 24 : 7, 3);
    Real const a = 2 * std::sqrt(1 / std::acos(none)), b = a * real(0.044715L);
    visit(rowan::gelu_op{}, rowan::GeluOptions{.approximate = true},
          [=](Real x) { return x < -99 ? none : x * logistic(x * (a + b * x * x)); },
          [=](Real full) {
              Real const x = between(full, -99, 99), s = logistic(x * (a + b * x * x));
              return s + x * (a + 3 * b * x * x) * s * logistic(-x * (a + b * x * x));
          }, wide ? 2500 : 200, 4);
    for (double const beta : {1.5, -0.5, 0.0}) {
        visit(rowan::swish_op{}, rowan::SwishOptions{.beta = beta},
              [=](Real x) { return beta == 0 ? x / 2 : beta * x < -huge ? none : x * logistic(real(beta) * x); },
              [=](Real full) {
                  Real const x = between(full, -1e5, 1e5), s = logistic(real(beta) * x);
                  return s + real(beta) * x * s * logistic(-real(beta) * x);
              }, wide ? 1200 : 120, 4);
    }
    visit(rowan::silu_op{}, rowan::no_attributes{}, [=](Real x) { return x < -huge ? none : x * logistic(x); },
          [=](Real full) {
              Real const x = between(full, -1e5, 1e5), s = logistic(x);
              return s + x * s * logistic(-x);
          }, wide ? 1200 : 120, 4);
    for (double const beta : {2.0, 1.0, 0.25}) {
        visit(rowan::softplus_op{}, rowan::SoftplusOptions{.beta = beta},
              [=](Real x) { return std::max(x, none) + std::log1p(std::exp(-real(beta) * std::abs(x))) / real(beta) + (std::isnan(x) ? x : none); },
              [=](Real x) { return logistic(real(beta) * x); }, 5, 2);
    }
    visit(rowan::mish_op{}, rowan::no_attributes{}, [=](Real x) { return x < -huge ? none : x * std::tanh(std::log1p(std::exp(x))); },
          [=](Real full) {
              Real const x = between(full, -1e4, 1e4), e = std::log1p(std::exp(x)), c = std::cosh(e);
              return std::tanh(e) + x * logistic(x) / c / c;
          }, 5, 3);
    visit(rowan::softsign_op{}, rowan::no_attributes{},
          [=](Real x) { return std::isinf(x) ? std::copysign(one, x) : x / (1 + std::abs(x)); },
          [=](Real x) { return 1 / ((1 + std::abs(x)) * (1 + std::abs(x))); }, 2, 2);
    visit(rowan::hard_sigmoid_op{}, rowan::HardSigmoidOptions{.slope = 1, .offset = 0},
          [=](Real x) { return between(x, 0, 1); }, [=](Real x) { return inside(x, 0, 1, 1); }, 0, 0);
    visit(rowan::hard_sigmoid_op{}, rowan::HardSigmoidOptions{.slope = 0, .offset = 0.5},
          [=](Real x) { return std::isnan(x) ? x : real(0.5); }, [=](Real x) { return std::isnan(x) ? x : none; }, 0, 0);
    visit(rowan::hard_swish_op{}, rowan::HardSwishOptions{},
          [=](Real x) { return x < -3 ? none : x * between(x + 3, 0, 6) / 6; },
          [=](Real x) { return x > -3 && x < 3 ? (x + x + 3) / 6 : between(x, 0, 1); }, 4, 3);
    visit(rowan::hard_swish_op{}, rowan::HardSwishOptions{.threshold = 0},
          [=](Real x) { return std::isnan(x) ? x : none; }, [=](Real x) { return std::isnan(x) ? x : none; }, 0, 0);
    for (double const scale : {0.5, 0.0}) {
        visit(rowan::stanh_op{}, rowan::StanhOptions{.scale_a = scale, .scale_b = -2},
              [=](Real x) { return -2 * std::tanh(real(scale) * between(x, -99, 99)); },
              [=](Real x) { return -2 * real(scale) / std::cosh(between(x, -1e3, 1e3) * real(scale)) / std::cosh(between(x, -1e3, 1e3) * real(scale)); }, 3, 4);
    }
    visit(rowan::thresholded_relu_op{}, rowan::ThresholdedReluOptions{.threshold = 2},
          [=](Real x) { return x <= 2 ? none : x; }, [=](Real x) { return std::isnan(x) ? x : x > 2 ? one : none; }, 0, 0);
    visit(rowan::sigmoid_op{}, rowan::no_attributes{}, logistic, [=](Real x) { return logistic(x) * logistic(-x); }, 4, 2);
    visit(rowan::tanh_op{}, rowan::no_attributes{}, [=](Real x) { return std::tanh(x); },
          [=](Real x) { return 1 / std::cosh(x) / std::cosh(x); }, 3, 4);
}

/// How far from a formula the values and slopes of numbers are: the first number, where one is too far.
template <class Real>
std::string too_far(std::size_t n, auto const& x, auto const& got, auto const& want, double units, double epsilon,
                    double least, double most, bool relative) {
    for (std::size_t i = 0; i < n; ++i) {
        Real const y = want(i), at = x(i), is = got(i), size = std::abs(y);
        if (std::isnan(y) ? std::isnan(is) : is == y) continue;
        if (relative && size > static_cast<Real>(most) && std::abs(is) > most * (1 - 2 * epsilon) && (is > 0) == (y > 0)) continue;
        Real const unit = relative ? std::ldexp(static_cast<Real>(epsilon), std::ilogb(std::max(size, static_cast<Real>(least))))
                                   : static_cast<Real>(epsilon);
        if (std::abs(is - y) <= static_cast<Real>(units) * unit) continue;
        std::ostringstream text;
        text.precision(20);
        text << "of " << at << " is " << is << ", expected " << y;
        return text.str();
    }
    return "";
}

/// Checks values and slopes of all activations at the numbers x.
template <class Real, class T>
void check_curves(rowan::Tensor<T> const& x) {
    std::size_t const n = x.size();
    auto ones = rowan::Tensor<T>::from_shape(x.shape());
    std::fill_n(ones.data(), n, T(1.F));
    using limits = std::numeric_limits<std::conditional_t<std::is_same_v<T, double>, double, float>>;
    bool const half = std::is_same_v<T, rowan::float16>, brain = std::is_same_v<T, rowan::bfloat16>;
    double const epsilon = half ? 0x1p-10 : brain ? 0x1p-7 : static_cast<double>(limits::epsilon());
    double const least = half ? 0x1p-14 : static_cast<double>(limits::min());
    double const most = half ? 65504 : brain ? 0x1.FEp127 : static_cast<double>(limits::max());
    using Values = std::function<Real(std::size_t)>;
    auto const values = [](rowan::Tensor<T> const& of) -> Values {
        return [&of](std::size_t i) { return static_cast<Real>(of(i)); };
    };
    each_curve<Real>([&]<class Op>(Op, auto const& options, std::function<Real(Real)> const& value,
                                   std::function<Real(Real)> const& slope, double ulps, double off) {
        INFO(Op::name);
        auto const y = Op::run(rowan::Cpu{1}, x, rowan::attributes_of<Op>(options));
        using Grad = rowan::gradient_operator<Op>;
        auto const g = Grad::run(rowan::Cpu{1}, Grad::inputs::template has<rowan::slot::x> ? x : y, ones, rowan::attributes_of<Op>(options));
        Values const at = values(x);
        CHECK(too_far<Real>(n, at, values(y), Values([&](std::size_t i) { return value(at(i)); }), ulps, epsilon, least, most, true) == "");
        CHECK(too_far<Real>(n, at, values(g), Values([&](std::size_t i) { return slope(at(i)); }), off, epsilon, least, most, false) == "");
    });
}

}  // namespace test
