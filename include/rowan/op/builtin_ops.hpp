// rowan/op/builtin_ops.hpp: builtin_ops, the registry of rowan's operators.
#pragma once

#include <rowan/op/elementwise/activations.hpp>
#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/elementwise/clip.hpp>
#include <rowan/op/elementwise/compare.hpp>
#include <rowan/op/elementwise/div.hpp>
#include <rowan/op/elementwise/dropout.hpp>
#include <rowan/op/elementwise/full_like.hpp>
#include <rowan/op/elementwise/identity.hpp>
#include <rowan/op/elementwise/math.hpp>
#include <rowan/op/elementwise/maximum.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/relu.hpp>
#include <rowan/op/elementwise/scale.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/elementwise/sub.hpp>
#include <rowan/op/elementwise/sum.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/op/elementwise/where.hpp>
#include <rowan/op/loss/accuracy.hpp>
#include <rowan/op/loss/crf_decoding.hpp>
#include <rowan/op/loss/cross_entropy.hpp>
#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>
#include <rowan/op/loss/linear_chain_crf.hpp>
#include <rowan/op/loss/losses.hpp>
#include <rowan/op/loss/mse.hpp>
#include <rowan/op/matrix/cosine_similarity.hpp>
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/matrix/row_dot.hpp>
#include <rowan/op/norm/batch_norm.hpp>
#include <rowan/op/norm/layer_norm.hpp>
#include <rowan/op/norm/log_softmax.hpp>
#include <rowan/op/norm/softmax.hpp>
#include <rowan/op/optimizer/adadelta.hpp>
#include <rowan/op/optimizer/adagrad.hpp>
#include <rowan/op/optimizer/adam.hpp>
#include <rowan/op/optimizer/adamax.hpp>
#include <rowan/op/optimizer/clip_by_norm.hpp>
#include <rowan/op/optimizer/ftrl.hpp>
#include <rowan/op/optimizer/lamb.hpp>
#include <rowan/op/optimizer/momentum.hpp>
#include <rowan/op/optimizer/moving_average.hpp>
#include <rowan/op/optimizer/rmsprop.hpp>
#include <rowan/op/optimizer/rowwise_adagrad.hpp>
#include <rowan/op/optimizer/sgd.hpp>
#include <rowan/op/recurrent/gru_unit.hpp>
#include <rowan/op/recurrent/lstm_unit.hpp>
#include <rowan/op/reduce/argmax.hpp>
#include <rowan/op/reduce/argsort.hpp>
#include <rowan/op/reduce/cumsum.hpp>
#include <rowan/op/reduce/reduce.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>
#include <rowan/op/reduce/top_k.hpp>
#include <rowan/op/sequence/beam_search.hpp>
#include <rowan/op/sequence/drop_levels.hpp>
#include <rowan/op/sequence/edit_distance.hpp>
#include <rowan/op/sequence/expand_rows.hpp>
#include <rowan/op/sequence/interleave_rows.hpp>
#include <rowan/op/sequence/lod_reset.hpp>
#include <rowan/op/sequence/pick_sequences.hpp>
#include <rowan/op/sequence/reorder.hpp>
#include <rowan/op/sequence/sequence_attention.hpp>
#include <rowan/op/sequence/sequence_concat.hpp>
#include <rowan/op/sequence/sequence_context.hpp>
#include <rowan/op/sequence/sequence_erase.hpp>
#include <rowan/op/sequence/sequence_expand.hpp>
#include <rowan/op/sequence/sequence_mask.hpp>
#include <rowan/op/sequence/sequence_pad.hpp>
#include <rowan/op/sequence/sequence_pool.hpp>
#include <rowan/op/sequence/sequence_reshape.hpp>
#include <rowan/op/sequence/sequence_reverse.hpp>
#include <rowan/op/sequence/sequence_scatter.hpp>
#include <rowan/op/sequence/sequence_slice.hpp>
#include <rowan/op/sequence/sequence_softmax.hpp>
#include <rowan/op/sequence/sequence_top_k_mean.hpp>
#include <rowan/op/sequence/sequence_unpad.hpp>
#include <rowan/op/sequence/shrink.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/shape/one_hot.hpp>
#include <rowan/op/shape/reshape.hpp>
#include <rowan/op/shape/shape.hpp>
#include <rowan/op/shape/split.hpp>
#include <rowan/op/shape/stack.hpp>
#include <rowan/op/shape/transpose.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/lookup_table.hpp>
#include <rowan/op/table/to_dense.hpp>
#include <rowan/op/table/weighted_embedding_bag.hpp>

