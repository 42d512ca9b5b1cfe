// rowan/sparse/detail/closed_rules.hpp: what many steps with a gradient of 0 do to an element, for each optimizer.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/detail/coast.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace rowan::inline v0::detail {

/// A step with a gradient of 0, which multiplies the parameter by `kept` and moves it, as a part of sums over steps:
///     sum = ratio · (term + the sum of the steps after it)
/// The next sums, if a rule has several, have term · terms and ratio · ratios instead, and so on.
struct ClosedStep {
    bool known = false;  ///< whether there is a closed form; no number is then less than 0
    double kept = 1.0;   ///< in (0, 1]
    double term = 0.0, terms = 1.0;
    double ratio = 0.0, ratios = 1.0;  ///< less than 1, and at most 1
};

/// The square root of what a number is multiplied by: one factor would not be a number of its type in all cases.
struct Shrink {
    double root = 1.0, least = 0.0;

    /// By this root squared, in numbers of type S.
    template <class S>
    static Shrink by(double root) {
        using Limits = std::numeric_limits<std::conditional_t<std::floating_point<S>, S, float>>;
        if (root == 0.0) return {0.0, 0.0};
        double const least = static_cast<double>(Limits::min());
        root = std::max(root, least);  // infinity remains
        return {root, least / root / root};
    }

    ROWAN_FORMULA V operator()(V const& x) const { return product(product(x, constant<V>(root)), constant<V>(root)); }

    /// The same, but 0 instead of numbers so small that they are slow, and of -0.
    ROWAN_FORMULA V state(V const& x) const {
        V const zero = constant<V>(0.0), size = choose(x < zero, V(zero - x), x);
        return (*this)(choose(size < constant<V>(least), zero, x)) + zero;
    }
};

/// The cube root of a number that is not negative, by multiplications and divisions: the same bits with all math
/// libraries.
inline double cube_root(double x) {
    int exponent = 0;
    double const part = std::frexp(x, &exponent);
    int const third = (exponent + 3000) / 3 - 1000;
    double const small = std::ldexp(part, exponent - 3 * third);  // in [1/2, 4)
    double root = 1.0;
    for (int i = 0; i < 8; ++i) root = (2.0 * root + small / (root * root)) / 3.0;
    return std::ldexp(root, third);
}

// Below, for each rule: the number of its sums; a step; whether two steps may be parts of one sum; the square roots of
// what steps multiply states by; what is known of moves from the sums, and whether it is good enough; the formula of an
// element that has missed steps which multiply its parameter by `kept` and its states by `roots` squared.

template <class Rule>
struct closed_rule;

/// The moves of Adam in steps i with a gradient of 0 are, with x = √v before them,
///     m · Σ w_i / (x · d_i + epsilon),  w_i = rate_i / correction1_i · beta1^i,  d_i = √(beta2^i / correction2_i)
/// This is replaced by a sum of two such fractions, which has the same sums Σ w_i · d_i^e for e = -1, -2/3, -1/3 and 0:
/// a Gauss quadrature of the cube roots of d_i. It is right where epsilon or x is 0, and differs little between. The
/// sum for e = 1/3 bounds the difference.
struct AdamMoves {
    double w[2]{}, d[2]{1, 1};
    bool good = true;

    static AdamMoves of(std::array<double, 5> const& sums) {
        if (!(sums[0] > 0.0)) return {};
        double const mean = sums[1] / sums[0], square = sums[2] / sums[0], cube = sums[3] / sums[0];
        double const variance = square - product(mean, mean);
        double weight[] = {sums[0] / 2, sums[0] / 2}, node[] = {mean, mean};
        AdamMoves moves;
        if (!(variance <= 1e-10 * square)) {
            double const skew = (cube - product(mean, square)) / variance - 2.0 * mean;
            double const spread = std::sqrt(variance + product(skew, skew) / 4.0);
            double const above = skew > 0.0 ? spread + skew / 2.0 : variance / (spread - skew / 2.0);
            double const below = variance / above;
            node[0] = mean + above;
            node[1] = mean - below;
            weight[0] = sums[0] * (below / (above + below));
            weight[1] = sums[0] * (above / (above + below));
            double const rest =
                sums[4] / sums[0] - product(node[0] + node[1], cube) + product(product(node[0], node[1]), square);
            double const least = node[1] * node[1];
            // the greatest error, relative to the moves, is 1.2 · rest / least²; NaN is not good
            moves.good = node[1] > 0.0 && rest <= 7e-4 * (least * least);
        }
        for (std::size_t i = 0; i < 2; ++i) {
            moves.d[i] = node[i] * node[i] * node[i];
            moves.w[i] = weight[i] * moves.d[i];
        }
        return moves;
    }
};

