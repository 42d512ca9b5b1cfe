// rowan/op/detail/loss_formulas.hpp: the formulas of element-wise losses, with their slopes.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/loss/declared.hpp>

#include <string_view>

namespace rowan::inline v0::detail {

// A formula has a type `options` with a member `reduction`, the `value` of x and y, and its `slope`, the
// derivative by x. `of_difference` states that it depends on x - y alone, so y has the negative slope. Otherwise y is a
// label without a gradient. Where labels are 1 for positives and 0 for negatives, the options have a `pos_weight`.

/// max(x, 0); NaN propagates.
ROWAN_FORMULA V positive_part(V const& x) { return larger(constant<V>(0.0), x); }

/// |x|
ROWAN_FORMULA V size_of(V const& x) { return larger(V(constant<V>(0.0) - x), x); }

/// log(1 - x) for x in [0, 1]
ROWAN_FORMULA V logarithm_of_one_minus(V const& x) {
    V const one = constant<V>(1.0), zero = constant<V>(0.0), u = one - x;
    return logarithm(u) + choose(u > zero, quotient(V((one - u) - x), u), zero);
}

/// (x - y)²
struct mse_formula {
    using options = LossOptions;
    static constexpr bool of_difference = true;

    ROWAN_FORMULA static V value(V const& x, V const& y, LossOptions const&) { return squared_difference{}(x, y); }
    ROWAN_FORMULA static V slope(V const& x, V const& y, LossOptions const&) {
        return product(constant<V>(2.0), V(x - y));
    }
};

/// (x - y)² / 2 where |x - y| <= delta, else delta · (|x - y| - delta / 2)
struct huber_formula {
    using options = HuberOptions;
    static constexpr bool of_difference = true;

    static constexpr void check(HuberOptions const& options) {
        check_finite("delta", options.delta);
        if (!(options.delta > 0)) throw ValueError("delta", options.delta, "a positive number");
    }

    ROWAN_FORMULA static V value(V const& x, V const& y, HuberOptions const& o) {
        V const d = x - y, size = size_of(d);
        V const line = product(V(size - constant<V>(o.delta / 2)), constant<V>(o.delta));
        return choose(size > constant<V>(o.delta), line, product(product(d, d), constant<V>(0.5)));
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, HuberOptions const& o) {
        return limited(V(x - y), -o.delta, o.delta);
    }
};

/// (x - y)² / (2 · beta) where |x - y| < beta, else |x - y| - beta / 2
struct smooth_l1_formula {
    using options = SmoothL1Options;
    static constexpr bool of_difference = true;

    static constexpr void check(SmoothL1Options const& options) {
        check_finite("beta", options.beta);
        if (options.beta < 0) throw ValueError("beta", options.beta, "at least 0");
    }

    ROWAN_FORMULA static V value(V const& x, V const& y, SmoothL1Options const& o) {
        using S = typename lane_of<V>::type;
        V const d = x - y, size = size_of(d), square = product(d, d);
        V const line = size - constant<V>(o.beta / 2);
        auto const share = [&](V const& of) { return quotient(product(of, constant<V>(0.5)), constant<V>(o.beta)); };
        if constexpr (is_machine_float<S>) {  // where d² overflows or vanishes, once more d after the division
            auto const fits = (square >= V(least_normal<S>)) & (square <= V(greatest_normal<S>));
            V const part = share(choose(fits, square, d));
            return choose(size < constant<V>(o.beta), V(choose(fits, part, product(part, d))), line);
        } else {
            return choose(size < constant<V>(o.beta), share(square), line);
        }
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, SmoothL1Options const& o) {
        V const d = x - y, zero = constant<V>(0.0), one = constant<V>(1.0);
        V const sign = choose(d > zero, one, choose(d < zero, V(zero - one), d));
        return choose(size_of(d) < constant<V>(o.beta), quotient(d, constant<V>(o.beta)), sign);
    }
};

/// -y · log(s) - (1 - y) · log(1 - s) for s = 1 / (1 + exp(-x)): max(x, 0) - x · y + log(1 + exp(-|x|))
struct binary_cross_entropy_with_logits_formula {
    using options = BinaryCrossEntropyOptions;

