// rowan/sparse/adamax.hpp: adamax, Adam with a maximum of gradients instead of the mean of their squares.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

struct adamax_formula {
    AdamaxOptions options;
    double rate;

    ROWAN_FORMULA void operator()(V const& grad, V& p, V& m, V& u) const {
        V const g = with_decay(grad, options.weight_decay, p), zero = constant<V>(0.0);
        V const size = larger(g, V(zero - g)) + constant<V>(options.epsilon);
        m = running_mean(options.beta1, m, g);
        u = product(constant<V>(options.beta2), u);
        u = choose(more_extreme<true>{}(size, u), size, u);  // NaN remains
        p = p - product(constant<V>(rate), quotient(m, u));
    }
};

template <class D, class P, class M, class U>
LaneRule<adamax_formula> make_adamax_rule(Tensor<P, D> const& param, Tensor<M, D> const& moment,
                                          Tensor<U, D> const& norm, AdamaxOptions const& options) {
    check_moments<P, M, U>(options);
    double const rate = options.learning_rate / (1.0 - power(options.beta1, options.step));
    check_setting<P, M, U>("learning_rate / (1 - beta1^step)", rate);
    check_state("moment", param, moment);
    check_state("norm", param, norm);
    return {{options, rate}};
}

}  // namespace detail

/// One step of AdaMax (Kingma and Ba 2015, section 7.1), with PyTorch's epsilon, on the rows of `grad` (duplicates
/// summed first):
///     m = beta1 · m + (1 - beta1) · g;  u = max(beta2 · u, |g| + epsilon)
///     p -= learning_rate / (1 - beta1^step) · m / u
/// Lazy: rows that are not in `grad` are unchanged, and their states do not decay. With a dense `grad` this is standard
/// AdaMax. With a weight decay, g begins as grad + weight_decay · p. No square is formed, so no finite gradient is too
/// large or too small. With an epsilon of 0, an element becomes NaN if u is 0: if all its gradients have been 0.
/// shapes   param, moment (m) and norm (u) [height, ...], grad a SelectedRows of that height and row shape, or a Tensor
///          of that shape
/// errors   ValueError if an option is not finite, epsilon is negative, a beta not in [0, 1) or step less than 1, or if
///          learning_rate / (1 - beta1^step) does not fit the type of computation; ShapeError if shapes do not match;
///          Error as update_rows
/// cost     as adagrad, with two states
template <device D, class P, class M, class U, detail::gradient_on<D> G>
void adamax(D const& exec, Tensor<P, D>& param, Tensor<M, D>& moment, Tensor<U, D>& norm, G const& grad,
            AdamaxOptions options = {}) {
    detail::check_types<typename G::value_type, P, M, U>();
    update_rows(exec, grad, detail::make_adamax_rule(param, moment, norm, options), param, moment, norm);
}

/// One step of AdaMax on the rows of a plan, which is made once for several gradients or parameters; `value` has a row
/// for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param, moment and norm [plan.height(), ...]
/// errors   those of adamax for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of adamax for a SelectedRows, without the sort
template <device D, class P, class M, class U, class G>
void adamax(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<M, D>& moment, Tensor<U, D>& norm,
            Tensor<G, D> const& value, AdamaxOptions options = {}) {
    detail::check_types<G, P, M, U>();
    update_rows(exec, plan, value, detail::make_adamax_rule(param, moment, norm, options), param, moment, norm);
}

template <class P, class M, class U, class G, class Device>
requires detail::gradient_on<G, Device>
void adamax(Tensor<P, Device>& param, Tensor<M, Device>& moment, Tensor<U, Device>& norm, G const& grad,
            AdamaxOptions options = {}) {
    adamax(param.device(), param, moment, norm, grad, options);
}

template <class P, class M, class U, class G, class Device>
void adamax(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<M, Device>& moment, Tensor<U, Device>& norm,
            Tensor<G, Device> const& value, AdamaxOptions options = {}) {
    adamax(plan.device(), plan, param, moment, norm, value, options);
}

// Mistakes, which do not compile.
template <class P, class M, class V, class G, class Device, class R>
requires detail::gradient_on<G, Device> && std::is_arithmetic_v<R>
void adamax(Tensor<P, Device>&, Tensor<M, Device>&, Tensor<V, Device>&, G const&, R const&) {
    static_assert(!std::is_arithmetic_v<R>,
                  "rowan::adamax: options have names: adamax(param, moment, norm, grad, {.step = 1})");
}
template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void adamax(Tensor<P, Device>&, G const&, AdamaxOptions const& = {}) {
    static_assert(!element<P>,
                  "rowan::adamax: its two states are yours: each begins as Tensor<T>::zeros(param.shape()); "
                  "adamax(param, moment, norm, grad, {.step = 1})");
}

ROWAN_TEMPLATE(void adamax(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                           AdamaxOptions))
ROWAN_TEMPLATE(void adamax(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, Tensor<float> const&,
                           AdamaxOptions))
ROWAN_TEMPLATE(void adamax(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float>&,
                           Tensor<float> const&, AdamaxOptions))
ROWAN_TEMPLATE(void adamax(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                           AdamaxOptions))
ROWAN_TEMPLATE(void adamax(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                           AdamaxOptions))
ROWAN_TEMPLATE(void adamax(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double>&,
                           Tensor<double> const&, AdamaxOptions))

}  // namespace rowan::inline v0
