// tests/op/check_unary.hpp: element-wise functions against a formula in long double.
#pragma once

#include "any_threads.hpp"
#include "inputs.hpp"

#include <rowan/op/gradients.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace test {

/// |got - want| in units of the last place of `want` as a T; 0 if both are NaN or the same infinity.
template <class T>
double ulps(T got, long double want) {
    auto const near = static_cast<T>(want);
    if (std::isnan(near)) return std::isnan(got) ? 0 : INFINITY;
    if (std::isinf(near)) return got == near ? 0 : INFINITY;
    long double const size = std::max(std::abs(want), static_cast<long double>(std::numeric_limits<T>::min()));
    return static_cast<double>(std::abs(got - want) /
                               std::ldexp(1.0L, std::ilogb(size) + 1 - std::numeric_limits<T>::digits));
}

/// Checks the operator against formula(x) at points in [least, most]: the error in units of the last place, the
/// gradient by central differences of the formula, and the bits of single elements.
template <class Op, class T, class Formula>
void check_unary(double most_ulps, T least, T most, Formula const& formula, rowan::attributes_of<Op> const& options = {}) {
    INFO(Op::name << " in [" << least << ", " << most << "]");
    constexpr std::size_t n = 20'011;
    auto x = rowan::Tensor<T>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) x(i) = least + static_cast<T>(i) * ((most - least) / static_cast<T>(n - 1));
    auto const y = Op::run(rowan::Cpu{}, x, options);
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, ulps(y(i), formula(static_cast<long double>(x(i)))));
    CHECK(worst <= most_ulps);

    using Grad = rowan::gradient_operator<Op>;
    auto out_grad = rowan::Tensor<T>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) out_grad(i) = static_cast<T>(i % 3) - T{1.5};
    auto const g = Grad::run(rowan::Cpu{}, Grad::inputs::template has<rowan::slot::x> ? x : y,
                                 out_grad, options);
    long double off = 0;
    for (std::size_t i = 0; i < n; ++i) {
        long double const at = x(i), h = std::abs(at) * 1e-6L + 1e-7L;
        long double const right = (formula(at + h) - formula(at)) / h, left = (formula(at) - formula(at - h)) / h;
        if (std::abs(right - left) > 1e-3L * (1 + std::abs(right))) continue;  // at a bend
        long double const want = (right + left) / 2 * (static_cast<long double>(i % 3) - 1.5L);
        off = std::max(off, std::abs(g(i) - want) / (1e-3L + std::abs(want)));
    }
    CHECK(off < (std::is_same_v<T, float> ? 1e-3L : 1e-4L));

    for (std::size_t const i : {std::size_t{0}, n / 3, n - 1})
        CHECK(same_bits(Op::run(rowan::Cpu{}, rowan::Tensor<T>{x(i)}, options), rowan::Tensor<T>{y(i)}));
}

}  // namespace test