    ROWAN_FORMULA static V value(V const& x, V const& y, BinaryCrossEntropyOptions const&) {
        V const zero = constant<V>(0.0);
        V const tail = logarithm_of_one_plus(exponential_of_any(V(zero - size_of(x))));
        return (positive_part(x) - product(x, y)) + tail;
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, BinaryCrossEntropyOptions const&) { return logistic(x) - y; }
};

/// -y · log(x) - (1 - y) · log(1 - x), where logarithms are at least -100, as in PyTorch
struct binary_cross_entropy_formula {
    using options = BinaryCrossEntropyOptions;

    ROWAN_FORMULA static V value(V const& x, V const& y, BinaryCrossEntropyOptions const&) {
        V const least = constant<V>(-100.0), log_x = logarithm(x), log_rest = logarithm_of_one_minus(x);
        V const rest = product(V(y - constant<V>(1.0)), V(choose(log_rest < least, least, log_rest)));
        return rest - product(y, V(choose(log_x < least, least, log_x)));
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, BinaryCrossEntropyOptions const&) {
        V const least = constant<V>(1e-12), spread = product(V(constant<V>(1.0) - x), x);
        return quotient(V(x - y), V(choose(spread < least, least, spread)));
    }
};

/// -y · log(x + epsilon) - (1 - y) · log(1 - x + epsilon)
struct binary_cross_entropy_with_epsilon_formula {
    using options = BinaryCrossEntropyWithEpsilonOptions;

    static constexpr void check(BinaryCrossEntropyWithEpsilonOptions const& options) {
        check_finite("epsilon", options.epsilon);
        if (options.epsilon < 0) throw ValueError("epsilon", options.epsilon, "at least 0");
    }

    ROWAN_FORMULA static V value(V const& x, V const& y, BinaryCrossEntropyWithEpsilonOptions const& o) {
        V const one = constant<V>(1.0), epsilon = constant<V>(o.epsilon);
        V const rest = product(V(y - one), logarithm(V((one - x) + epsilon)));
        return rest - product(y, logarithm(V(x + epsilon)));
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, BinaryCrossEntropyWithEpsilonOptions const& o) {
        V const one = constant<V>(1.0), epsilon = constant<V>(o.epsilon);
        return quotient(V(one - y), V((one - x) + epsilon)) - quotient(y, V(x + epsilon));
    }
};

struct hinge_formula {
    using options = HingeOptions;

    ROWAN_FORMULA static V value(V const& x, V const& y, HingeOptions const&) {
        V const one = constant<V>(1.0), sign = product(y, constant<V>(2.0)) - one;
        return positive_part(V(one - product(x, sign)));
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, HingeOptions const&) {
        V const one = constant<V>(1.0), zero = constant<V>(0.0), sign = product(y, constant<V>(2.0)) - one;
        return choose(one - product(x, sign) > zero, V(zero - sign), zero);
    }
};

/// y · (log(y) - x) for log-probabilities x, or 0 where the probability y is 0
struct kl_div_formula {
    using options = LossOptions;

    ROWAN_FORMULA static V value(V const& x, V const& y, LossOptions const&) {
        V const zero = constant<V>(0.0), loss = product(y, V(logarithm(y) - x));
        return choose(y > zero, loss, choose(y < zero, loss, y));
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, LossOptions const&) {
        static_cast<void>(x);
        return constant<V>(0.0) - y;
    }
};

/// max(margin - x · y, 0) for labels y of 1 and -1
struct margin_ranking_formula {
    using options = MarginOptions;

    static constexpr void check(MarginOptions const& options) { check_finite("margin", options.margin); }

    ROWAN_FORMULA static V value(V const& x, V const& y, MarginOptions const& o) {
        return positive_part(V(constant<V>(o.margin) - product(x, y)));
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, MarginOptions const& o) {
        V const zero = constant<V>(0.0);
        return choose(constant<V>(o.margin) - product(x, y) > zero, V(zero - y), zero);
    }
};

struct cosine_embedding_formula {
    using options = MarginOptions;

    static constexpr void check(MarginOptions const& options) { check_finite("margin", options.margin); }

    ROWAN_FORMULA static V value(V const& x, V const& y, MarginOptions const& o) {
        return choose(y > constant<V>(0.0), V(constant<V>(1.0) - x), positive_part(V(x - constant<V>(o.margin))));
    }
    ROWAN_FORMULA static V slope(V const& x, V const& y, MarginOptions const& o) {
        V const zero = constant<V>(0.0), one = constant<V>(1.0);
        return choose(y > zero, V(zero - one), choose(x > constant<V>(o.margin), one, zero));
    }
};

}  // namespace rowan::inline v0::detail
