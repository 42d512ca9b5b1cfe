// rowan/graph/detail/compiled_kernels.hpp: the operators and element types of the compiled library.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/op/slots.hpp>

#include <cstdint>
#include <type_traits>

namespace rowan::inline v0 {

struct accuracy_op;
struct adadelta_op;
struct adagrad_op;
struct adam_op;
struct adamax_op;
struct add_op;
struct any_op;
template <bool greatest>
struct arg_extreme_op;
struct argsort_op;
struct batch_norm_op;
struct matmul_op;
struct beam_search_decode_op;
struct beam_search_op;
template <class Formula>
struct broadcast_op;
template <class To>
struct cast_op;
struct clip_by_global_norm_op;
struct clip_by_norm_op;
struct clip_op;
struct concat_op;
struct cosine_similarity_op;
struct crf_decoding_op;
struct crf_matches_op;
struct cross_entropy_of_probabilities_op;
struct cumsum_op;
struct div_op;
struct drop_levels_op;
struct dropout_op;
struct edit_distance_op;
struct mul_op;
struct embedding_bag_op;
struct equal_op;
struct expand_rows_op;
struct fc_op;
struct ftrl_op;
struct full_like_op;
template <class T>
struct full_op;
struct greater_equal_op;
struct greater_op;
struct gru_unit_op;
struct identity_op;
struct isfinite_op;
struct isinf_op;
struct isnan_op;
struct lamb_op;
struct layer_norm_op;
struct less_equal_op;
struct less_op;
struct linear_chain_crf_op;
struct lod_from_offsets_op;
struct lod_reset_op;
struct log_softmax_op;
struct logical_and_op;
struct logical_not_op;
struct logical_or_op;
struct lookup_table_op;
struct lstm_unit_op;
template <bool transpose_x, bool transpose_y>
struct matrix_product_op;
struct interleave_rows_op;
struct momentum_op;
struct moving_average_op;
struct mse_op;
struct negate_op;
struct one_hot_op;
struct padded_sequence_context_op;
struct pick_sequences_op;
template <class Formula>
struct pointwise_loss_op;
template <class Rule>
struct reduce_op;
struct reorder_op;
struct reshape_op;
struct rmsprop_op;
struct row_dot_op;
struct nonzero_rows_op;
struct rowwise_adagrad_op;
struct scale_op;
struct sequence_attention_op;
struct sequence_concat_op;
struct sequence_context_op;
struct sequence_erase_op;
struct sequence_expand_op;
struct sequence_mask_op;
struct sequence_pad_op;
struct sequence_pool_op;
struct sequence_reshape_op;
struct sequence_reverse_op;
struct sequence_scatter_op;
struct sequence_slice_op;
struct sequence_softmax_op;
struct sequence_top_k_mean_op;
struct sequence_unpad_op;
struct sgd_op;
struct shape_op;
struct shrink_op;
struct softmax_op;
struct cross_entropy_op;
struct split_op;
struct squeeze_op;
struct stack_op;
struct sub_op;
struct sum_op;
struct top_k_op;
struct transpose_op;
template <class Formula>
struct unary_op;
struct unsqueeze_op;
struct weighted_embedding_bag_op;
struct where_op;

namespace detail {

template <class... T>
struct type_list {};

struct abs_formula;
template <bool greatest>
struct axis_extremes;
struct axis_means;
struct axis_products;
struct axis_totals;
struct binary_cross_entropy_formula;
struct hardtanh_formula;
struct ceil_formula;
struct cos_formula;
struct cosine_embedding_formula;
struct elu_formula;
struct exp_formula;
struct floor_formula;
struct gelu_formula;
struct hard_sigmoid_formula;
struct hard_swish_formula;
struct hinge_formula;
struct huber_formula;
struct kl_div_formula;
struct leaky_relu_formula;
struct log_formula;
struct binary_cross_entropy_with_epsilon_formula;
struct margin_ranking_formula;
struct maximum_formula;
struct minimum_formula;
struct pow_formula;
struct relu6_formula;
struct relu_formula;
struct round_formula;
struct rsqrt_formula;
struct binary_cross_entropy_with_logits_formula;
struct sigmoid_formula;
struct sign_formula;
struct sin_formula;
struct smooth_l1_formula;
struct softplus_formula;
struct softsign_formula;
struct sqrt_formula;
struct square_formula;
struct stanh_formula;
struct swish_formula;
struct tanh_formula;
struct thresholded_relu_formula;

template <class T, class List>
inline constexpr bool is_in = false;
template <class T, class... U>
inline constexpr bool is_in<T, type_list<U...>> = (std::is_same_v<T, U> || ...);

/// Operators compiled for float and double; ids, labels and seeds are int64 or int32.
using compiled_ops = type_list<
    accuracy_op, adadelta_op, adagrad_op, adam_op, adamax_op, add_op, cast_op<double>, cast_op<float>,
    cast_op<std::int64_t>, clip_by_global_norm_op, clip_by_norm_op, clip_op, concat_op,
    cross_entropy_of_probabilities_op, div_op, drop_levels_op, dropout_op, mul_op, equal_op, expand_rows_op, fc_op,
    full_like_op, ftrl_op, greater_equal_op, greater_op, gru_unit_op, identity_op, isfinite_op, isinf_op, isnan_op,
    lamb_op, less_equal_op, less_op, embedding_bag_op, lookup_table_op, lod_from_offsets_op, lod_reset_op,
    log_softmax_op, lstm_unit_op, matrix_product_op<false, false>, matrix_product_op<false, true>,
    matrix_product_op<true, false>, momentum_op, mse_op, negate_op, pick_sequences_op, reduce_op<axis_totals>,
    unary_op<relu_formula>, rmsprop_op, rowwise_adagrad_op, scale_op, sequence_attention_op, sequence_concat_op,
    sequence_context_op, padded_sequence_context_op, sequence_slice_op, sequence_pad_op, sequence_unpad_op,
    sequence_expand_op, sequence_pool_op, sgd_op, sequence_reverse_op, sequence_softmax_op, unary_op<sigmoid_formula>,
    softmax_op, cross_entropy_op, split_op, sub_op, sum_op, broadcast_op<maximum_formula>,
    broadcast_op<minimum_formula>, unary_op<exp_formula>, unary_op<log_formula>, unary_op<sqrt_formula>,
    unary_op<rsqrt_formula>, unary_op<square_formula>, unary_op<abs_formula>, unary_op<pow_formula>,
    unary_op<sin_formula>, unary_op<cos_formula>, unary_op<sign_formula>, unary_op<floor_formula>,
    unary_op<ceil_formula>, unary_op<round_formula>, unary_op<relu6_formula>, unary_op<hardtanh_formula>,
    unary_op<leaky_relu_formula>, unary_op<elu_formula>, unary_op<gelu_formula>, unary_op<swish_formula>,
    unary_op<softplus_formula>, unary_op<softsign_formula>, unary_op<hard_sigmoid_formula>,
    unary_op<hard_swish_formula>, unary_op<stanh_formula>, unary_op<thresholded_relu_formula>, unary_op<tanh_formula>,
    crf_decoding_op, crf_matches_op, linear_chain_crf_op, pointwise_loss_op<cosine_embedding_formula>,
    cosine_similarity_op, pointwise_loss_op<huber_formula>, pointwise_loss_op<smooth_l1_formula>,
    pointwise_loss_op<binary_cross_entropy_with_logits_formula>, pointwise_loss_op<binary_cross_entropy_formula>,
    pointwise_loss_op<binary_cross_entropy_with_epsilon_formula>, pointwise_loss_op<hinge_formula>,
    pointwise_loss_op<kl_div_formula>, pointwise_loss_op<margin_ranking_formula>, weighted_embedding_bag_op, where_op,
    arg_extreme_op<true>, arg_extreme_op<false>, argsort_op, matmul_op, cumsum_op, reduce_op<axis_means>,
    reduce_op<axis_extremes<true>>, reduce_op<axis_extremes<false>>, reduce_op<axis_products>, reshape_op, squeeze_op,
    unsqueeze_op, shape_op, row_dot_op, stack_op, transpose_op, top_k_op, batch_norm_op, layer_norm_op,
    moving_average_op, beam_search_decode_op, beam_search_op, interleave_rows_op, nonzero_rows_op, sequence_reshape_op,
    reorder_op, shrink_op, sequence_scatter_op, sequence_top_k_mean_op>;
/// Operators compiled for int64 and int32, such as for loop counters.
using compiled_integer_ops =
    type_list<add_op, cast_op<double>, cast_op<float>, cast_op<std::int64_t>, concat_op, drop_levels_op,
              edit_distance_op, mul_op, equal_op, full_like_op, greater_equal_op, greater_op, identity_op, isfinite_op,
              isinf_op, isnan_op, less_equal_op, less_op, negate_op, pick_sequences_op, reduce_op<axis_totals>,
              scale_op, sequence_reverse_op, sequence_concat_op, sequence_slice_op, sequence_pad_op, sequence_unpad_op,
              lod_from_offsets_op, lod_reset_op, sequence_context_op, sequence_erase_op, sequence_mask_op, split_op,
              sub_op, sum_op, where_op, unary_op<abs_formula>, unary_op<square_formula>, unary_op<sign_formula>,
              unary_op<floor_formula>, unary_op<ceil_formula>, unary_op<round_formula>, arg_extreme_op<true>,
              arg_extreme_op<false>, argsort_op, cumsum_op, one_hot_op, reduce_op<axis_extremes<true>>,
              reduce_op<axis_extremes<false>>, reduce_op<axis_products>, reshape_op, squeeze_op, unsqueeze_op, shape_op,
              stack_op, transpose_op, nonzero_rows_op, sequence_reshape_op, reorder_op, shrink_op>;
/// Operators compiled for bool.
using compiled_truth_ops = type_list<any_op, cast_op<double>, cast_op<float>, cast_op<std::int64_t>, equal_op,
                                     logical_and_op, logical_not_op, logical_or_op, unsqueeze_op, shape_op, where_op>;
/// Operators without inputs.
using compiled_sources = type_list<full_op<double>, full_op<float>, full_op<std::int64_t>>;

/// Whether the slot holds integers: ids, labels, seeds, offsets or lengths.
template <class Slot>
inline constexpr bool is_index_slot =
    is_in<Slot, type_list<slot::ids, slot::label, slot::seed, slot::offset, slot::length>>;

/// Whether the slot holds int64 alone.
template <class Slot>
inline constexpr bool is_int64_slot = is_in<Slot, type_list<slot::seed, slot::index>>;

/// The element types of an operator's inputs, in the order of its slots: I for index slots, bool for conditions, E for
/// the others.
template <class Slots, class E, class I>
struct input_types;
template <class... Slot, class E, class I>
struct input_types<slots<Slot...>, E, I> {
    using type = type_list<std::conditional_t<is_int64_slot<Slot>, std::int64_t,
                                              std::conditional_t<std::is_same_v<Slot, slot::condition>, bool,
                                                                 std::conditional_t<is_index_slot<Slot>, I, E>>>...>;
};

/// Whether all inputs may have the same element type: there is no index slot, or labels may be probabilities.
template <class Op, class Slots = typename Op::inputs>
inline constexpr bool has_one_type = true;
template <class Op, class... Slot>
inline constexpr bool has_one_type<Op, slots<Slot...>> =
    !(is_index_slot<Slot> || ...) || is_in<Op, type_list<cross_entropy_of_probabilities_op, cross_entropy_op>>;

/// Whether T... are the types of the operator's inputs with elements of E. A variadic operator has one type for all.
template <class Op, class E, class... T>
inline constexpr bool has_elements_of =
    (std::is_same_v<type_list<T...>, type_list<E>> && has_one_type<Op>) ||
    (std::is_same_v<type_list<T...>, typename input_types<typename Op::inputs, E, E>::type> && has_one_type<Op>) ||
    std::is_same_v<type_list<T...>, typename input_types<typename Op::inputs, E, std::int64_t>::type> ||
    std::is_same_v<type_list<T...>, typename input_types<typename Op::inputs, E, std::int32_t>::type>;

/// Whether the compiled library contains kernel_of<Op, Cpu, T...>.
template <class Op, class... T>
inline constexpr bool has_compiled_kernel = [] {
    if constexpr (sizeof...(T) == 0) {
        return is_in<Op, compiled_sources>;
    } else if constexpr (is_in<Op, compiled_ops> &&
                         (has_elements_of<Op, float, T...> || has_elements_of<Op, double, T...>)) {
        return true;
    } else if constexpr (is_in<Op, compiled_integer_ops> &&
                         (has_elements_of<Op, std::int64_t, T...> || has_elements_of<Op, std::int32_t, T...>)) {
        return true;
    } else if constexpr (is_in<Op, compiled_truth_ops>) {
        return has_elements_of<Op, bool, T...>;
    } else {
        return false;
    }
}();

}  // namespace detail

}  // namespace rowan::inline v0
