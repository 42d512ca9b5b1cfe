// rowan/op/elementwise/gelu.hpp: gelu, element-wise.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/op/detail/limits.hpp>
#include <rowan/op/detail/normal_cdf.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// 2 sqrt(2 / π) · (x + 0.044715 x³); the logistic function of it is (1 + tanh(half of it)) / 2.
ROWAN_FORMULA V gelu_argument(V const& x) {
    return product(
        x, V(constant<V>(1.5957691216057308) + product(product(x, x), constant<V>(1.5957691216057308 * 0.044715))));
}

struct gelu_formula {
    ROWAN_FORMULA static V value(V const& x, GeluOptions const& o) {
        if (o.approximate) return over_one_plus_exponential(x, V(constant<V>(0.0) - gelu_argument(x)));
        return larger(constant<V>(0.0), x) - normal_tail(x).value;
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g, GeluOptions const& o) {
        if (o.approximate) {
            // y = x · s(u), u = a x + b x³, y' = s + x · s · (1 - s) · (a + 3 b x²); s is 0 or 1 beyond ±22
            V const z = limited(x, -22.0, 22.0);
            auto const gate = logistic_and_slope(gelu_argument(z));
            V const slope = constant<V>(1.5957691216057308) +
                            product(product(z, z), constant<V>(3 * 1.5957691216057308 * 0.044715));
            return product(g, V(gate.value + product(product(z, slope), gate.slope)));
        }
        V const slope = normal_tail(x).slope;
        return product(g, V(choose(x < constant<V>(0.0), slope, V(constant<V>(1.0) - slope))));
    }
};

}  // namespace detail

ROWAN_ELEMENTWISE_OP(gelu)

}  // namespace rowan::inline v0
