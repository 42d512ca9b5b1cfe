// rowan/layer/sequence_top_k_mean.hpp: layer::sequence_top_k_mean, the means of the greatest elements of the columns of
// sequences.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_top_k_mean.hpp>

namespace rowan::inline v0::layer {

/// The sum of the k greatest elements of a column, divided by k even if the sequence has fewer than k rows: for each
/// sequence of the last level, each column and each k of options.ks. Paddle's sequence_topk_avg_pooling.
///     auto best = layer::sequence_top_k_mean(scores, {.ks = {1, 3, 5}});    // 3 columns for each of scores
/// shapes   x [n, ...] with levels -> [number of sequences, row_size * ks.size()] with the upper levels of x
/// errors   ShapeError if x has no levels or ks is empty; ValueError if one of ks is less than 1
/// cost     as rowan::sequence_top_k_mean, when the net runs
template <class T, class Device>
Var<T, Device> sequence_top_k_mean(Var<T, Device> const& x, SequenceTopKMeanOptions const& options) {
    return apply<sequence_top_k_mean_op>(options, x);
}

}  // namespace rowan::inline v0::layer