struct closed_adam_formula {
    AdamMoves moves;
    double epsilon;
    Shrink kept, mean, square;

    ROWAN_FORMULA void operator()(V& p, V& m, V& v) const {
        V const root = square_root(v), e = constant<V>(epsilon);
        V const a = product(constant<V>(moves.w[0]), m), b = product(constant<V>(moves.w[1]), m);
        V const c = product(constant<V>(moves.d[0]), root) + e, d = product(constant<V>(moves.d[1]), root) + e;
        p = kept(V(p - (quotient(a, c) + quotient(b, d))));
        m = mean.state(m);
        v = square.state(v);
    }
};

/// Whether no sum with it is 0 in any type.
inline bool is_normal_float(double epsilon) { return epsilon >= static_cast<double>(std::numeric_limits<float>::min()); }

template <>
struct closed_rule<LaneRule<adam_formula>> {
    using Moves = AdamMoves;
    static constexpr std::size_t sums = 5;

    static ClosedStep step(LaneRule<adam_formula> const& rule) {
        auto const& [options, correction1, correction2, kept] = rule.formula;
        double const root1 = std::sqrt(options.beta2), root2 = std::sqrt(correction2), keeps = kept_of(rule);
        ClosedStep step{.kept = keeps,
                        .term = options.learning_rate / correction1 * root2,
                        .terms = 1.0 / cube_root(root2),
                        .ratio = options.beta1 / root1 / keeps,
                        .ratios = cube_root(root1)};
        step.known = coast_of(rule, 2).known && is_normal_float(options.epsilon) && step.ratio < 1.0;
        return step;
    }
    static bool same(LaneRule<adam_formula> const& a, LaneRule<adam_formula> const& b) {
        AdamOptions const &x = a.formula.options, &y = b.formula.options;
        return x.beta1 == y.beta1 && x.beta2 == y.beta2 && x.epsilon == y.epsilon;
    }
    static std::array<double, 2> roots(LaneRule<adam_formula> const& rule) {
        return {std::sqrt(rule.formula.options.beta1), std::sqrt(rule.formula.options.beta2)};
    }
    template <class S>
    static closed_adam_formula formula(LaneRule<adam_formula> const& rule, Moves const& moves,
                                       std::array<double, 2> const& roots, Shrink const& kept) {
        return {moves, rule.formula.options.epsilon, kept, Shrink::by<S>(roots[0]), Shrink::by<S>(roots[1])};
    }
};

/// The moves are a state times a sum.
struct SumMoves {
    double sum = 0.0;
    static constexpr bool good = true;

    static SumMoves of(std::array<double, 1> const& sums) { return {sums[0]}; }
};

struct closed_momentum_formula {
    double sum;
    Shrink velocity;

    ROWAN_FORMULA void operator()(V& p, V& v) const {
        p = p - product(constant<V>(sum), v);
        v = velocity.state(v);
    }
};

template <>
struct closed_rule<momentum_rule> {
    using Moves = SumMoves;
    static constexpr std::size_t sums = 1;

    static ClosedStep step(momentum_rule const& rule) {
        MomentumOptions const& o = rule.options;
        return {.known = coast_of(rule, 1).known,
                .term = o.nesterov ? product(o.learning_rate, o.momentum) : o.learning_rate,
                .ratio = o.momentum};
    }
    static bool same(momentum_rule const& a, momentum_rule const& b) {
        return a.options.momentum == b.options.momentum;
    }
    static std::array<double, 1> roots(momentum_rule const& rule) { return {std::sqrt(rule.options.momentum)}; }
    template <class S>
    static closed_momentum_formula formula(momentum_rule const&, Moves const& moves, std::array<double, 1> const& roots,
                                           Shrink const&) {
        return {moves.sum, Shrink::by<S>(roots[0])};
    }
};

struct closed_rmsprop_formula {
    double sum, rho, epsilon;
    Shrink mean, velocity;

