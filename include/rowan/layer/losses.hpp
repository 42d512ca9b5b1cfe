// rowan/layer/losses.hpp: layers of element-wise losses.
#pragma once

#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/loss/losses.hpp>
#include <rowan/op/matrix/cosine_similarity.hpp>

namespace rowan::inline v0::layer {

/// (x - y)² / 2 where |x - y| <= delta, else delta · (|x - y| - delta / 2): the mean over all elements, or by
/// options.reduction their sum or all of them, as rowan::huber.
/// shapes   x and y [...] -> [1], or [...] without reduction, with the levels of x
/// errors   ValueError if delta is not finite or not above 0; ShapeError if the shapes differ
/// cost     as rowan::huber, when the net runs
template <class T, class Device>
Var<T, Device> huber(Var<T, Device> const& x, Var<T, Device> const& y, HuberOptions const& options = {}) {
    rowan::detail::huber_formula::check(options);
    return apply<huber_op>(options, x, y);
}

/// (x - y)² / (2 · beta) where |x - y| < beta, else |x - y| - beta / 2: the mean over all elements, or by
/// options.reduction their sum or all of them, as rowan::smooth_l1.
/// shapes   x and y [...] -> [1], or [...] without reduction, with the levels of x
/// errors   ValueError if beta is not finite or negative; ShapeError if the shapes differ
/// cost     as rowan::smooth_l1, when the net runs
template <class T, class Device>
Var<T, Device> smooth_l1(Var<T, Device> const& x, Var<T, Device> const& y, SmoothL1Options const& options = {}) {
    rowan::detail::smooth_l1_formula::check(options);
    return apply<smooth_l1_op>(options, x, y);
}

/// -y · log(s) - (1 - y) · log(1 - s) for s = 1 / (1 + exp(-x)): the mean over all elements, or by options.reduction
/// their sum or all of them, as rowan::binary_cross_entropy_with_logits.
///     auto cost = layer::binary_cross_entropy_with_logits(x, y, {.ignore_index = -1});     // where y is not -1
/// shapes   x and y [...] -> [1], or [...] without reduction, with the levels of x
/// errors   ShapeError if the shapes differ
/// cost     as rowan::binary_cross_entropy_with_logits, when the net runs
template <class T, class Device>
Var<T, Device> binary_cross_entropy_with_logits(Var<T, Device> const& x, Var<T, Device> const& y,
                                                BinaryCrossEntropyOptions const& options = {}) {
    return apply<binary_cross_entropy_with_logits_op>(options, x, y);
}

/// -y · log(x) - (1 - y) · log(1 - x) for probabilities x: the mean over all elements, or by options.reduction their
/// sum or all of them, as rowan::binary_cross_entropy.
/// shapes   x and y [...] -> [1], or [...] without reduction, with the levels of x
/// errors   ShapeError if the shapes differ
/// cost     as rowan::binary_cross_entropy, when the net runs
template <class T, class Device>
Var<T, Device> binary_cross_entropy(Var<T, Device> const& x, Var<T, Device> const& y,
                                    BinaryCrossEntropyOptions const& options = {}) {
    return apply<binary_cross_entropy_op>(options, x, y);
}

/// -y · log(x + epsilon) - (1 - y) · log(1 - x + epsilon) for probabilities x: the mean over all elements, or by
/// options.reduction their sum or all of them, as rowan::binary_cross_entropy_with_epsilon.
/// shapes   x and y [...] -> [1], or [...] without reduction, with the levels of x
/// errors   ValueError if epsilon is not finite or negative; ShapeError if the shapes differ
/// cost     as rowan::binary_cross_entropy_with_epsilon, when the net runs
template <class T, class Device>
Var<T, Device> binary_cross_entropy_with_epsilon(Var<T, Device> const& x, Var<T, Device> const& y,
                                                 BinaryCrossEntropyWithEpsilonOptions const& options = {}) {
    rowan::detail::binary_cross_entropy_with_epsilon_formula::check(options);
    return apply<binary_cross_entropy_with_epsilon_op>(options, x, y);
}

/// max(1 - x · (2 y - 1), 0) for labels y of 0 and 1, as in Paddle: the mean over all elements, or by options.reduction
/// their sum or all of them, as rowan::hinge.
/// shapes   x and y [...] -> [1], or [...] without reduction, with the levels of x
/// errors   ShapeError if the shapes differ
/// cost     as rowan::hinge, when the net runs
template <class T, class Device>
Var<T, Device> hinge(Var<T, Device> const& x, Var<T, Device> const& y, LossOptions const& options = {}) {
    return apply<hinge_op>(options, x, y);
}

/// y · (log(y) - x) for log-probabilities x, or 0 where the probability y is 0: the mean over all elements, or by
/// options.reduction their sum or all of them, as rowan::kl_div.
/// shapes   x and y [...] -> [1], or [...] without reduction, with the levels of x
/// errors   ShapeError if the shapes differ
/// cost     as rowan::kl_div, when the net runs
template <class T, class Device>
Var<T, Device> kl_div(Var<T, Device> const& x, Var<T, Device> const& y, LossOptions const& options = {}) {
    return apply<kl_div_op>(options, x, y);
}

/// log(1 + exp(left - right)) - label · (left - right), RankNet's loss of pairs (Burges et al. 2005), as Paddle's
/// ranknet. The label is 1 if left is better, 0 if right is, or in between.
/// shapes   all [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     of sub and binary_cross_entropy_with_logits, when the net runs
template <class T, class Device>
Var<T, Device> ranknet(Var<T, Device> const& label, Var<T, Device> const& left, Var<T, Device> const& right,
                       LossOptions const& options = {}) {
    return layer::binary_cross_entropy_with_logits(layer::sub(left, right), label, options);
}

/// max(margin - label · (left - right), 0), as Paddle's margin_ranking and PyTorch's margin_ranking_loss. The label is
/// 1 if left is to be the greater one, else -1.
/// shapes   all [...] -> [1], or [...] without reduction
/// errors   ValueError if margin is not finite; ShapeError if the shapes differ
/// cost     of sub and rowan::margin_ranking, when the net runs
template <class T, class Device>
Var<T, Device> margin_ranking(Var<T, Device> const& label, Var<T, Device> const& left, Var<T, Device> const& right,
                              MarginOptions const& options = {}) {
    rowan::detail::margin_ranking_formula::check(options);
    return apply<margin_ranking_op>(options, layer::sub(left, right), label);
}

/// The cosine of the angle between the rows of x and y, as rowan::cosine_similarity.
/// shapes   x and y [n, width] -> [n, 1], with the levels of x
/// errors   ValueError if epsilon is not above 0; ShapeError if x is not a matrix or the shapes differ
/// cost     as rowan::cosine_similarity, when the net runs
template <class T, class Device>
Var<T, Device> cosine_similarity(Var<T, Device> const& x, Var<T, Device> const& y, CosineOptions const& options = {}) {
    rowan::detail::check_cosine(options);
    return apply<cosine_similarity_op>(options, x, y);
}

/// 1 - cos where the label is 1, and max(cos - margin, 0) where it is -1, for the cosines of the angles between the rows
/// of x and y, as PyTorch's cosine_embedding.
/// shapes   x and y [n, width], label [n, 1] -> [1], or [n, 1] without reduction
/// errors   ValueError if margin is not finite; ShapeError if the shapes do not fit
/// cost     of cosine_similarity and rowan::cosine_embedding, when the net runs
template <class T, class Device>
Var<T, Device> cosine_embedding(Var<T, Device> const& x, Var<T, Device> const& y, Var<T, Device> const& label,
                                MarginOptions const& options = {}) {
    rowan::detail::cosine_embedding_formula::check(options);
    return apply<cosine_embedding_op>(options, layer::cosine_similarity(x, y), label);
}

}  // namespace rowan::inline v0::layer
