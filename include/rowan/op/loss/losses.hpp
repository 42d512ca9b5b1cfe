// rowan/op/loss/losses.hpp: element-wise losses.
#pragma once

#include <rowan/op/detail/loss_formulas.hpp>
#include <rowan/op/detail/pointwise_loss.hpp>
#include <rowan/op/loss/loss_options.hpp>

namespace rowan::inline v0 {

// Losses are computed in dtype<T>::sum, with vector functions of rowan for exp and log: all devices and any number of
// threads return the same bits. Sums are formed as in cross_entropy_of_probabilities, in temporary memory for x.size() numbers.

/// (x - y)² / 2 where |x - y| <= delta, else delta · (|x - y| - delta / 2): the mean over all elements, or by
/// options.reduction their sum or all of them. Huber 1964.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if delta is not finite or not above 0; ShapeError if the shapes differ
/// cost     one read of both
template <class T, device D>
Tensor<T, D> huber(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, HuberOptions const& options = {}) {
    return detail::pointwise_loss<detail::huber_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> huber(Tensor<T, Device> const& x, Tensor<T, Device> const& y, HuberOptions const& options = {}) {
    return huber(x.device(), x, y, options);
}

using huber_op = pointwise_loss_op<detail::huber_formula>;  ///< See huber.

/// (x - y)² / (2 · beta) where |x - y| < beta, else |x - y| - beta / 2: the mean over all elements, or by
/// options.reduction their sum or all of them. |x - y| if beta is 0. As in PyTorch; Paddle's beta is 1 / sigma², and it
/// sums over each row.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if beta is not finite or negative; ShapeError if the shapes differ
/// cost     one read of both
template <class T, device D>
Tensor<T, D> smooth_l1(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                       SmoothL1Options const& options = {}) {
    return detail::pointwise_loss<detail::smooth_l1_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> smooth_l1(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                            SmoothL1Options const& options = {}) {
    return smooth_l1(x.device(), x, y, options);
}

using smooth_l1_op = pointwise_loss_op<detail::smooth_l1_formula>;  ///< See smooth_l1.

/// -y · log(s) - (1 - y) · log(1 - s) for s = 1 / (1 + exp(-x)): the mean over all elements, or by options.reduction
/// their sum or all of them. Finite if x and y are. y has no gradient, as in Paddle. Elements whose y is
/// options.ignore_index do not count.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both; with a label to ignore also 8 bytes for each element, and two more passes
template <class T, device D>
Tensor<T, D> binary_cross_entropy_with_logits(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                              BinaryCrossEntropyOptions const& options = {}) {
    return detail::pointwise_loss<detail::binary_cross_entropy_with_logits_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> binary_cross_entropy_with_logits(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                                   BinaryCrossEntropyOptions const& options = {}) {
    return binary_cross_entropy_with_logits(x.device(), x, y, options);
}

using binary_cross_entropy_with_logits_op =
    pointwise_loss_op<detail::binary_cross_entropy_with_logits_formula>;  ///< See binary_cross_entropy_with_logits.

/// -y · log(x) - (1 - y) · log(1 - x) for probabilities x: the mean over all elements, or by options.reduction their
/// sum or all of them. Logarithms below -100 count as -100, and x · (1 - x) in the gradient is at least 1e-12, as in
/// PyTorch. Outside of [0, 1] the loss is NaN. y has no gradient. Elements whose y is options.ignore_index do not
/// count.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both; with a label to ignore also 8 bytes for each element, and two more passes
template <class T, device D>
Tensor<T, D> binary_cross_entropy(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                  BinaryCrossEntropyOptions const& options = {}) {
    return detail::pointwise_loss<detail::binary_cross_entropy_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> binary_cross_entropy(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                       BinaryCrossEntropyOptions const& options = {}) {
    return binary_cross_entropy(x.device(), x, y, options);
}

using binary_cross_entropy_op = pointwise_loss_op<detail::binary_cross_entropy_formula>;  ///< See binary_cross_entropy.

/// -y · log(x + epsilon) - (1 - y) · log(1 - x + epsilon) for probabilities x: the mean over all elements, or by
/// options.reduction their sum or all of them. y has no gradient, as in Paddle.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if epsilon is not finite or negative; ShapeError if the shapes differ
/// cost     one read of both
template <class T, device D>
Tensor<T, D> binary_cross_entropy_with_epsilon(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                               BinaryCrossEntropyWithEpsilonOptions const& options = {}) {
    return detail::pointwise_loss<detail::binary_cross_entropy_with_epsilon_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> binary_cross_entropy_with_epsilon(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                                    BinaryCrossEntropyWithEpsilonOptions const& options = {}) {
    return binary_cross_entropy_with_epsilon(x.device(), x, y, options);
}

using binary_cross_entropy_with_epsilon_op =
    pointwise_loss_op<detail::binary_cross_entropy_with_epsilon_formula>;  ///< See binary_cross_entropy_with_epsilon.

/// max(1 - x · (2 y - 1), 0) for labels y of 0 and 1, as in Paddle: the mean over all elements, or by options.reduction
/// their sum or all of them. The slope at the bend is 0. y has no gradient.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both
template <class T, device D>
Tensor<T, D> hinge(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, LossOptions const& options = {}) {
    return detail::pointwise_loss<detail::hinge_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> hinge(Tensor<T, Device> const& x, Tensor<T, Device> const& y, LossOptions const& options = {}) {
    return hinge(x.device(), x, y, options);
}

using hinge_op = pointwise_loss_op<detail::hinge_formula>;  ///< See hinge.

/// y · (log(y) - x) for log-probabilities x, or 0 where the probability y is 0: the mean over all elements, or by
/// options.reduction their sum or all of them. As in PyTorch; its "batchmean" is the sum divided by the number of rows.
/// y has no gradient.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both
template <class T, device D>
Tensor<T, D> kl_div(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, LossOptions const& options = {}) {
    return detail::pointwise_loss<detail::kl_div_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> kl_div(Tensor<T, Device> const& x, Tensor<T, Device> const& y, LossOptions const& options = {}) {
    return kl_div(x.device(), x, y, options);
}

using kl_div_op = pointwise_loss_op<detail::kl_div_formula>;  ///< See kl_div.

/// max(margin - x · y, 0) for differences x of two scores and labels y of 1 or -1: the mean over all elements, or by
/// options.reduction their sum or all of them. The slope at the bend is 0, as in Paddle. y has no gradient.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if margin is not finite; ShapeError if the shapes differ
/// cost     one read of both
template <class T, device D>
Tensor<T, D> margin_ranking(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                            MarginOptions const& options = {}) {
    return detail::pointwise_loss<detail::margin_ranking_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> margin_ranking(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                 MarginOptions const& options = {}) {
    return margin_ranking(x.device(), x, y, options);
}

using margin_ranking_op = pointwise_loss_op<detail::margin_ranking_formula>;  ///< See margin_ranking.

/// 1 - x where y > 0, else max(x - margin, 0), for cosines x and labels y of 1 and -1: the mean over all elements, or by
/// options.reduction their sum or all of them. The slope at the bend is 0. y has no gradient.
/// shapes   x and y [...] -> [1], or [...] without reduction
/// errors   ValueError if margin is not finite; ShapeError if the shapes differ
/// cost     one read of both
template <class T, device D>
Tensor<T, D> cosine_embedding(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                              MarginOptions const& options = {}) {
    return detail::pointwise_loss<detail::cosine_embedding_formula>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> cosine_embedding(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                   MarginOptions const& options = {}) {
    return cosine_embedding(x.device(), x, y, options);
}

using cosine_embedding_op = pointwise_loss_op<detail::cosine_embedding_formula>;  ///< See cosine_embedding.

}  // namespace rowan::inline v0