    /// The gradient of 0 over the root, which is not 0 if it is NaN.
    ROWAN_FORMULA V gone(V const& variance) const {
        return quotient(constant<V>(0.0), square_root(V(variance + constant<V>(epsilon))));
    }
    ROWAN_FORMULA void move(V& p, V& v, V const& none) const {
        v = v + none;
        p = p - product(constant<V>(sum), v);
        v = velocity.state(v);
    }
    ROWAN_FORMULA void operator()(V& p, V& ms, V& v) const {
        move(p, v, gone(product(constant<V>(rho), ms)));
        ms = mean.state(ms);
    }
    ROWAN_FORMULA void operator()(V& p, V& ms, V& mg, V& v) const {
        V const g = product(constant<V>(rho), mg), zero = constant<V>(0.0);
        V const variance = product(constant<V>(rho), ms) - product(g, g);
        move(p, v, gone(choose(zero > variance, zero, variance)));
        ms = mean.state(ms);
        mg = mean.state(mg);
    }
};

template <>
struct closed_rule<LaneRule<rmsprop_formula>> {
    using Moves = SumMoves;
    static constexpr std::size_t sums = 1;

    static ClosedStep step(LaneRule<rmsprop_formula> const& rule) {
        RmsPropOptions const& o = rule.formula.options;
        return {.known = coast_of(rule, 2).known && is_normal_float(o.epsilon), .term = 1.0, .ratio = o.momentum};
    }
    static bool same(LaneRule<rmsprop_formula> const& a, LaneRule<rmsprop_formula> const& b) {
        RmsPropOptions const &x = a.formula.options, &y = b.formula.options;
        return x.rho == y.rho && x.momentum == y.momentum && x.epsilon == y.epsilon;
    }
    static std::array<double, 2> roots(LaneRule<rmsprop_formula> const& rule) {
        return {std::sqrt(rule.formula.options.rho), std::sqrt(rule.formula.options.momentum)};
    }
    template <class S>
    static closed_rmsprop_formula formula(LaneRule<rmsprop_formula> const& rule, Moves const& moves,
                                          std::array<double, 2> const& roots, Shrink const&) {
        RmsPropOptions const& options = rule.formula.options;
        return {moves.sum, options.rho, options.epsilon, Shrink::by<S>(roots[0]), Shrink::by<S>(roots[1])};
    }
};

struct NoMoves {
    static constexpr bool good = true;

    static NoMoves of(std::array<double, 0> const&) { return {}; }
};

struct closed_sgd_formula {
    Shrink kept;

    ROWAN_FORMULA void operator()(V& p) const { p = kept(p); }
};

template <>
struct closed_rule<LaneRule<sgd_decay_formula>> {
    using Moves = NoMoves;
    static constexpr std::size_t sums = 0;

    static ClosedStep step(LaneRule<sgd_decay_formula> const& rule) {
        SgdOptions const& options = rule.formula.options;
        double const kept = 1.0 - product(options.learning_rate, options.weight_decay);
        return {.known = kept > 0.0 && kept <= 1.0 && !std::signbit(options.learning_rate), .kept = kept};
    }
    static bool same(LaneRule<sgd_decay_formula> const&, LaneRule<sgd_decay_formula> const&) { return true; }
    static std::array<double, 0> roots(LaneRule<sgd_decay_formula> const&) { return {}; }
    template <class S>
    static closed_sgd_formula formula(LaneRule<sgd_decay_formula> const&, Moves const&, std::array<double, 0> const&,
                                      Shrink const& kept) {
        return {kept};
    }
};

struct closed_adagrad_formula {
    Shrink kept;
    double epsilon;

    ROWAN_FORMULA void operator()(V& p, V& m) const {
        V const zero = constant<V>(0.0);
        p = kept(V(p - quotient(zero, V(square_root(m) + constant<V>(epsilon)))));  // NaN if the root is
        m = m + zero;
    }
};

template <>
struct closed_rule<LaneRule<adagrad_decay_formula>> {
    using Moves = NoMoves;
    static constexpr std::size_t sums = 0;

    static ClosedStep step(LaneRule<adagrad_decay_formula> const& rule) {
        return {.known = coast_of(rule, 1).known, .kept = rule.formula.kept};
    }
    static bool same(LaneRule<adagrad_decay_formula> const& a, LaneRule<adagrad_decay_formula> const& b) {
        return a.formula.options.epsilon == b.formula.options.epsilon;
    }
    static std::array<double, 0> roots(LaneRule<adagrad_decay_formula> const&) { return {}; }
    template <class S>
    static closed_adagrad_formula formula(LaneRule<adagrad_decay_formula> const& rule, Moves const&,
                                          std::array<double, 0> const&, Shrink const& kept) {
        return {kept, rule.formula.options.epsilon};
    }
};

}  // namespace rowan::inline v0::detail
