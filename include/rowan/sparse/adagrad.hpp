// rowan/sparse/adagrad.hpp: adagrad, AdaGrad with one state per element.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>

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

template <>
struct StepsOf<optim::adagrad> : StepsByRule<optim::adagrad> {
    template <class... P>
    static DecayRule<adagrad_decay_formula> rule(AdaGradOptions const& options) {
        return {{options, check_adagrad<P...>(options)}};
    }
};

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
ROWAN_OPTIMIZER_FUNCTION(adagrad, 1)

ROWAN_OPTIMIZER(StepsByRule<optim::adagrad>, float, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::adagrad>, double, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
