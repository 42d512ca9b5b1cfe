// rowan/op/forward_ops.hpp: forward_ops, the operators that programs in files may contain.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/builtin_ops.hpp>

namespace rowan::inline v0 {

/// All operators of rowan except those that only training needs and the templates on an element type (cast_op,
/// full_op), which programs provide for each of their element types. `forward_ops::with<my_op>` adds an operator.
using forward_ops =
    registry<abs_op, accuracy_op, add_op, any_op, clip_op, clip_by_norm_op, concat_op,
             cross_entropy_of_probabilities_op, div_op, drop_levels_op, dropout_op, edit_distance_op, mul_op, equal_op,
             fc_op, full_like_op, greater_equal_op, greater_op, gru_unit_op, identity_op, less_equal_op, less_op,
             lod_from_offsets_op, lod_reset_op, log_softmax_op, logical_and_op, logical_not_op, isfinite_op, isinf_op,
             isnan_op, logical_or_op, embedding_bag_op, lookup_table_op, lstm_unit_op, mse_op, matmul_nt_op,
             matmul_nn_op, matmul_tn_op, negate_op, pick_sequences_op, reduce_sum_op, relu_op, scale_op,
             sequence_concat_op, sequence_slice_op, sequence_pad_op, sequence_unpad_op, sequence_context_op,
             padded_sequence_context_op, sequence_erase_op, sequence_attention_op, sequence_mask_op, sequence_expand_op,
             sequence_pool_op, sequence_reverse_op, sequence_softmax_op, sigmoid_op, softmax_op, cross_entropy_op,
             split_op, sub_op, sum_op, tanh_op, maximum_op, minimum_op, exp_op, log_op, sqrt_op, rsqrt_op, square_op,
             pow_op, sin_op, cos_op, sign_op, floor_op, ceil_op, round_op, relu6_op, hardtanh_op, leaky_relu_op, elu_op,
             gelu_op, swish_op, softplus_op, softsign_op, hard_sigmoid_op, hard_swish_op, stanh_op, thresholded_relu_op,
             weighted_embedding_bag_op, where_op, huber_op, smooth_l1_op, binary_cross_entropy_with_logits_op,
             binary_cross_entropy_op, binary_cross_entropy_with_epsilon_op, hinge_op, kl_div_op, margin_ranking_op,
             cosine_embedding_op, cosine_similarity_op, crf_decoding_op, crf_matches_op, linear_chain_crf_op, argmax_op,
             argmin_op, argsort_op, matmul_op, cumsum_op, one_hot_op, reduce_mean_op, reduce_max_op, reduce_min_op,
             reduce_prod_op, reshape_op, squeeze_op, unsqueeze_op, shape_op, row_dot_op, stack_op, transpose_op,
             top_k_op, batch_norm_op, layer_norm_op, beam_search_decode_op, beam_search_op, interleave_rows_op,
             nonzero_rows_op, sequence_reshape_op, reorder_op, shrink_op, sequence_scatter_op, sequence_top_k_mean_op>;

/// Whether programs provide this operator for integers as well, such as the counter of a loop.
template <class Op>
inline constexpr bool takes_integers =
    registry<abs_op, add_op, argmax_op, argmin_op, argsort_op, concat_op, cumsum_op, where_op, drop_levels_op,
             edit_distance_op, mul_op, equal_op, full_like_op, greater_equal_op, greater_op, identity_op, isfinite_op,
             isinf_op, isnan_op, less_equal_op, less_op, lod_from_offsets_op, lod_reset_op, negate_op, one_hot_op,
             pick_sequences_op, reduce_sum_op, reduce_max_op, reduce_min_op, reduce_prod_op, reshape_op, squeeze_op,
             unsqueeze_op, shape_op, stack_op, transpose_op, nonzero_rows_op, scale_op, sign_op, floor_op, ceil_op,
             round_op, sequence_reverse_op, sequence_concat_op, sequence_slice_op, sequence_pad_op, sequence_unpad_op,
             sequence_context_op, sequence_erase_op, sequence_mask_op, split_op, square_op, sub_op, sum_op,
             sequence_reshape_op, reorder_op, shrink_op>::has<Op>;

/// Whether this operator exists for integers alone, such as tokens.
template <class Op>
inline constexpr bool takes_only_integers =
    registry<edit_distance_op, one_hot_op, sequence_erase_op, sequence_mask_op>::has<Op>;

/// Whether this operator uses only the levels of its input y, which may have any element type.
template <class Op>
inline constexpr bool takes_levels_of_y = registry<lod_reset_op, reorder_op, sequence_expand_op, shrink_op>::has<Op>;

/// Whether programs provide this operator for bool as well.
template <class Op>
inline constexpr bool takes_truth_values = registry<any_op, equal_op, logical_and_op, logical_not_op, logical_or_op,
                                                    unsqueeze_op, shape_op, where_op>::has<Op>;

}  // namespace rowan::inline v0
