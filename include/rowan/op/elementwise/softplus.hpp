// rowan/op/elementwise/softplus.hpp: softplus and mish, element-wise.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

struct softplus_formula {
    static constexpr void check(SoftplusOptions const& options) {
        if (!(options.beta > 0)) throw ValueError("beta", options.beta, "a positive number");
    }

    ROWAN_FORMULA static V value(V const& x, SoftplusOptions const& o) {
        V const zero = constant<V>(0.0), scaled = product(x, constant<V>(o.beta));
        V const size = smaller(scaled, V(zero - scaled));
        return larger(zero, x) + product(logarithm_of_one_plus(exponential_of_any(size)), constant<V>(1 / o.beta));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g, SoftplusOptions const& o) {
        return product(g, over_one_plus_exponential(constant<V>(1.0), product(x, constant<V>(-o.beta))));
    }
};

}  // namespace detail

ROWAN_ELEMENTWISE_OP(softplus)

namespace detail {

/// x · tanh(log(1 + exp(x))): with h = 1 / (1 + exp(x)), the hyperbolic tangent is (1 - h) · (1 + h) / (1 + h²)
struct mish_formula {
    ROWAN_FORMULA static V value(V const& x) {
        V const one = constant<V>(1.0), h = over_one_plus_exponential(one, x);
        V const gated = over_one_plus_exponential(x, V(constant<V>(0.0) - x));  // x · (1 - h)
        return product(gated, quotient(V(one + h), V(one + product(h, h))));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g) {
        // tanh + 4 · x · s · (1 - s) · h / (1 + h²)², where s = 1 - h is 0 or 1 beyond ±800
        V const one = constant<V>(1.0), z = limited(x, -800.0, 800.0);
        auto const gate = logistic_and_slope(z);
        V const h = one - gate.value, share = quotient(one, V(one + product(h, h)));
        V const bend = product(product(product(z, gate.slope), constant<V>(4.0)), product(h, share));
        return product(g, product(V(product(gate.value, V(one + h)) + bend), share));
    }
};

}  // namespace detail

ROWAN_ELEMENTWISE_OP(mish)

}  // namespace rowan::inline v0
