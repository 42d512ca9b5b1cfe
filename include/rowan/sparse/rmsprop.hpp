// rowan/sparse/rmsprop.hpp: rmsprop, RMSProp, also centered.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/update_rows.hpp>

namespace rowan::inline v0 {

namespace detail {

struct rmsprop_formula {
    RmsPropOptions options;

    ROWAN_FORMULA void move(V const& g, V const& variance, V& p, V& v) const {
        V const root = square_root(V(variance + constant<V>(options.epsilon)));
        v = product(constant<V>(options.momentum), v) + quotient(product(constant<V>(options.learning_rate), g), root);
        p = p - v;
    }

    ROWAN_FORMULA void operator()(V const& g, V& p, V& ms, V& v) const {
        ms = running_mean(options.rho, ms, product(g, g));
        move(g, ms, p, v);
    }

    ROWAN_FORMULA void operator()(V const& g, V& p, V& ms, V& mg, V& v) const {
        ms = running_mean(options.rho, ms, product(g, g));
        mg = running_mean(options.rho, mg, g);
        V const zero = constant<V>(0.0), variance = ms - product(mg, mg);  // by rounding less than 0
        move(g, choose(zero > variance, zero, variance), p, v);            // NaN remains
    }
};

template <class... P>
LaneRule<rmsprop_formula> make_rmsprop_rule(RmsPropOptions const& options) {
    check_setting<P...>("learning_rate", options.learning_rate);
    check_decay("rho", options.rho);
    check_setting<P...>("momentum", options.momentum);
    check_epsilon<P...>(options.epsilon);
    return {{options}};
}

template <class D, class P, class S, class V>
LaneRule<rmsprop_formula> make_rmsprop_rule(Tensor<P, D> const& param, Tensor<S, D> const& mean_square,
                                            Tensor<V, D> const& velocity, RmsPropOptions const& options) {
    check_state("mean_square", param, mean_square);
    check_state("velocity", param, velocity);
    return make_rmsprop_rule<P, S, V>(options);
}

template <class D, class P, class S, class A, class V>
LaneRule<rmsprop_formula> make_rmsprop_rule(Tensor<P, D> const& param, Tensor<S, D> const& mean_square,
                                            Tensor<A, D> const& mean_grad, Tensor<V, D> const& velocity,
                                            RmsPropOptions const& options) {
    check_state("mean_grad", param, mean_grad);
    return make_rmsprop_rule(param, mean_square, velocity, options);
}

}  // namespace detail

/// One step of RMSProp (Tieleman and Hinton 2012) on the rows of `grad` (duplicates summed first):
///     ms = rho · ms + (1 - rho) · g²;  v = momentum · v + learning_rate · g / √(ms + epsilon);  p -= v
/// Lazy: rows that are not in `grad` are unchanged, and their averages do not decay. Right where g² is a number of the
/// type of computation, the widest dtype<T>::sum of the tensors; beyond, as adam.
/// shapes   param, mean_square and velocity [height, ...], grad a SelectedRows of that height and row shape, or a
///          Tensor of that shape
/// errors   ValueError if an option is not finite, epsilon is negative or rho not in [0, 1); ShapeError if shapes do
///          not match; Error as update_rows
/// cost     as adagrad, with two states
template <device D, class P, class S, class V, detail::gradient_on<D> G>
void rmsprop(D const& exec, Tensor<P, D>& param, Tensor<S, D>& mean_square, Tensor<V, D>& velocity, G const& grad,
             RmsPropOptions options = {}) {
    detail::check_types<typename G::value_type, P, S, V>();
    update_rows(exec, grad, detail::make_rmsprop_rule(param, mean_square, velocity, options), param, mean_square,
                velocity);
}

/// One step of RMSProp on the rows of a plan, which is made once for several gradients or parameters; `value` has
/// a row for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param, mean_square and velocity [plan.height(), ...]
/// errors   those of rmsprop for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of rmsprop for a SelectedRows, without the sort
template <device D, class P, class S, class V, class G>
void rmsprop(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<S, D>& mean_square,
             Tensor<V, D>& velocity, Tensor<G, D> const& value, RmsPropOptions options = {}) {
    detail::check_types<G, P, S, V>();
    update_rows(exec, plan, value, detail::make_rmsprop_rule(param, mean_square, velocity, options), param, mean_square,
                velocity);
}

template <class P, class S, class V, class G, class Device>
requires detail::gradient_on<G, Device>
void rmsprop(Tensor<P, Device>& param, Tensor<S, Device>& mean_square, Tensor<V, Device>& velocity, G const& grad,
             RmsPropOptions options = {}) {
    rmsprop(param.device(), param, mean_square, velocity, grad, options);
}

template <class P, class S, class V, class G, class Device>
void rmsprop(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<S, Device>& mean_square,
             Tensor<V, Device>& velocity, Tensor<G, Device> const& value, RmsPropOptions options = {}) {
    rmsprop(plan.device(), plan, param, mean_square, velocity, value, options);
}

/// One step of centered RMSProp (Graves 2013) on the rows of `grad`, with the mean of the gradient as a third state:
///     ms = rho · ms + (1 - rho) · g²;  mg = rho · mg + (1 - rho) · g
///     v = momentum · v + learning_rate · g / √(max(ms - mg², 0) + epsilon);  p -= v
/// shapes   param, mean_square, mean_grad and velocity [height, ...], grad a SelectedRows of that height and row shape,
///          or a Tensor of that shape
/// errors   ValueError if an option is not finite, epsilon is negative or rho not in [0, 1); ShapeError if shapes do
///          not match; Error as update_rows
/// cost     as adagrad, with three states
template <device D, class P, class S, class A, class V, detail::gradient_on<D> G>
void rmsprop(D const& exec, Tensor<P, D>& param, Tensor<S, D>& mean_square, Tensor<A, D>& mean_grad,
             Tensor<V, D>& velocity, G const& grad, RmsPropOptions options = {}) {
    detail::check_types<typename G::value_type, P, S, A, V>();
    update_rows(exec, grad, detail::make_rmsprop_rule(param, mean_square, mean_grad, velocity, options), param,
                mean_square, mean_grad, velocity);
}

/// One step of centered RMSProp on the rows of a plan, which is made once for several gradients or parameters; `value`
/// has a row for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param, mean_square, mean_grad and velocity [plan.height(), ...]
/// errors   those of rmsprop for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of rmsprop for a SelectedRows, without the sort
template <device D, class P, class S, class A, class V, class G>
void rmsprop(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<S, D>& mean_square,
             Tensor<A, D>& mean_grad, Tensor<V, D>& velocity, Tensor<G, D> const& value, RmsPropOptions options = {}) {
    detail::check_types<G, P, S, A, V>();
    update_rows(exec, plan, value, detail::make_rmsprop_rule(param, mean_square, mean_grad, velocity, options), param,
                mean_square, mean_grad, velocity);
}

template <class P, class S, class A, class V, class G, class Device>
requires detail::gradient_on<G, Device>
void rmsprop(Tensor<P, Device>& param, Tensor<S, Device>& mean_square, Tensor<A, Device>& mean_grad,
             Tensor<V, Device>& velocity, G const& grad, RmsPropOptions options = {}) {
    rmsprop(param.device(), param, mean_square, mean_grad, velocity, grad, options);
}

template <class P, class S, class A, class V, class G, class Device>
void rmsprop(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<S, Device>& mean_square,
             Tensor<A, Device>& mean_grad, Tensor<V, Device>& velocity, Tensor<G, Device> const& value,
             RmsPropOptions options = {}) {
    rmsprop(plan.device(), plan, param, mean_square, mean_grad, velocity, value, options);
}

ROWAN_TEMPLATE(void rmsprop(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                            RmsPropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, Tensor<float> const&,
                            RmsPropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float>&,
                            Tensor<float> const&, RmsPropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                            RmsPropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                            RmsPropOptions))
ROWAN_TEMPLATE(void rmsprop(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double>&,
                            Tensor<double> const&, RmsPropOptions))

}  // namespace rowan::inline v0
