// rowan/sparse/momentum.hpp: momentum, gradient descent with momentum.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>

#include <span>

namespace rowan::inline v0 {

namespace detail {

template <bool nesterov>
struct momentum_formula {
    MomentumOptions options;

    ROWAN_FORMULA void operator()(V const& grad, V& p, V& v) const {
        V const g = with_decay(grad, options.weight_decay, p);
        v = product(constant<V>(options.momentum), v) + g;
        V const step = nesterov ? g + product(constant<V>(options.momentum), v) : v;
        p = p - product(constant<V>(options.learning_rate), step);
    }
};

struct momentum_rule {
    MomentumOptions options;

    /// Calls f with the formula.
    ROWAN_NO_EXEC_CHECK
    template <class F>
    ROWAN_HD_INLINE void visit(F const& f) const {
        options.nesterov ? f(momentum_formula<true>{options}) : f(momentum_formula<false>{options});
    }

    template <class G, class P, class M>
    void operator()(std::span<G const> g, std::span<P> p, std::span<M> v) const {
        visit([&]<class Formula>(Formula const& formula) { LaneRule<Formula>{formula}(g, p, v); });
    }
    template <class V, class G, class P, class M>
    ROWAN_INLINE void with(std::span<G const> g, std::span<P> p, std::span<M> v) const {
        visit([&]<class Formula>(Formula const& formula)
                  ROWAN_INLINED { LaneRule<Formula>{formula}.template with<V>(g, p, v); });
    }
};

template <>
inline constexpr bool is_elementwise<momentum_rule> = true;

template <>
struct StepsOf<optim::momentum> : StepsByRule<optim::momentum> {
    template <class... P>
    static momentum_rule rule(MomentumOptions const& options) {
        check_setting<P...>("learning_rate", options.learning_rate);
        check_setting<P...>("momentum", options.momentum);
        check_setting<P...>("weight_decay", options.weight_decay);
        return {options};
    }
};

}  // namespace detail

/// One step of gradient descent with momentum (Sutskever et al. 2013) on the rows of `grad`
/// (duplicates summed first):
///     g += weight_decay · p;  v = mu · v + g;  p -= learning_rate · v
///     Nesterov: p -= learning_rate · (g + mu · v)
/// Lazy: rows that are not in `grad` are unchanged, and their velocity does not decay. If v overflows, it remains
/// infinite or NaN, and so does p.
/// shapes   param and velocity [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of that
///          shape
/// errors   ValueError if an option is not finite; ShapeError if shapes do not match; Error as update_rows
/// cost     as adagrad
ROWAN_OPTIMIZER_FUNCTION(momentum, 1)

ROWAN_OPTIMIZER(StepsByRule<optim::momentum>, float, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::momentum>, double, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
