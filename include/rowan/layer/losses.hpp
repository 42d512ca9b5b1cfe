// rowan/layer/losses.hpp: layers of element-wise losses.
#pragma once

#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/loss/losses.hpp>
#include <rowan/op/matrix/cosine_similarity.hpp>

namespace rowan::inline v0::layer {

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

/// max(margin - label · (left - right), 0), as Paddle's margin_rank_loss and PyTorch's margin_ranking_loss. The label is
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

/// 1 - cos where the label is 1, and max(cos - margin, 0) where it is -1, for the cosines of the angles between the rows
/// of x and y, as PyTorch's cosine_embedding_loss.
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
