// rowan/op/elementwise/sigmoid.hpp: sigmoid, hard_sigmoid, swish, silu and hard_swish, element-wise.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/op/detail/limits.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

struct sigmoid_formula {
    ROWAN_FORMULA static V value(V const& x) {
        return over_one_plus_exponential(constant<V>(1.0), V(constant<V>(0.0) - x));
    }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g) {
        return product(g, product(y, V(constant<V>(1.0) - y)));
    }
};

struct hard_sigmoid_formula {
    ROWAN_FORMULA static V value(V const& x, HardSigmoidOptions const& o) {
        return limited(V(times(x, o.slope) + constant<V>(o.offset)), 0.0, 1.0);
    }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g, HardSigmoidOptions const& o) {
        return where_between(y, 0.0, 1.0, product(g, constant<V>(o.slope)));
    }
};

struct swish_formula {
    ROWAN_FORMULA static V value(V const& x, SwishOptions const& o) {
        return over_one_plus_exponential(x, times(x, -o.beta));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g, SwishOptions const& o) {
        // s is 0 or 1 beyond ±800
        V const scaled = limited(times(x, o.beta), -800.0, 800.0);
        auto const gate = logistic_and_slope(scaled);
        return product(g, V(gate.value + product(scaled, gate.slope)));
    }
};

struct silu_formula {
    ROWAN_FORMULA static V value(V const& x) { return over_one_plus_exponential(x, V(constant<V>(0.0) - x)); }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g) { return swish_formula::gradient_of_x(x, g, {}); }
};

struct hard_swish_formula {
    static constexpr void check(HardSwishOptions const& options) {
        if (options.scale == 0) throw ValueError("scale", options.scale, "another number than 0");
        if (options.threshold < 0) throw ValueError("threshold", options.threshold, "at least 0");
    }

    ROWAN_FORMULA static V value(V const& x, HardSwishOptions const& o) {
        V const gate = limited(V(x + constant<V>(o.offset)), 0.0, o.threshold);
        return product(V(choose(gate > constant<V>(0.0), x, gate)), product(gate, constant<V>(1 / o.scale)));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g, HardSwishOptions const& o) {
        V const zero = constant<V>(0.0), gate = limited(V(x + constant<V>(o.offset)), 0.0, o.threshold);
        V const inner = choose(gate > zero, choose(gate < constant<V>(o.threshold), x, zero), zero);
        return product(g, product(V(gate + inner), constant<V>(1 / o.scale)));
    }
};

}  // namespace detail

ROWAN_ELEMENTWISE_OP(sigmoid)
ROWAN_ELEMENTWISE_OP(hard_sigmoid)

ROWAN_ELEMENTWISE_OP(swish)
ROWAN_ELEMENTWISE_OP(silu)

ROWAN_ELEMENTWISE_OP(hard_swish)

}  // namespace rowan::inline v0