namespace rowan::inline v0 {

/// All operators of rowan except the templates on an element type (cast_op<To>, full_op<T>); `builtin_ops::with<...>`
/// adds them.
using builtin_ops = registry<
    accuracy_op, adadelta_op, adagrad_op, adam_op, adamax_op, add_op, any_op, bias_grad_op, cast_grad_op,
    clip_by_global_norm_op, clip_by_norm_op, clip_grad_op, clip_op, concat_grad_op, concat_op,
    cross_entropy_of_probabilities_grad_op, cross_entropy_of_probabilities_op, div_grad_y_op, div_op,
    drop_levels_grad_op, drop_levels_op, dropout_grad_op, dropout_op, edit_distance_op, mul_op, equal_op,
    expand_rows_op, fc_op, full_like_grad_op, full_like_op, ftrl_op, greater_equal_op, greater_op, gru_unit_grad_op,
    gru_unit_op, identity_op, lamb_op, less_equal_op, less_op, lod_from_offsets_op, lod_reset_op, log_softmax_grad_op,
    log_softmax_op, logical_and_op, logical_not_op, isfinite_op, isinf_op, isnan_op, logical_or_op,
    embedding_bag_grad_op, embedding_bag_op, lookup_table_grad_op, lookup_table_op, lstm_unit_grad_op, lstm_unit_op,
    momentum_op, mse_grad_op, mse_op, matmul_nt_op, matmul_nn_op, matmul_tn_op, negate_op, pick_sequences_grad_op,
    pick_sequences_op, reduce_grad_op<detail::axis_totals>, reduce_sum_op, relu_grad_op, relu_op, rmsprop_op,
    rowwise_adagrad_op, scale_grad_op, scale_op, sequence_concat_grad_op, sequence_concat_op, sequence_slice_grad_op,
    sequence_slice_op, sequence_pad_grad_op, sequence_pad_op, sequence_unpad_grad_op, sequence_unpad_op,
    sequence_context_grad_op, sequence_context_op, sequence_padding_grad_op, padded_sequence_context_op,
    sequence_erase_op, sequence_mask_op, sequence_expand_grad_op, sequence_expand_op, sequence_pool_grad_op,
    sequence_pool_op, sequence_reverse_grad_op, sequence_attention_grad_op, sequence_attention_op, sequence_reverse_op,
    sequence_softmax_grad_op, sequence_softmax_op, sgd_op, sigmoid_grad_op, sigmoid_op, softmax_grad_op, softmax_op,
    cross_entropy_grad_op, cross_entropy_op, split_grad_op, split_op, sub_op, sum_grad_op, sum_op, tanh_grad_op,
    tanh_op, exp_grad_op, exp_op, log_grad_op, log_op, sqrt_grad_op, sqrt_op, rsqrt_grad_op, rsqrt_op, square_grad_op,
    square_op, abs_grad_op, abs_op, pow_grad_op, pow_op, sin_grad_op, sin_op, cos_grad_op, cos_op, sign_grad_op,
    sign_op, floor_grad_op, floor_op, ceil_grad_op, ceil_op, round_grad_op, round_op, relu6_grad_op, relu6_op,
    hardtanh_grad_op, hardtanh_op, leaky_relu_grad_op, leaky_relu_op, elu_grad_op, elu_op, gelu_grad_op, gelu_op,
    swish_grad_op, swish_op, softplus_grad_op, softplus_op, softsign_grad_op, softsign_op, hard_sigmoid_grad_op,
    hard_sigmoid_op, hard_swish_grad_op, hard_swish_op, stanh_grad_op, stanh_op, thresholded_relu_grad_op,
    thresholded_relu_op, broadcast_grad_op<detail::add_formula, false>, broadcast_grad_op<detail::add_formula, true>,
    broadcast_grad_op<detail::div_formula, false>, broadcast_grad_op<detail::div_formula, true>, maximum_op,
    broadcast_grad_op<detail::maximum_formula, false>, broadcast_grad_op<detail::maximum_formula, true>, minimum_op,
    broadcast_grad_op<detail::minimum_formula, false>, broadcast_grad_op<detail::minimum_formula, true>,
    broadcast_grad_op<detail::mul_formula, false>, broadcast_grad_op<detail::mul_formula, true>,
    broadcast_grad_op<detail::sub_formula, false>, broadcast_grad_op<detail::sub_formula, true>, huber_op,
    pointwise_loss_grad_op<detail::huber_formula, false>, pointwise_loss_grad_op<detail::huber_formula, true>,
    smooth_l1_op, pointwise_loss_grad_op<detail::smooth_l1_formula, false>,
    pointwise_loss_grad_op<detail::smooth_l1_formula, true>, binary_cross_entropy_with_logits_op,
    pointwise_loss_grad_op<detail::binary_cross_entropy_with_logits_formula, false>, binary_cross_entropy_op,
    pointwise_loss_grad_op<detail::binary_cross_entropy_formula, false>, binary_cross_entropy_with_epsilon_op,
    pointwise_loss_grad_op<detail::binary_cross_entropy_with_epsilon_formula, false>, hinge_op,
    pointwise_loss_grad_op<detail::hinge_formula, false>, kl_div_op,
    pointwise_loss_grad_op<detail::kl_div_formula, false>, margin_ranking_op,
    pointwise_loss_grad_op<detail::margin_ranking_formula, false>, cosine_embedding_op,
    pointwise_loss_grad_op<detail::cosine_embedding_formula, false>, cosine_similarity_grad_op, cosine_similarity_op,
    crf_decoding_op, crf_matches_op, linear_chain_crf_grad_op, linear_chain_crf_op, weighted_embedding_bag_grad_op,
    weighted_embedding_bag_op, where_grad_op<false>, where_grad_op<true>, where_op, argmax_op, argmin_op, argsort_op,
    matmul_grad_op<false>, matmul_grad_op<true>, matmul_op, cumsum_grad_op, cumsum_op, one_hot_op,
    reduce_grad_op<detail::axis_means>, reduce_mean_op, reduce_grad_op<detail::axis_extremes<true>>, reduce_max_op,
    reduce_grad_op<detail::axis_extremes<false>>, reduce_min_op, reduce_grad_op<detail::axis_products>, reduce_prod_op,
    reshape_grad_op, reshape_op, squeeze_op, unsqueeze_op, shape_op, row_dot_grad_op, row_dot_op, stack_grad_op,
    stack_op, transpose_grad_op, transpose_op, top_k_grad_op, top_k_op, batch_norm_grad_op, batch_norm_op,
    layer_norm_grad_op, layer_norm_op, layer_norm_param_grad_op, moving_average_op, to_dense_op, beam_search_decode_op,
    beam_search_op, interleave_rows_grad_op, interleave_rows_op, nonzero_rows_op, sequence_reshape_grad_op,
    sequence_reshape_op, reorder_grad_op, reorder_op, shrink_grad_op, shrink_op, sequence_scatter_grad_op,
    sequence_scatter_op, sequence_top_k_mean_grad_op, sequence_top_k_mean_op>;

}  // namespace rowan::inline v0
