// rowan/op/loss/functions.hpp: element-wise losses.
#pragma once

#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/loss/declared.hpp>

#include <concepts>

namespace rowan::inline v0 {

// Losses are computed in dtype<T>::sum, with vector functions of rowan for exp and log: all devices and any number of
// threads return the same bits. Sums are formed as in cross_entropy_of_probabilities, in temporary memory for x.size() numbers.
//
// All of them, and mse, also take a weight for each row of x: huber(x, y, weights, {.delta = 2}). The losses of the
// elements of a row are multiplied by its weight. The mean divides by the sum of the weights of all elements, or is 0 if
// that is 0. A row of weight 0 has a loss and a gradient of 0, whatever its elements are. Weights have no gradient, and
// cost 8 bytes for each element and three more passes. Where labels are 1 for positives and 0 for negatives, or
// probabilities in between, options.pos_weight multiplies the loss of label 1; no mean divides by it.
//     auto loss = binary_cross_entropy_with_logits(x, y, weights, {.pos_weight = 20});
// shapes   weights [n] for x [n, ...]
// errors   ShapeError for another shape; ValueError with the place of a weight that is not in [0, 1e150], such as
//          `weights[3] is nan`; ValueError if pos_weight is negative or not finite

/// Declares the loss f with weights of rows, with and without an execution.
#define ROWAN_WEIGHTED_LOSS(f, Options)                                                                              \
    template <class T, device D, std::same_as<Tensor<T, D>> W>                                                       \
    Tensor<T, D> f(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, W const& weights,                    \
                   Options const& options = {}) {                                                                    \
        static_assert(floating_element<T>, "rowan: this loss needs x and y of a floating-point type: convert them"); \
        return detail::run_of<weighted_##f##_op, Tensor<T, D>>(exec, x, y, weights, options);                        \
    }                                                                                                                \
    template <class T, class Device, std::same_as<Tensor<T, Device>> W>                                              \
    Tensor<T, Device> f(Tensor<T, Device> const& x, Tensor<T, Device> const& y, W const& weights,                    \
                        Options const& options = {}) {                                                               \
        return f(x.device(), x, y, weights, options);                                                                \
    }

/// Declares the loss f, with and without an execution, and the same with weights.
#define ROWAN_LOSS(f, Options)                                                                                       \
    template <class T, device D>                                                                                     \
    Tensor<T, D> f(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Options const& options = {}) {       \
        static_assert(floating_element<T>, "rowan: this loss needs x and y of a floating-point type: convert them"); \
        return detail::run_of<f##_op, Tensor<T, D>>(exec, x, y, options);                                            \
    }                                                                                                                \
    template <class T, class Device>                                                                                 \
    Tensor<T, Device> f(Tensor<T, Device> const& x, Tensor<T, Device> const& y, Options const& options = {}) {       \
        return f(x.device(), x, y, options);                                                                         \
    }                                                                                                                \
    ROWAN_WEIGHTED_LOSS(f, Options)

/// (x - y)² / 2 where |x - y| <= delta, else delta · (|x - y| - delta / 2): the mean over all elements, or by
/// options.reduction their sum or all of them. Huber 1964.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if delta is not finite or not above 0; ShapeError if the shapes differ
/// cost     one read of both
ROWAN_LOSS(huber, HuberOptions)

/// (x - y)² / (2 · beta) where |x - y| < beta, else |x - y| - beta / 2: the mean over all elements, or by
/// options.reduction their sum or all of them. |x - y| if beta is 0. As in PyTorch; Paddle's beta is 1 / sigma², and it
/// sums over each row.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if beta is not finite or negative; ShapeError if the shapes differ
/// cost     one read of both
ROWAN_LOSS(smooth_l1, SmoothL1Options)

/// -y · log(s) - (1 - y) · log(1 - s) for s = 1 / (1 + exp(-x)): the mean over all elements, or by options.reduction
/// their sum or all of them. Finite if x and y are. y has no gradient, as in Paddle. Elements whose y is
/// options.ignore_index do not count. With p = options.pos_weight it is -p · y · log(s) - (1 - y) · log(1 - s).
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both; with a label to ignore also 8 bytes for each element, and two more passes
ROWAN_LOSS(binary_cross_entropy_with_logits, BinaryCrossEntropyOptions)

/// -y · log(x) - (1 - y) · log(1 - x) for probabilities x: the mean over all elements, or by options.reduction their
/// sum or all of them. Logarithms below -100 count as -100, and x · (1 - x) in the gradient is at least 1e-12, as in
/// PyTorch. Outside of [0, 1] the loss is NaN. y has no gradient. Elements whose y is options.ignore_index do not
/// count.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both; with a label to ignore also 8 bytes for each element, and two more passes
ROWAN_LOSS(binary_cross_entropy, BinaryCrossEntropyOptions)

/// -y · log(x + epsilon) - (1 - y) · log(1 - x + epsilon) for probabilities x: the mean over all elements, or by
/// options.reduction their sum or all of them. y has no gradient, as in Paddle.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if epsilon is not finite or negative; ShapeError if the shapes differ
/// cost     one read of both
ROWAN_LOSS(binary_cross_entropy_with_epsilon, BinaryCrossEntropyWithEpsilonOptions)

/// max(1 - x · (2 y - 1), 0) for labels y of 0 and 1, as in Paddle: the mean over all elements, or by options.reduction
/// their sum or all of them. The slope at the bend is 0. y has no gradient.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both
ROWAN_LOSS(hinge, HingeOptions)

/// y · (log(y) - x) for log-probabilities x, or 0 where the probability y is 0: the mean over all elements, or by
/// options.reduction their sum or all of them. As in PyTorch; its "batchmean" is the sum divided by the number of rows.
/// y has no gradient.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both
ROWAN_LOSS(kl_div, LossOptions)

/// max(margin - x · y, 0) for differences x of two scores and labels y of 1 or -1: the mean over all elements, or by
/// options.reduction their sum or all of them. The slope at the bend is 0, as in Paddle. y has no gradient.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if margin is not finite; ShapeError if the shapes differ
/// cost     one read of both
ROWAN_LOSS(margin_ranking, MarginOptions)

/// 1 - x where y > 0, else max(x - margin, 0), for cosines x and labels y of 1 and -1: the mean over all elements, or by
/// options.reduction their sum or all of them. The slope at the bend is 0. y has no gradient.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if margin is not finite; ShapeError if the shapes differ
/// cost     one read of both
ROWAN_LOSS(cosine_embedding, MarginOptions)

/// (x - y)², computed in dtype<T>::sum: the mean over all elements, or by options.reduction their sum or all of them. The
/// mean of no elements is 0. Sums are formed in blocks of 4096 elements, each in 16 interleaved partial sums, and the
/// block sums are added in the same way. Weights of rows are those of losses.hpp.
/// shapes   x [...], y [...], maybe weights [n] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> mse(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, LossOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::mse: x and y must have a floating-point type: convert them");
    return detail::run_of<mse_op, Tensor<T, D>>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> mse(Tensor<T, Device> const& x, Tensor<T, Device> const& y, LossOptions const& options = {}) {
    return mse(x.device(), x, y, options);
}
ROWAN_WEIGHTED_LOSS(mse, LossOptions)

}  // namespace rowan::inline v0
