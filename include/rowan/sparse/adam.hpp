// rowan/sparse/adam.hpp: adam, lazy Adam: rows that are not in the gradient are unchanged.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

struct adam_formula {
    AdamOptions options;
    double correction1;
    double correction2;
    double kept = 1.0;  // of a parameter by decoupled decay

    ROWAN_FORMULA void operator()(V const& grad, V& p, V& m, V& v) const {
        V const g = with_decay(options, kept, grad, p);
        auto const [mean, root] = adam_means(options, correction1, correction2, g, m, v);
        p = p - quotient(product(constant<V>(options.learning_rate), mean), root);
    }
};

template <class D, class P, class M, class V>
LaneRule<adam_formula> make_adam_rule(Tensor<P, D> const& param, Tensor<M, D> const& moment1,
                                      Tensor<V, D> const& moment2, AdamOptions options) {
    check_moments<P, M, V>(options);
    double const kept = 1.0 - product(options.learning_rate, options.weight_decay);
    check_setting<P, M, V>("1 - learning_rate · weight_decay", kept);
    check_state("moment1", param, moment1);
    check_state("moment2", param, moment2);
    return {{options, 1.0 - power(options.beta1, options.step), 1.0 - power(options.beta2, options.step), kept}};
}

}  // namespace detail

/// One step of Adam (Kingma and Ba 2015) on the rows of `grad` (duplicates summed first):
///     m = beta1 · m + (1 - beta1) · g;  v = beta2 · v + (1 - beta2) · g²
///     p -= learning_rate · (m / (1 - beta1^step)) / (√(v / (1 - beta2^step)) + epsilon)
/// Lazy: rows that are not in `grad` are unchanged, and their moments do not decay. With a dense `grad` this is
/// standard Adam. With a weight decay, g begins as grad + weight_decay · p; if it is decoupled (Loshchilov and Hutter:
/// Decoupled Weight Decay Regularization, 2019), p begins as p · (1 - learning_rate · weight_decay) instead, as
/// PyTorch's AdamW. Rows that are not in `grad` do not decay. Right where g² is a number of the type of computation,
/// the widest dtype<T>::sum of the tensors. If it overflows, for float from |g| = 1.9e19 on, v is infinite, and
/// the element never moves again; if it vanishes, below |g| = 2e-23, it is 0 in v, and the step is infinite if v and epsilon
/// are 0. With a moment2 of doubles, the bounds are 1e154 and 1e-162.
/// shapes   param, moment1 and moment2 [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of
///          that shape
/// errors   ValueError if an option is not finite, epsilon is negative, a beta not in [0, 1) or step less than 1;
///          ShapeError if shapes do not match; Error as update_rows
/// cost     as adagrad, with two states
template <device D, class P, class M, class V, detail::gradient_on<D> G>
void adam(D const& exec, Tensor<P, D>& param, Tensor<M, D>& moment1, Tensor<V, D>& moment2, G const& grad,
          AdamOptions options = {}) {
    detail::check_types<typename G::value_type, P, M, V>();
    update_rows(exec, grad, detail::make_adam_rule(param, moment1, moment2, options), param, moment1, moment2);
}

/// One step of Adam on the rows of a plan, which is made once for several gradients or parameters; `value` has a row
/// for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param, moment1 and moment2 [plan.height(), ...]
/// errors   those of adam for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of adam for a SelectedRows, without the sort
template <device D, class P, class M, class V, class G>
void adam(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<M, D>& moment1, Tensor<V, D>& moment2,
          Tensor<G, D> const& value, AdamOptions options = {}) {
    detail::check_types<G, P, M, V>();
    update_rows(exec, plan, value, detail::make_adam_rule(param, moment1, moment2, options), param, moment1, moment2);
}

template <class P, class M, class V, class G, class Device>
requires detail::gradient_on<G, Device>
void adam(Tensor<P, Device>& param, Tensor<M, Device>& moment1, Tensor<V, Device>& moment2, G const& grad,
          AdamOptions options = {}) {
    adam(param.device(), param, moment1, moment2, grad, options);
}

template <class P, class M, class V, class G, class Device>
void adam(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<M, Device>& moment1, Tensor<V, Device>& moment2,
          Tensor<G, Device> const& value, AdamOptions options = {}) {
    adam(plan.device(), plan, param, moment1, moment2, value, options);
}

// Mistakes, which do not compile.
template <class P, class M, class V, class G, class Device, class R>
requires detail::gradient_on<G, Device> && std::is_arithmetic_v<R>
void adam(Tensor<P, Device>&, Tensor<M, Device>&, Tensor<V, Device>&, G const&, R const&) {
    static_assert(!std::is_arithmetic_v<R>,
                  "rowan::adam: options have names: adam(param, moment1, moment2, grad, {.step = 1})");
}
template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void adam(Tensor<P, Device>&, G const&, AdamOptions const& = {}) {
    static_assert(!element<P>,
                  "rowan::adam: its two states are yours: each begins as Tensor<T>::zeros(param.shape()); "
                  "adam(param, moment1, moment2, grad, {.step = 1})");
}

ROWAN_TEMPLATE(void adam(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                         AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float>&,
                         Tensor<float> const&, AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                         AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                         AdamOptions))
ROWAN_TEMPLATE(void adam(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double>&,
                         Tensor<double> const&, AdamOptions))

}  // namespace rowan::inline v0
