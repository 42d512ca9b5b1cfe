// rowan/op/detail/activation_formulas.hpp: the formulas of activation functions, with their gradients.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/extremes.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/normal_cdf.hpp>
#include <rowan/op/elementwise/activation_options.hpp>

#include <string_view>

namespace rowan::inline v0 {

namespace detail {

// Values and slopes are right for every number: where an intermediate result would be infinite, or the product of zero
// and an infinity, the formula has the limit. NaN gives NaN.

/// factor · x, and 0 for factor = 0 and infinite x.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V times(V const& x, double factor) {
    return product(factor == 0 ? limited(x, -1.0, 1.0) : x, constant<V>(factor));
}

/// `inside` where least < y < most, else 0; NaN for y = NaN.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V where_between(V const& y, double least, double most, V const& inside) {
    V const zero = constant<V>(0.0), low = constant<V>(least);
    return choose(y > low, choose(y < constant<V>(most), inside, zero), choose(not_above(y, low), zero, y));
}

/// min(max(x, 0), threshold)
struct relu6_formula {
    static constexpr std::string_view name = "relu6";
    using options = Relu6Options;

    static void check(Relu6Options const& options) {
        if (options.threshold < 0) throw ValueError("threshold", options.threshold, "at least 0");
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, Relu6Options const& o) {
        return limited(x, 0.0, o.threshold);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g, Relu6Options const& o) {
        return where_between(y, 0.0, o.threshold, g);
    }
};

/// min(max(x, min), max)
struct hardtanh_formula {
    static constexpr std::string_view name = "hardtanh";
    using options = HardtanhOptions;

    static void check(HardtanhOptions const& options) {
        if (!(options.max >= options.min)) throw ValueError("max", options.max, "a number not less than min");
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, HardtanhOptions const& o) {
        return limited(x, o.min, o.max);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g, HardtanhOptions const& o) {
        return where_between(y, o.min, o.max, g);
    }
};

/// x where x > 0, else alpha · x
struct leaky_relu_formula {
    static constexpr std::string_view name = "leaky_relu";
    using options = LeakyReluOptions;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, LeakyReluOptions const& o) {
        return choose(x > constant<V>(0.0), x, times(x, o.alpha));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, LeakyReluOptions const& o) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, g, choose(not_above(x, zero), product(g, constant<V>(o.alpha)), x));
    }
};

/// x where x > 0, else alpha · (exp(x) - 1)
struct elu_formula {
    static constexpr std::string_view name = "elu";
    using options = EluOptions;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, EluOptions const& o) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, x, product(constant<V>(o.alpha), exponential_minus_one(V(choose(x > zero, zero, x)))));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, EluOptions const& o) {
        V const zero = constant<V>(0.0);
        V const slope = product(constant<V>(o.alpha), exponential_of_any(V(choose(x > zero, zero, x))));
        return choose(x > zero, g, product(g, slope));
    }
};

/// 2 sqrt(2 / π) · (x + 0.044715 x³); the logistic function of it is (1 + tanh(half of it)) / 2.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V gelu_argument(V const& x) {
    return product(
        x, V(constant<V>(1.5957691216057308) + product(product(x, x), constant<V>(1.5957691216057308 * 0.044715))));
}

/// x · Φ(x), or its approximation
struct gelu_formula {
    static constexpr std::string_view name = "gelu";
    using options = GeluOptions;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, GeluOptions const& o) {
        if (o.approximate) return over_one_plus_exponential(x, V(constant<V>(0.0) - gelu_argument(x)));
        V const low = constant<V>(-64.0);  // Φ(x) is 0 below
        return product(V(choose(x < low, low, x)), standard_normal(x).distribution);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, GeluOptions const& o) {
        if (o.approximate) {
            // y = x · s(u), u = a x + b x³, y' = s + x · s · (1 - s) · (a + 3 b x²); s is 0 or 1 beyond ±22
            V const z = limited(x, -22.0, 22.0);
            auto const gate = logistic_and_slope(gelu_argument(z));
            V const slope = constant<V>(1.5957691216057308) +
                            product(product(z, z), constant<V>(3 * 1.5957691216057308 * 0.044715));
            return product(g, V(gate.value + product(product(z, slope), gate.slope)));
        }
        auto const normal = standard_normal(x);
        return product(g, V(normal.distribution + product(limited(x, -64.0, 64.0), normal.density)));
    }
};

