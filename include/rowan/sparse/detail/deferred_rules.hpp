// rowan/sparse/detail/deferred_rules.hpp: deferred_rule, the rule of a step of each optimizer that can be deferred.
#pragma once

#include <rowan/detail/arithmetic.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/momentum.hpp>
#include <rowan/sparse/rmsprop.hpp>
#include <rowan/sparse/sgd.hpp>

#include <cstddef>
#include <type_traits>

namespace rowan::inline v0::detail {

/// A formula for row-sparse gradients with the bits of dense ones, in which a gradient of -0 is 0.
template <class Formula>
struct of_dense {
    Formula formula;

    ROWAN_NO_EXEC_CHECK
    template <class V, class... P>
    ROWAN_HD_INLINE void operator()(V const& g, V& p, P&... states) const {
        formula(V(g + constant<V>(0.0)), p, states...);
    }
};

/// The rule of an optimizer, how many states it takes, and the rule of a step, after its checks.
template <class Options>
struct deferred_rule {
    static_assert(!std::is_same_v<Options, Options>,
                  "rowan::Deferred: the options are SgdOptions, MomentumOptions, AdamOptions, AdaGradOptions or "
                  "RmsPropOptions");
};
template <>
struct deferred_rule<SgdOptions> {
    using type = LaneRule<sgd_decay_formula>;
    static constexpr bool takes(std::size_t states) { return states == 0; }
    static type make(SgdOptions const& options, auto const&... x) { return {make_sgd_rule(x..., options).formula}; }
};
template <>
struct deferred_rule<MomentumOptions> {
    using type = momentum_rule;
    static constexpr bool takes(std::size_t states) { return states == 1; }
    static type make(MomentumOptions const& options, auto const&... x) { return make_momentum_rule(x..., options); }
};
template <>
struct deferred_rule<AdamOptions> {
    using type = LaneRule<adam_formula>;
    static constexpr bool takes(std::size_t states) { return states == 2; }
    static type make(AdamOptions const& options, auto const&... x) { return make_adam_rule(x..., options); }
};
template <>
struct deferred_rule<AdaGradOptions> {
    using type = LaneRule<adagrad_decay_formula>;
    static constexpr bool takes(std::size_t states) { return states == 1; }
    static type make(AdaGradOptions const& options, auto const&... x) {
        return {make_adagrad_rule(x..., options).formula};
    }
};
template <>
struct deferred_rule<RmsPropOptions> {
    using type = LaneRule<rmsprop_formula>;
    static constexpr bool takes(std::size_t states) { return states == 2 || states == 3; }
    static type make(RmsPropOptions const& options, auto const&... x) { return make_rmsprop_rule(x..., options); }
};

}  // namespace rowan::inline v0::detail
