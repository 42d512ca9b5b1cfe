// rowan/op/elementwise/pow.hpp: pow, sqrt, rsqrt and square, element-wise.
#pragma once

#include <rowan/op/detail/power.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>
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

ROWAN_ELEMENTWISE_OP(pow)
ROWAN_ELEMENTWISE_OP(sqrt)
ROWAN_ELEMENTWISE_OP(rsqrt)
ROWAN_ELEMENTWISE_OP(square)

}  // namespace rowan::inline v0
