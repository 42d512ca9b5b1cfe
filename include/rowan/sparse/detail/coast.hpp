// rowan/sparse/detail/coast.hpp: Coast, a bound of what steps with a gradient of 0 do.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/detail/lane_instructions.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/momentum.hpp>
#include <rowan/sparse/rmsprop.hpp>
#include <rowan/sparse/sgd.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rowan::inline v0::detail {

/// A bound of what steps with a gradient of 0 do to an element, so that a replay may leave out roots and quotients. Where
/// it is known, each step multiplies the parameter by a number, then subtracts a move of at most
///     (scale · |x| + rate · e) / (√(y / correction) + epsilon)
/// and replaces each state z by factor · z + 0. x is the state `moves` and y the state `squares` of coast_states, and e
/// the error of a product near 0. Without y, the divisor is 1.
struct Coast {
    bool known = false;          ///< whether there is such a bound
    double scale = 0.0;          ///< the greatest of the steps; no factor of it is near 0
    double rate = 1.0;           ///< the greatest
    double correction = 1.0;     ///< the greatest
    double least_kept = 1.0;     ///< the least number that multiplies the parameter, in (0, 1]
    double most_kept = 1.0;      ///< the greatest
    double epsilon = 1.0;        ///< that of all steps
    double factors[3]{1, 1, 1};  ///< of the states, in [0, 1]; those of all steps

    /// Makes it the bound of these steps and of others; returns whether it has changed.
    ROWAN_HD bool include(Coast const& other) {
        bool both = known && other.known && epsilon == other.epsilon;
        for (std::size_t i = 0; i < 3; ++i) both = both && factors[i] == other.factors[i];
        bool const changes = both != known || other.scale > scale || other.rate > rate ||
                             other.correction > correction || other.least_kept < least_kept ||
                             other.most_kept > most_kept;
        known = both;
        scale = larger(other.scale, scale);
        rate = larger(other.rate, rate);
        correction = larger(other.correction, correction);
        least_kept = smaller(other.least_kept, least_kept);
        most_kept = larger(other.most_kept, most_kept);
        return changes;
    }
};

inline constexpr std::size_t no_such_state = 3, last_state = 4;

/// The states of a rule that its Coast speaks of, counted from 0.
template <class Rule>
struct coast_states {
    static constexpr std::size_t moves = no_such_state;
    static constexpr std::size_t squares = no_such_state;
    static constexpr std::size_t under_root = no_such_state;  ///< its root must be a number
};

// Below, for each rule: its Coast; what it multiplies the parameter by; whether two steps with a gradient of 0 have the
// same bits. There is no bound for a negative rate: its moves of -0 would turn a parameter of -0 to 0.

template <class Options>
bool same_options(Options const& a, Options const& b) {
    auto const same = [](auto x, auto y) {
        return x == y && std::signbit(static_cast<double>(x)) == std::signbit(static_cast<double>(y));
    };
    return Options::fields([&](auto const&... f) { return (same(a.*f.member, b.*f.member) && ...); });
}

inline bool decays(double factor, double rate) {
    return factor >= 0.0 && factor < 1.0 && !std::signbit(factor) && !std::signbit(rate);
}

/// x, or a small number of which no type of sums makes a subnormal one.
inline double not_near_0(double x) { return std::max(x, 1e-30); }

