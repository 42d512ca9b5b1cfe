// rowan/op/forward_ops.hpp: forward_ops, the operators that programs in files may contain.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/builtin_ops.hpp>

namespace rowan::inline v0 {

/// All operators of rowan except those that only training needs and the templates on an element type (cast_op,
/// full_op), which programs provide for each of their element types. `forward_ops::with<my_op>` adds an operator.
using forward_ops =
    registry<abs_op, accuracy_op, add_op, any_op, clip_op, clip_by_norm_op, concat_op, cross_entropy_op, div_op,
             drop_levels_op, dropout_op, elementwise_mul_op, equal_op, fc_op, full_like_op, gru_unit_op, identity_op,
             less_equal_op, less_op, logical_and_op, logical_not_op, logical_or_op, embedding_bag_op, lookup_table_op,
             lstm_unit_op, mse_op, mul_nt_op, mul_op, mul_tn_op, negate_op, pick_sequences_op, reduce_sum_op, relu_op,
             scale_op, sequence_expand_op, sequence_pool_op, sigmoid_op, softmax_op, softmax_with_cross_entropy_op,
             split_op, sub_op, sum_op, tanh_op, exp_op, log_op, sqrt_op, rsqrt_op, square_op, pow_op, relu6_op,
             brelu_op, leaky_relu_op, elu_op, gelu_op, swish_op, softplus_op, softsign_op, hard_sigmoid_op,
             hard_swish_op, stanh_op, thresholded_relu_op, weighted_embedding_bag_op>;

/// Whether programs provide this operator for integers as well, such as the counter of a loop.
template <class Op>
inline constexpr bool takes_integers =
    registry<abs_op, add_op, concat_op, drop_levels_op, elementwise_mul_op, equal_op, full_like_op, identity_op,
             less_equal_op, less_op, negate_op, pick_sequences_op, reduce_sum_op, scale_op, split_op, square_op, sub_op,
             sum_op>::has<Op>;

/// Whether programs provide this operator for bool as well.
template <class Op>
inline constexpr bool takes_truth_values =
    registry<any_op, equal_op, logical_and_op, logical_not_op, logical_or_op>::has<Op>;

}  // namespace rowan::inline v0
