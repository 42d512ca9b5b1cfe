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

/// A rule of one formula, also where the decay may be 0.
template <class Rule>
Rule whole_rule(Rule const& rule) {
    return rule;
}
template <class Formula>
LaneRule<Formula> whole_rule(DecayRule<Formula> const& rule) {
    return {rule.formula};
}

/// The rule of a step of the optimizer among these that has so many states, after its checks. Their rules are of one type.
template <class O, class Other = O>
struct deferred_rule_of {
    using type = decltype(whole_rule(StepsOf<O>::template rule<float>({})));
    static constexpr bool takes(std::size_t states) {
        return states == O::states::size || states == Other::states::size;
    }
    static type make(typename O::options const& options, auto const& param, auto const&... state) {
        using Chosen = std::conditional_t<sizeof...(state) == O::states::size, O, Other>;
        return whole_rule(checked_rule<Chosen>(typename Chosen::states{}, options, param, state...));
    }
};

/// The rule of the optimizer with these options.
template <class Options>
struct deferred_rule {
    static_assert(!std::is_same_v<Options, Options>,
                  "rowan::Deferred: the options are SgdOptions, MomentumOptions, AdamOptions, AdaGradOptions or "
                  "RmsPropOptions");
};
template <>
struct deferred_rule<SgdOptions> : deferred_rule_of<optim::sgd> {};
template <>
struct deferred_rule<MomentumOptions> : deferred_rule_of<optim::momentum> {};
template <>
struct deferred_rule<AdamOptions> : deferred_rule_of<optim::adam> {};
template <>
struct deferred_rule<AdaGradOptions> : deferred_rule_of<optim::adagrad> {};
template <>
struct deferred_rule<RmsPropOptions> : deferred_rule_of<optim::rmsprop, optim::centered_rmsprop> {};

/// Whether steps of this optimizer can be deferred.
template <class O>
inline constexpr bool is_deferred = std::is_same_v<O, optim::sgd> || std::is_same_v<O, optim::momentum> ||
                                    std::is_same_v<O, optim::adam> || std::is_same_v<O, optim::adagrad> ||
                                    std::is_same_v<O, optim::rmsprop> || std::is_same_v<O, optim::centered_rmsprop>;

}  // namespace rowan::inline v0::detail
