// rowan/sparse/momentum.hpp: momentum, gradient descent with momentum.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/update_rows.hpp>

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

template <class D, class P, class M>
momentum_rule make_momentum_rule(Tensor<P, D> const& param, Tensor<M, D> const& velocity, MomentumOptions options) {
    check_setting<P, M>("learning_rate", options.learning_rate);
    check_setting<P, M>("momentum", options.momentum);
    check_setting<P, M>("weight_decay", options.weight_decay);
    check_state("velocity", param, velocity);
    return {options};
}

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
template <device D, class P, class V, detail::gradient_on<D> G>
void momentum(D const& exec, Tensor<P, D>& param, Tensor<V, D>& velocity, G const& grad, MomentumOptions options = {}) {
    detail::check_types<typename G::value_type, P, V>();
    update_rows(exec, grad, detail::make_momentum_rule(param, velocity, options), param, velocity);
}

/// One step of momentum on the rows of a plan, which is made once for several gradients or parameters; `value` has a
/// row for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param and velocity [plan.height(), ...]
/// errors   those of momentum for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of momentum for a SelectedRows, without the sort
template <device D, class P, class V, class G>
void momentum(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<V, D>& velocity,
              Tensor<G, D> const& value, MomentumOptions options = {}) {
    detail::check_types<G, P, V>();
    update_rows(exec, plan, value, detail::make_momentum_rule(param, velocity, options), param, velocity);
}

template <class P, class V, class G, class Device>
requires detail::gradient_on<G, Device>
void momentum(Tensor<P, Device>& param, Tensor<V, Device>& velocity, G const& grad, MomentumOptions options = {}) {
    momentum(param.device(), param, velocity, grad, options);
}

template <class P, class V, class G, class Device>
void momentum(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<V, Device>& velocity,
              Tensor<G, Device> const& value, MomentumOptions options = {}) {
    momentum(plan.device(), plan, param, velocity, value, options);
}

// A mistake, which does not compile.
template <class P, class V, class G, class Device, class R, class... More>
requires detail::gradient_on<G, Device> && std::is_arithmetic_v<R>
void momentum(Tensor<P, Device>&, Tensor<V, Device>&, G const&, R const&, More const&...) {
    static_assert(!std::is_arithmetic_v<R>,
                  "rowan::momentum: options have names: momentum(param, velocity, grad, {.learning_rate = 0.1})");
}

ROWAN_TEMPLATE(void momentum(Cpu const&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&, MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&,
                             MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                             MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&, MomentumOptions))
ROWAN_TEMPLATE(void momentum(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                             MomentumOptions))

}  // namespace rowan::inline v0