/// x / (1 + exp(-beta · x))
struct swish_formula {
    static constexpr std::string_view name = "swish";
    using options = SwishOptions;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, SwishOptions const& o) {
        return over_one_plus_exponential(x, times(x, -o.beta));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, SwishOptions const& o) {
        // s is 0 or 1 beyond ±800
        V const scaled = limited(times(x, o.beta), -800.0, 800.0);
        auto const gate = logistic_and_slope(scaled);
        return product(g, V(gate.value + product(scaled, gate.slope)));
    }
};

/// log(1 + exp(beta · x)) / beta
struct softplus_formula {
    static constexpr std::string_view name = "softplus";
    using options = SoftplusOptions;

    static void check(SoftplusOptions const& options) {
        if (!(options.beta > 0)) throw ValueError("beta", options.beta, "a positive number");
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, SoftplusOptions const& o) {
        V const zero = constant<V>(0.0), scaled = product(x, constant<V>(o.beta));
        V const size = choose(scaled < zero, scaled, V(zero - scaled));
        return choose(x > zero, x, choose(x < zero, zero, x)) +
               product(logarithm_of_one_plus(exponential_of_any(size)), constant<V>(1 / o.beta));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, SoftplusOptions const& o) {
        return product(g, over_one_plus_exponential(constant<V>(1.0), product(x, constant<V>(-o.beta))));
    }
};

/// x / (1 + |x|)
struct softsign_formula {
    static constexpr std::string_view name = "softsign";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        V const zero = constant<V>(0.0), z = limited(x, -1e30, 1e30);  // the result is -1 or 1 beyond
        return quotient(z, V(constant<V>(1.0) + choose(z < zero, V(zero - z), z)));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g) {
        V const zero = constant<V>(0.0), below = constant<V>(1.0) + choose(x < zero, V(zero - x), x);
        return quotient(g, product(below, below));
    }
};

/// slope · x + offset, limited to [0, 1]
struct hard_sigmoid_formula {
    static constexpr std::string_view name = "hard_sigmoid";
    using options = HardSigmoidOptions;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, HardSigmoidOptions const& o) {
        return limited(V(times(x, o.slope) + constant<V>(o.offset)), 0.0, 1.0);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g, HardSigmoidOptions const& o) {
        return where_between(y, 0.0, 1.0, product(g, constant<V>(o.slope)));
    }
};

/// x · min(max(x + offset, 0), threshold) / scale
struct hard_swish_formula {
    static constexpr std::string_view name = "hard_swish";
    using options = HardSwishOptions;

    static void check(HardSwishOptions const& options) {
        if (options.scale == 0) throw ValueError("scale", options.scale, "another number than 0");
        if (options.threshold < 0) throw ValueError("threshold", options.threshold, "at least 0");
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, HardSwishOptions const& o) {
        V const gate = limited(V(x + constant<V>(o.offset)), 0.0, o.threshold);
        return product(V(choose(gate > constant<V>(0.0), x, gate)), product(gate, constant<V>(1 / o.scale)));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, HardSwishOptions const& o) {
        V const zero = constant<V>(0.0), gate = limited(V(x + constant<V>(o.offset)), 0.0, o.threshold);
        V const inner = choose(gate > zero, choose(gate < constant<V>(o.threshold), x, zero), zero);
        return product(g, product(V(gate + inner), constant<V>(1 / o.scale)));
    }
};

/// b · tanh(a · x)
struct stanh_formula {
    static constexpr std::string_view name = "stanh";
    using options = StanhOptions;

    static void check(StanhOptions const& options) {
        if (options.scale_b == 0) throw ValueError("scale_b", options.scale_b, "another number than 0");
    }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, StanhOptions const& o) {
        return product(constant<V>(o.scale_b), hyperbolic_tangent(times(x, o.scale_a)));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g, StanhOptions const& o) {
        V const t = quotient(y, constant<V>(o.scale_b));  // exactly 1 at the limit
        return product(g, product(constant<V>(o.scale_a * o.scale_b), V(constant<V>(1.0) - product(t, t))));
    }
};

/// x where x > threshold, else 0
struct thresholded_relu_formula {
    static constexpr std::string_view name = "thresholded_relu";
    using options = ThresholdedReluOptions;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, ThresholdedReluOptions const& o) {
        return choose(x > constant<V>(o.threshold), x,
                      choose(not_above(x, constant<V>(o.threshold)), constant<V>(0.0), x));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, ThresholdedReluOptions const& o) {
        V const threshold = constant<V>(o.threshold);
        return choose(x > threshold, g, choose(not_above(x, threshold), constant<V>(0.0), x));
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
