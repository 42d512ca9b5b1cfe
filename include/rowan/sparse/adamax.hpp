// rowan/sparse/adamax.hpp: adamax, Adam with a maximum of gradients instead of the mean of their squares.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>

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

template <>
struct StepsOf<optim::adamax> : StepsByRule<optim::adamax> {
    template <class... P>
    static LaneRule<adamax_formula> rule(AdamaxOptions const& options) {
        check_moments<P...>(options);
        double const rate = options.learning_rate / (1.0 - power(options.beta1, options.step));
        check_setting<P...>("learning_rate / (1 - beta1^step)", rate);
        return {{options, rate}};
    }
};

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
ROWAN_OPTIMIZER_FUNCTION(adamax, 2)

ROWAN_OPTIMIZER(StepsByRule<optim::adamax>, float, Tensor<float>&, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::adamax>, double, Tensor<double>&, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
