// rowan/op/forward_ops.hpp: forward_ops, the operators that programs in files may contain, by their declarations.
#pragma once

#include <rowan/op/detail/input_types.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/matrix/declared.hpp>
#include <rowan/op/norm/declared.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/op/recurrent/declared.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/registry.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/op/table/declared.hpp>

namespace rowan::inline v0 {

namespace detail {

template <class... Op>
registry<Op...> registry_of(type_list<Op...>);

/// The operators of rowan that programs in files may contain.
using program_ops = type_list<
    abs_op, accuracy_op, add_op, any_op, argmax_op, argmin_op, argsort_op, batch_norm_op, beam_search_decode_op,
    beam_search_op, binary_cross_entropy_op, binary_cross_entropy_with_epsilon_op, binary_cross_entropy_with_logits_op,
    ceil_op, clip_by_norm_op, clip_op, concat_op, cos_op, cosine_embedding_op, cosine_similarity_op, crf_decoding_op,
    crf_matches_op, cross_entropy_of_probabilities_op, cross_entropy_op, cumprod_op, cumsum_op, div_op,
    dot_interaction_op, drop_levels_op, dropout_op, edit_distance_op, elu_op, embedding_bag_op, embedding_bags_op,
    equal_op, exp_op, fc_op, floor_op, full_like_op, gelu_op, greater_equal_op, greater_op, gru_unit_op,
    hard_sigmoid_op, hard_swish_op, hardtanh_op, hash_rows_op, hinge_op, huber_op, identity_op, interleave_rows_op,
    isfinite_op, isinf_op, isnan_op, kl_div_op, layer_norm_op, leaky_relu_op, less_equal_op, less_op,
    linear_chain_crf_op, lod_from_offsets_op, lod_reset_op, log_op, log_softmax_op, logical_and_op, logical_not_op,
    logical_or_op, lookup_table_op, lstm_unit_op, margin_ranking_op, matmul_op, maximum_op, minimum_op, mish_op, mse_op,
    mul_op, negate_op, nonzero_rows_op, one_hot_op, padded_sequence_context_op, pick_sequences_op, pow_op,
    reduce_max_op, reduce_mean_op, reduce_min_op, reduce_prod_op, reduce_sum_op, relu6_op, relu_op, reorder_op,
    reshape_op, round_op, row_dot_op, rsqrt_op, scale_op, sequence_attention_op, sequence_concat_op,
    sequence_context_op, sequence_erase_op, sequence_expand_op, sequence_mask_op, sequence_pad_op, sequence_pool_op,
    sequence_reshape_op, sequence_reverse_op, sequence_scatter_op, sequence_slice_op, sequence_softmax_op,
    sequence_top_k_mean_op, sequence_unpad_op, shape_op, shrink_op, sigmoid_op, sign_op, silu_op, sin_op, smooth_l1_op,
    softmax_op, softplus_op, softsign_op, split_op, sqrt_op, square_op, squeeze_op, stack_op, stanh_op, sub_op, sum_op,
    swish_op, tanh_op, thresholded_relu_op, top_k_op, transpose_op, unsqueeze_op, weighted_binary_cross_entropy_op,
    weighted_binary_cross_entropy_with_epsilon_op, weighted_binary_cross_entropy_with_logits_op,
    weighted_cosine_embedding_op, weighted_embedding_bag_op, weighted_embedding_bags_op, weighted_hinge_op,
    weighted_huber_op, weighted_kl_div_op, weighted_margin_ranking_op, weighted_mse_op, weighted_smooth_l1_op,
    where_op>;

/// Those that only training needs.
using training_ops =
    type_list<adadelta_op, adagrad_op, adam_op, adamax_op, clip_by_global_norm_op, expand_rows_op, ftrl_op, lamb_op,
              momentum_op, moving_average_op, rmsprop_op, rowwise_adagrad_op, sgd_op, to_dense_op>;

}  // namespace detail

/// The operators that programs in files may contain: not those that only training needs, and not the templates on an
/// element type, which programs provide for each of their element types. `forward_ops::with<my_op>` adds an operator.
using forward_ops = decltype(detail::registry_of(detail::program_ops{}));

/// For a net that is read from a file and then trained: a list of operators with their gradients. A header-only program
/// has the kernels of a plain list without them. With the compiled library, which has all, this is the list itself.
///     auto const model = load_model<with_gradients<forward_ops>>("model.rowan");
#ifdef ROWAN_COMPILED
template <class Ops>
using with_gradients = Ops;
#else
template <class Ops>
struct with_gradients : Ops {
    /// The list with operators appended.
    template <class... More>
    using with = with_gradients<typename Ops::template with<More...>>;
};
#endif

namespace detail {

/// Whether programs of these operators are read with the rules of gradients.
#ifdef ROWAN_COMPILED
template <class Ops>
inline constexpr bool reads_gradients = true;
#else
template <class Ops>
inline constexpr bool reads_gradients = false;
template <class Ops>
inline constexpr bool reads_gradients<with_gradients<Ops>> = true;
#endif

}  // namespace detail

}  // namespace rowan::inline v0
