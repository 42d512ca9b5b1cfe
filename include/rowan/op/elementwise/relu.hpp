// rowan/op/elementwise/relu.hpp: relu, relu6, leaky_relu, thresholded_relu and elu, element-wise.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/op/detail/limits.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

struct relu_formula {
    ROWAN_FORMULA static V value(V const& x) { return larger(constant<V>(0.0), x); }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g) {
        V const zero = constant<V>(0.0);
        return choose(y > zero, g, choose(y < zero, zero, plus(y, zero)));  // NaN where y is
    }
};

struct relu6_formula {
    static constexpr void check(Relu6Options const& options) {
        if (options.threshold < 0) throw ValueError("threshold", options.threshold, "at least 0");
    }

    ROWAN_FORMULA static V value(V const& x, Relu6Options const& o) { return limited(x, 0.0, o.threshold); }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g, Relu6Options const& o) {
        return where_between(y, 0.0, o.threshold, g);
    }
};

struct leaky_relu_formula {
    ROWAN_FORMULA static V value(V const& x, LeakyReluOptions const& o) {
        return choose(x > constant<V>(0.0), x, times(x, o.alpha));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g, LeakyReluOptions const& o) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, g, choose(not_above(x, zero), product(g, constant<V>(o.alpha)), x));
    }
};

struct thresholded_relu_formula {
    ROWAN_FORMULA static V value(V const& x, ThresholdedReluOptions const& o) {
        return choose(x > constant<V>(o.threshold), x,
                      choose(not_above(x, constant<V>(o.threshold)), constant<V>(0.0), x));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g, ThresholdedReluOptions const& o) {
        V const threshold = constant<V>(o.threshold);
        return choose(x > threshold, g, choose(not_above(x, threshold), constant<V>(0.0), x));
    }
};

struct elu_formula {
    ROWAN_FORMULA static V value(V const& x, EluOptions const& o) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, x, product(constant<V>(o.alpha), exponential_minus_one(smaller(zero, x))));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g, EluOptions const& o) {
        V const zero = constant<V>(0.0);
        V const slope = product(constant<V>(o.alpha), exponential_of_any(smaller(zero, x)));
        return choose(x > zero, g, product(g, slope));
    }
};

}  // namespace detail

ROWAN_ELEMENTWISE_OP(relu)
ROWAN_ELEMENTWISE_OP(relu6)

ROWAN_ELEMENTWISE_OP(leaky_relu)
ROWAN_ELEMENTWISE_OP(thresholded_relu)

ROWAN_ELEMENTWISE_OP(elu)

}  // namespace rowan::inline v0
