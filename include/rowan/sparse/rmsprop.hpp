// rowan/sparse/rmsprop.hpp: rmsprop, RMSProp, also centered.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>

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

struct RmsPropSteps {
    template <class... P>
    static LaneRule<rmsprop_formula> rule(RmsPropOptions const& options) {
        check_setting<P...>("learning_rate", options.learning_rate);
        check_decay("rho", options.rho);
        check_setting<P...>("momentum", options.momentum);
        check_epsilon<P...>(options.epsilon);
        return {{options}};
    }
};
template <>
struct StepsOf<optim::rmsprop> : RmsPropSteps, StepsByRule<optim::rmsprop> {};
template <>
struct StepsOf<optim::centered_rmsprop> : RmsPropSteps, StepsByRule<optim::centered_rmsprop> {};

}  // namespace detail

/// One step of RMSProp (Tieleman and Hinton 2012) on the rows of `grad` (duplicates summed first):
///     ms = rho · ms + (1 - rho) · g²;  v = momentum · v + learning_rate · g / √(ms + epsilon);  p -= v
/// Centered (Graves 2013) with a third state, mean_grad (mg), the mean of the gradient:
///     rmsprop(param, moment, mean_grad, velocity, grad, options);
///     mg = rho · mg + (1 - rho) · g;  v = momentum · v + learning_rate · g / √(max(ms - mg², 0) + epsilon);  p -= v
/// Lazy: rows that are not in `grad` are unchanged, and their averages do not decay. Right where g² is a number of the
/// type of computation, the widest dtype<T>::sum of the tensors; beyond, as adam.
/// shapes   param, moment (ms) and velocity (v) [height, ...], grad a SelectedRows of that height and row shape, or a
///          Tensor of that shape
/// errors   ValueError if an option is not finite, epsilon is negative or rho not in [0, 1); ShapeError if shapes do
///          not match; Error as update_rows
/// cost     as adagrad, with two states
ROWAN_OPTIMIZER_FUNCTION(rmsprop, 2)
ROWAN_OPTIMIZER_3(rmsprop, optim::centered_rmsprop)

ROWAN_OPTIMIZER(StepsByRule<optim::rmsprop>, float, Tensor<float>&, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::rmsprop>, double, Tensor<double>&, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