template <>
struct coast_states<LaneRule<adam_formula>> {
    static constexpr std::size_t moves = 0, squares = 1, under_root = 1;
};
ROWAN_HD inline double kept_of(LaneRule<adam_formula> const& rule) {
    return rule.formula.options.weight_decay != 0.0 ? rule.formula.kept : 1.0;
}
inline Coast coast_of(LaneRule<adam_formula> const& rule, std::size_t) {
    auto const& [options, correction1, correction2, kept] = rule.formula;
    double const keeps = kept_of(rule);
    return {.known = (options.weight_decay == 0.0 || options.decoupled) && keeps > 0.0 && keeps <= 1.0 &&
                     decays(options.beta1, options.learning_rate),
            .scale = not_near_0(options.learning_rate) * not_near_0(options.beta1) / correction1,
            .rate = options.learning_rate / correction1,
            .correction = correction2,
            .least_kept = keeps,
            .most_kept = keeps,
            .epsilon = options.epsilon,
            .factors = {options.beta1, options.beta2, 1.0}};
}
inline bool same_step(LaneRule<adam_formula> const& a, LaneRule<adam_formula> const& b) {
    AdamOptions options = a.formula.options;
    options.step = b.formula.options.step;
    return same_options(options, b.formula.options) && a.formula.correction1 == b.formula.correction1 &&
           a.formula.correction2 == b.formula.correction2;
}

template <>
struct coast_states<momentum_rule> {
    static constexpr std::size_t moves = 0, squares = no_such_state, under_root = no_such_state;
};
ROWAN_HD inline double kept_of(momentum_rule const&) { return 1.0; }
inline Coast coast_of(momentum_rule const& rule, std::size_t) {
    auto const& options = rule.options;
    return {.known = options.weight_decay == 0.0 && decays(options.momentum, options.learning_rate),
            .scale = not_near_0(options.learning_rate) * not_near_0(options.momentum),
            .rate = options.learning_rate,
            .factors = {options.momentum, 1.0, 1.0}};
}
inline bool same_step(momentum_rule const& a, momentum_rule const& b) { return same_options(a.options, b.options); }

template <>
struct coast_states<LaneRule<rmsprop_formula>> {
    static constexpr std::size_t moves = last_state, squares = no_such_state, under_root = 0;
};
ROWAN_HD inline double kept_of(LaneRule<rmsprop_formula> const&) { return 1.0; }
inline Coast coast_of(LaneRule<rmsprop_formula> const& rule, std::size_t states) {
    auto const& options = rule.formula.options;
    Coast coast{.known = decays(options.momentum, options.learning_rate),
                .scale = not_near_0(options.momentum),
                .epsilon = options.epsilon,
                .factors = {options.rho, options.rho, 1.0}};
    coast.factors[states - 1] = options.momentum;
    return coast;
}
inline bool same_step(LaneRule<rmsprop_formula> const& a, LaneRule<rmsprop_formula> const& b) {
    return same_options(a.formula.options, b.formula.options);
}

template <>
struct coast_states<LaneRule<adagrad_decay_formula>> {
    static constexpr std::size_t moves = no_such_state, squares = no_such_state, under_root = 0;
};
ROWAN_HD inline double kept_of(LaneRule<adagrad_decay_formula> const& rule) { return rule.formula.kept; }
inline Coast coast_of(LaneRule<adagrad_decay_formula> const& rule, std::size_t) {
    auto const& [options, kept] = rule.formula;
    return {.known = (options.weight_decay == 0.0 || options.decoupled) && kept > 0.0 && kept <= 1.0 &&
                     !std::signbit(options.learning_rate),
            .least_kept = kept,
            .most_kept = kept,
            .epsilon = options.epsilon};
}
inline bool same_step(LaneRule<adagrad_decay_formula> const& a, LaneRule<adagrad_decay_formula> const& b) {
    return same_options(a.formula.options, b.formula.options);
}

ROWAN_HD inline double kept_of(LaneRule<sgd_decay_formula> const& rule) { return rule.formula.kept; }
inline Coast coast_of(LaneRule<sgd_decay_formula> const& rule, std::size_t) {
    auto const& [options, kept] = rule.formula;
    return {.known = (options.weight_decay == 0.0 || options.decoupled) && kept > 0.0 && kept <= 1.0 &&
                     !std::signbit(options.learning_rate),
            .least_kept = kept,
            .most_kept = kept};
}
inline bool same_step(LaneRule<sgd_decay_formula> const& a, LaneRule<sgd_decay_formula> const& b) {
    return same_options(a.formula.options, b.formula.options);
}

}  // namespace rowan::inline v0::detail
