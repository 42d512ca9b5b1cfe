// rowan/sparse/adadelta.hpp: adadelta, steps of the size of earlier steps.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <type_traits>

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

template <class D, class P, class S, class U>
LaneRule<adadelta_formula> make_adadelta_rule(Tensor<P, D> const& param, Tensor<S, D> const& mean_square,
                                              Tensor<U, D> const& mean_step, AdadeltaOptions const& options) {
    check_setting<P, S, U>("learning_rate", options.learning_rate);
    check_decay("rho", options.rho);
    check_epsilon<P, S, U>(options.epsilon);
    check_setting<P, S, U>("weight_decay", options.weight_decay);
    check_state("mean_square", param, mean_square);
    check_state("mean_step", param, mean_step);
    return {{options}};
}

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
template <device D, class P, class S, class U, detail::gradient_on<D> G>
void adadelta(D const& exec, Tensor<P, D>& param, Tensor<S, D>& mean_square, Tensor<U, D>& mean_step, G const& grad,
              AdadeltaOptions options = {}) {
    detail::check_types<typename G::value_type, P, S, U>();
    update_rows(exec, grad, detail::make_adadelta_rule(param, mean_square, mean_step, options), param, mean_square,
                mean_step);
}

/// One step of Adadelta on the rows of a plan, which is made once for several gradients or parameters; `value` has a
/// row for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param, mean_square and mean_step [plan.height(), ...]
/// errors   those of adadelta for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of adadelta for a SelectedRows, without the sort
template <device D, class P, class S, class U, class G>
void adadelta(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<S, D>& mean_square,
              Tensor<U, D>& mean_step, Tensor<G, D> const& value, AdadeltaOptions options = {}) {
    detail::check_types<G, P, S, U>();
    update_rows(exec, plan, value, detail::make_adadelta_rule(param, mean_square, mean_step, options), param,
                mean_square, mean_step);
}

template <class P, class S, class U, class G, class Device>
requires detail::gradient_on<G, Device>
void adadelta(Tensor<P, Device>& param, Tensor<S, Device>& mean_square, Tensor<U, Device>& mean_step, G const& grad,
              AdadeltaOptions options = {}) {
    adadelta(param.device(), param, mean_square, mean_step, grad, options);
}

template <class P, class S, class U, class G, class Device>
void adadelta(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<S, Device>& mean_square,
              Tensor<U, Device>& mean_step, Tensor<G, Device> const& value, AdadeltaOptions options = {}) {
    adadelta(plan.device(), plan, param, mean_square, mean_step, value, options);
}

// Mistakes, which do not compile.
template <class P, class M, class V, class G, class Device, class R>
requires detail::gradient_on<G, Device> && std::is_arithmetic_v<R>
void adadelta(Tensor<P, Device>&, Tensor<M, Device>&, Tensor<V, Device>&, G const&, R const&) {
    static_assert(!std::is_arithmetic_v<R>,
                  "rowan::adadelta: options have names: adadelta(param, mean_square, mean_step, grad, {.rho = 0.9})");
}
template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void adadelta(Tensor<P, Device>&, G const&, AdadeltaOptions const& = {}) {
    static_assert(!element<P>,
                  "rowan::adadelta: its two states are yours: each begins as Tensor<T>::zeros(param.shape()); "
                  "adadelta(param, mean_square, mean_step, grad, {.rho = 0.9})");
}

ROWAN_TEMPLATE(void adadelta(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                             AdadeltaOptions))
ROWAN_TEMPLATE(void adadelta(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, Tensor<float> const&,
                             AdadeltaOptions))
ROWAN_TEMPLATE(void adadelta(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float>&,
                             Tensor<float> const&, AdadeltaOptions))
ROWAN_TEMPLATE(void adadelta(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                             AdadeltaOptions))
ROWAN_TEMPLATE(void adadelta(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                             AdadeltaOptions))
ROWAN_TEMPLATE(void adadelta(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double>&,
                             Tensor<double> const&, AdadeltaOptions))

}  // namespace rowan::inline v0
