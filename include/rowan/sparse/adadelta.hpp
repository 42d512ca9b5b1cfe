// rowan/sparse/adadelta.hpp: adadelta, steps of the size of earlier steps.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>

namespace rowan::inline v0 {

namespace detail {

struct adadelta_formula {
    AdadeltaOptions options;

    ROWAN_FORMULA void operator()(V const& grad, V& p, V& s, V& d) const {
        V const g = with_decay(grad, options.weight_decay, p), epsilon = constant<V>(options.epsilon);
        s = running_mean(options.rho, s, product(g, g));
        V const step = product(quotient(square_root(V(d + epsilon)), square_root(V(s + epsilon))), g);
        d = running_mean(options.rho, d, product(step, step));
        p = p - product(constant<V>(options.learning_rate), step);
    }
};

template <>
struct StepsOf<optim::adadelta> : StepsByRule<optim::adadelta> {
    template <class... P>
    static LaneRule<adadelta_formula> rule(AdadeltaOptions const& options) {
        check_setting<P...>("learning_rate", options.learning_rate);
        check_decay("rho", options.rho);
        check_epsilon<P...>(options.epsilon);
        check_setting<P...>("weight_decay", options.weight_decay);
        return {{options}};
    }
};

}  // namespace detail

/// One step of Adadelta (Zeiler 2012) on the rows of `grad` (duplicates summed first):
///     s = rho · s + (1 - rho) · g²;  step = √(d + epsilon) / √(s + epsilon) · g
///     d = rho · d + (1 - rho) · step²;  p -= learning_rate · step
/// Lazy: rows that are not in `grad` are unchanged, and their averages do not decay. With a dense `grad` this is
/// standard Adadelta. With a weight decay, g begins as grad + weight_decay · p. Right where g² is a number of the type
/// of computation, the widest dtype<T>::sum of the tensors: if it overflows, for float from |g| = 1.9e19 on, the
/// element never moves again; if it vanishes, below |g| = 2e-23, and s and epsilon are 0, the step is infinite, or NaN if
/// d is 0.
/// shapes   param, mean_square (s) and mean_step (d) [height, ...], grad a SelectedRows of that height and row shape,
///          or a Tensor of that shape
/// errors   ValueError if an option is not finite, epsilon is negative or rho not in [0, 1); ShapeError if shapes do
///          not match; Error as update_rows
/// cost     as adagrad, with two states
ROWAN_OPTIMIZER_FUNCTION(adadelta, 2)

ROWAN_OPTIMIZER(StepsByRule<optim::adadelta>, float, Tensor<float>&, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::adadelta>, double, Tensor<double>&, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
