// rowan/op/elementwise/tanh.hpp: tanh, stanh, hardtanh and softsign, element-wise.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/op/detail/limits.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

struct tanh_formula {
    ROWAN_FORMULA static V value(V const& x) { return hyperbolic_tangent(x); }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g) {
        return product(g, V(constant<V>(1.0) - product(y, y)));
    }
};

struct stanh_formula {
    static constexpr void check(StanhOptions const& options) {
        if (options.scale_b == 0) throw ValueError("scale_b", options.scale_b, "another number than 0");
    }

    ROWAN_FORMULA static V value(V const& x, StanhOptions const& o) {
        return product(constant<V>(o.scale_b), hyperbolic_tangent(times(x, o.scale_a)));
    }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g, StanhOptions const& o) {
        V const t = quotient(y, constant<V>(o.scale_b));  // exactly 1 at the limit
        return product(g, product(constant<V>(o.scale_a * o.scale_b), V(constant<V>(1.0) - product(t, t))));
    }
};

struct hardtanh_formula {
    static constexpr void check(HardtanhOptions const& options) {
        if (!(options.max >= options.min)) throw ValueError("max", options.max, "a number not less than min");
    }

    ROWAN_FORMULA static V value(V const& x, HardtanhOptions const& o) { return limited(x, o.min, o.max); }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g, HardtanhOptions const& o) {
        return where_between(y, o.min, o.max, g);
    }
};

struct softsign_formula {
    ROWAN_FORMULA static V value(V const& x) {
        V const zero = constant<V>(0.0), z = limited(x, -1e30, 1e30);  // the result is -1 or 1 beyond
        return quotient(z, V(constant<V>(1.0) + larger(V(zero - z), z)));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g) {
        V const zero = constant<V>(0.0), below = constant<V>(1.0) + larger(V(zero - x), x);
        return quotient(g, product(below, below));
    }
};

}  // namespace detail

ROWAN_ELEMENTWISE_OP(tanh)
ROWAN_ELEMENTWISE_OP(stanh)

ROWAN_ELEMENTWISE_OP(hardtanh)
ROWAN_ELEMENTWISE_OP(softsign)

}  // namespace rowan::inline v0
