// rowan/sparse/adagrad.hpp: adagrad, AdaGrad with one state per element.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// Checks the options, and returns what a step keeps of a parameter by decoupled decay.
template <class... P>
double check_adagrad(AdaGradOptions const& options) {
    check_setting<P...>("learning_rate", options.learning_rate);
    check_epsilon<P...>(options.epsilon);
    return check_kept<P...>(options);
}

struct adagrad_formula {
    AdaGradOptions options;

    ROWAN_FORMULA void operator()(V const& g, V& p, V& m) const {
        m = m + product(g, g);
        V const root = square_root(m) + constant<V>(options.epsilon);
        p = p - quotient(product(constant<V>(options.learning_rate), g), root);
    }
};

struct adagrad_decay_formula {
    AdaGradOptions options;
    double kept;  // of a parameter by decoupled decay

    adagrad_formula plain() const { return {options}; }

    ROWAN_FORMULA void operator()(V const& grad, V& p, V& m) const {
        V const g = with_decay(options, kept, grad, p);
        adagrad_formula{options}(g, p, m);
    }
};

template <class D, class P, class M>
DecayRule<adagrad_decay_formula> make_adagrad_rule(Tensor<P, D> const& param, Tensor<M, D> const& moment,
                                                   AdaGradOptions options) {
    double const kept = check_adagrad<P, M>(options);
    check_state("moment", param, moment);
    return {{options, kept}};
}

}  // namespace detail

/// One step of AdaGrad (Duchi et al. 2011) on the rows of `grad` (duplicates summed first):
///     m += g²;  p -= learning_rate · g / (√m + epsilon)
/// With a weight decay, g begins as grad + weight_decay · p, as PyTorch's Adagrad; if it is decoupled, p begins as p ·
/// (1 - learning_rate · weight_decay) instead. Rows that are not in `grad` do not decay: see Deferred. Right where g²
/// is a number of the type of computation, the widest dtype<T>::sum of the three tensors. If g² overflows, for float
/// from |g| = 1.9e19 on, m is infinite, and p never changes again; if it vanishes, below |g| = 2e-23, p changes by
/// learning_rate · g / (√m + epsilon) with the old m, infinitely if this and epsilon are 0. With a moment of doubles,
/// the bounds are 1e154 and 1e-162.
/// shapes   param and moment [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of that shape
/// errors   ValueError if an option is not finite or epsilon is negative; ShapeError if shapes do not match; Error
///          as update_rows
/// cost     O(n * width) and a sort of the rows; every contribution is read once, every touched row read and written
///          once
template <device D, class P, class M, detail::gradient_on<D> G>
void adagrad(D const& exec, Tensor<P, D>& param, Tensor<M, D>& moment, G const& grad, AdaGradOptions options = {}) {
    detail::check_types<typename G::value_type, P, M>();
    update_rows(exec, grad, detail::make_adagrad_rule(param, moment, options), param, moment);
}

/// One step of AdaGrad on the rows of a plan, which is made once for several gradients or parameters; `value` has a row
/// for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param and moment [plan.height(), ...]
/// errors   those of adagrad for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of adagrad for a SelectedRows, without the sort
template <device D, class P, class M, class G>
void adagrad(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<M, D>& moment,
             Tensor<G, D> const& value, AdaGradOptions options = {}) {
    detail::check_types<G, P, M>();
    update_rows(exec, plan, value, detail::make_adagrad_rule(param, moment, options), param, moment);
}

template <class P, class M, class G, class Device>
requires detail::gradient_on<G, Device>
void adagrad(Tensor<P, Device>& param, Tensor<M, Device>& moment, G const& grad, AdaGradOptions options = {}) {
    adagrad(param.device(), param, moment, grad, options);
}

template <class P, class M, class G, class Device>
void adagrad(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<M, Device>& moment,
             Tensor<G, Device> const& value, AdaGradOptions options = {}) {
    adagrad(plan.device(), plan, param, moment, value, options);
}

// Mistakes, which do not compile.
template <class P, class M, class G, class Device, class R>
requires detail::gradient_on<G, Device> && std::is_arithmetic_v<R>
void adagrad(Tensor<P, Device>&, Tensor<M, Device>&, G const&, R const&) {
    static_assert(!std::is_arithmetic_v<R>,
                  "rowan::adagrad: options have names: adagrad(param, moment, grad, {.learning_rate = 0.1})");
}
template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void adagrad(Tensor<P, Device>&, G const&, AdaGradOptions const& = {}) {
    static_assert(!element<P>,
                  "rowan::adagrad: its state is yours: auto moment = Tensor<T>::zeros(param.shape()); "
                  "adagrad(param, moment, grad)");
}

ROWAN_TEMPLATE(void adagrad(Cpu const&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&, AdaGradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, AdaGradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float> const&,
                            AdaGradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&, AdaGradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&, AdaGradOptions))
ROWAN_TEMPLATE(void adagrad(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                            AdaGradOptions))

}  // namespace rowan::inline v0
