// rowan/sparse/detail/optimizer.hpp: checks of the optimizers.
#pragma once

#include <rowan/sparse/lane_rule.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Whether `G` is a gradient type of optimizers on `D`.
template <class G, class D>
inline constexpr bool is_gradient_on = false;
template <class T, class D>
inline constexpr bool is_gradient_on<Tensor<T, D>, D> = true;
template <class T, class D>
inline constexpr bool is_gradient_on<SelectedRows<T, D>, D> = true;
template <class G, class D>
concept gradient_on = is_gradient_on<G, D>;

template <class G, class... P>
constexpr void check_types() {
    static_assert((!std::integral<sum_t<P>> && ...),
                  "rowan: an optimizer needs a parameter of a floating-point type: for integers use scatter_add");
    static_assert((computes_from<P, G, P...> && ...),
                  "rowan: these element types cannot be combined: their dtype<T>::sum need a common type that "
                  "converts to each");
}

/// Checks that a number is finite in the type in which formulas over `P...` are computed.
template <class... P>
void check_setting(char const* field, double value) {
    check_finite(field, value);
    if constexpr (std::floating_point<compute_t<P...>>) {
        if (std::abs(value) > static_cast<double>(std::numeric_limits<compute_t<P...>>::max())) {
            throw ValueError(field, value, "a number that fits the type of computation");
        }
    }
}

/// The same for an epsilon, which must not be negative: it is added to avoid a division by 0.
template <class... P>
void check_epsilon(double epsilon) {
    check_setting<P...>("epsilon", epsilon);
    if (epsilon < 0) throw ValueError("epsilon", epsilon, "0 or more");
}

/// Checks that a decay rate is in [0, 1).
inline void check_decay(char const* field, double value) {
    if (!(value >= 0.0 && value < 1.0)) throw ValueError(field, value, "a number in [0, 1)");
}

/// x to the n-th power by multiplications only, bit-identical with all math libraries.
inline double power(double x, std::int64_t n) {
    double result = 1.0;
    for (; n > 0; n /= 2) {
        if (n % 2 == 1) result *= x;
        x *= x;
    }
    return result;
}

/// The options of an optimizer whose averages begin with 0, which it divides by 1 - beta^step.
template <class... P, class Options>
void check_moments(Options const& options) {
    check_setting<P...>("learning_rate", options.learning_rate);
    check_decay("beta1", options.beta1);
    check_decay("beta2", options.beta2);
    check_epsilon<P...>(options.epsilon);
    check_setting<P...>("weight_decay", options.weight_decay);
    if (options.step < 1) throw ValueError("step", options.step, "1 or more");
}

/// rate · mean + (1 - rate) · x, the next value of a decaying average
ROWAN_FORMULA V running_mean(double rate, V const& mean, V const& x) {
    return product(constant<V>(rate), mean) + product(constant<V>(1.0 - rate), x);
}

/// g + weight_decay · p, as of a gradient with an L2 penalty
ROWAN_FORMULA V with_decay(V g, double weight_decay, V const& p) {
    if (weight_decay != 0.0) g = g + product(constant<V>(weight_decay), p);
    return g;
}

/// The gradient of an optimizer with a weight decay: with an L2 penalty; or as it is, if the decay is decoupled, which
/// multiplies p by `kept`.
ROWAN_NO_EXEC_CHECK
template <class Options, class V>
ROWAN_HD_INLINE V with_decay(Options const& options, double kept, V g, V& p) {
    if (options.weight_decay != 0.0) {
        if (options.decoupled) {
            p = product(constant<V>(kept), p);
        } else {
            g = g + product(constant<V>(options.weight_decay), p);
        }
    }
    return g;
}

/// What a step keeps of a parameter by decoupled decay.
/// errors   ValueError if it or the decay is not finite
template <class... P, class Options>
double check_kept(Options const& options) {
    check_setting<P...>("weight_decay", options.weight_decay);
    double const kept = 1.0 - product(options.learning_rate, options.weight_decay);
    check_setting<P...>("1 - learning_rate · weight_decay", kept);
    return options.decoupled ? kept : 1.0;
}

/// The rule of a formula with a weight decay, and of formula.plain() where the decay is 0.
template <class Formula>
struct DecayRule {
    Formula formula;

    /// Calls f with the formula of the step.
    template <class F>
    ROWAN_INLINE void visit(F const& f) const {
        formula.options.weight_decay == 0.0 ? f(formula.plain()) : f(formula);
    }

    template <class G, class... P>
    void operator()(std::span<G const> g, std::span<P>... rows) const {
        visit([&]<class Chosen>(Chosen const& chosen) { LaneRule<Chosen>{chosen}(g, rows...); });
    }
    template <class V, class G, class... P>
    ROWAN_INLINE void with(std::span<G const> g, std::span<P>... rows) const {
        visit([&]<class Chosen>(Chosen const& chosen)
                  ROWAN_INLINED { LaneRule<Chosen>{chosen}.template with<V>(g, rows...); });
    }
};

template <class Formula>
inline constexpr bool is_elementwise<DecayRule<Formula>> = true;

/// What Adam computes of a gradient: the mean of gradients and the root of the mean square, both corrected.
template <class V>
struct AdamMeans {
    V mean, root;
};

/// The next moments m and v, and the means: m / correction1 and √(v / correction2) + epsilon.
ROWAN_NO_EXEC_CHECK
template <class Options, class V>
ROWAN_HD_INLINE AdamMeans<V> adam_means(Options const& options, double correction1, double correction2, V const& g,
                                        V& m, V& v) {
    m = running_mean(options.beta1, m, g);
    v = running_mean(options.beta2, v, product(g, g));
    return {quotient(m, constant<V>(correction1)),
            square_root(quotient(v, constant<V>(correction2))) + constant<V>(options.epsilon)};
}

}  // namespace rowan::inline v0::detail
