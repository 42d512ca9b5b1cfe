// rowan/op/elementwise/pow.hpp: pow, sqrt, rsqrt and square, element-wise.
#pragma once

#include <rowan/op/detail/power.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

struct pow_formula {
    ROWAN_FORMULA static V value(V const& x, PowOptions const& o) {
        if (is_product<V>(o.exponent, -2, 4)) return power_by_products(x, static_cast<int>(o.exponent));
        return power(x, exact_exponent(o.exponent), 1.0);
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g, PowOptions const& o) {
        if (o.exponent == 0) return constant<V>(0.0);
        if (is_product<V>(o.exponent, -2, 5))
            return product(g, product(constant<V>(o.exponent), power_by_products(x, static_cast<int>(o.exponent) - 1)));
        return product(g, power(x, one_less(exact_exponent(o.exponent)), o.exponent));
    }
};

struct sqrt_formula {
    ROWAN_FORMULA static V value(V const& x) { return square_root(x); }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g) { return quotient(g, V(y + y)); }
};

struct rsqrt_formula {
    ROWAN_FORMULA static V value(V const& x) { return quotient(constant<V>(1.0), square_root(x)); }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g) {
        return product(product(g, constant<V>(-0.5)), product(y, product(y, y)));
    }
};

struct square_formula {
    ROWAN_FORMULA static V value(V const& x) { return product(x, x); }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g) { return product(g, plus(x, x)); }
};

}  // namespace detail

struct pow_op : unary_op<pow_op, detail::pow_formula> {};  ///< See pow.

/// x to the power of the exponent, element-wise, within 2 units in the last place for float and double, with the zeros,
/// infinities and NaN of C's pow; the same bits on all machines. The exponent is not rounded to the type of x. The
/// gradient is out_grad · exponent · x^(exponent - 1), within 4 units.
/// shapes   x [...] -> [...]
/// errors   ValueError if the exponent is not finite
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> pow(D exec, Tensor<T, D> const& x, PowOptions options = {}) {
    return detail::unary<pow_op>(exec, x, options);
}
template <class X>
requires detail::changeable_tensor<X>
auto pow(Cpu exec, X&& x, PowOptions options = {}) { return detail::unary<pow_op>(exec, x, options); }
template <class X>
requires detail::tensor_argument<X>
auto pow(X&& x, PowOptions options = {}) { return detail::unary<pow_op>(x.device(), x, options); }

/// The square root element-wise, correctly rounded; NaN for negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(sqrt)

/// 1 / sqrt(x) element-wise; infinity for 0, NaN for negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(rsqrt)

/// x² element-wise; integers wrap around.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(square)

}  // namespace rowan::inline v0
