// rowan/sparse/adam.hpp: adam, lazy Adam: rows that are not in the gradient are unchanged.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>

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

template <>
struct StepsOf<optim::adam> : StepsByRule<optim::adam> {
    template <class... P>
    static LaneRule<adam_formula> rule(AdamOptions const& options) {
        check_moments<P...>(options);
        double const kept = 1.0 - product(options.learning_rate, options.weight_decay);
        check_setting<P...>("1 - learning_rate · weight_decay", kept);
        return {{options, 1.0 - power(options.beta1, options.step), 1.0 - power(options.beta2, options.step), kept}};
    }
};

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
/// shapes   param, moment and moment2 [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of
///          that shape
/// errors   ValueError if an option is not finite, epsilon is negative, a beta not in [0, 1) or step less than 1;
///          ShapeError if shapes do not match; Error as update_rows
/// cost     as adagrad, with two states
ROWAN_OPTIMIZER_FUNCTION(adam, 2)

ROWAN_OPTIMIZER(StepsByRule<optim::adam>, float, Tensor<float>&, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::adam>, double, Tensor<double>&, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
