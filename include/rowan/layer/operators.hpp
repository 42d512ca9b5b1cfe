// rowan/layer/operators.hpp: the layers that are one operator: layer::cumsum(x, {.axis = 1}) adds a cumsum_op to a net.
#pragma once

#include <rowan/layer/operator_layer.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/matrix/declared.hpp>
#include <rowan/op/norm/declared.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/shape/declared.hpp>

#include <cstdint>

namespace rowan::inline v0::detail {

template <>
inline constexpr std::size_t number_options<scale_op> = 1;
template <>
inline constexpr std::size_t number_options<clip_op> = 2;

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

// What a layer computes, its options, shapes and errors are those of the function of its name in rowan, see there. The
// result has the levels of the first input whose rows it has.

// ---- Arithmetic and functions of single elements: two Vars are broadcast

inline constexpr operator_layer<add_op> add{};          ///< As rowan::add.
inline constexpr operator_layer<sub_op> sub{};          ///< As rowan::sub.
inline constexpr operator_layer<mul_op> mul{};          ///< As rowan::mul.
inline constexpr operator_layer<div_op> div{};          ///< As rowan::div.
inline constexpr operator_layer<maximum_op> maximum{};  ///< As rowan::maximum.
inline constexpr operator_layer<minimum_op> minimum{};  ///< As rowan::minimum.
inline constexpr list_layer<sum_op> sum{};              ///< As rowan::sum: layer::sum({x, y, z}).
inline constexpr operator_layer<scale_op> scale{};      ///< As rowan::scale: layer::scale(x, 2, 1).
inline constexpr operator_layer<clip_op> clip{};        ///< As rowan::clip: layer::clip(x, 0, 6).
/// As rowan::cast: layer::cast<float>(counts). The gradient is converted back; integers have no gradient.
template <class To>
inline constexpr operator_layer<cast_op<To>> cast{};
inline constexpr operator_layer<negate_op> negate{};                      ///< As rowan::negate.
inline constexpr operator_layer<sigmoid_op> sigmoid{};                    ///< As rowan::sigmoid.
inline constexpr operator_layer<tanh_op> tanh{};                          ///< As rowan::tanh.
inline constexpr operator_layer<relu_op> relu{};                          ///< As rowan::relu.
inline constexpr operator_layer<relu6_op> relu6{};                        ///< As rowan::relu6.
inline constexpr operator_layer<hardtanh_op> hardtanh{};                  ///< As rowan::hardtanh.
inline constexpr operator_layer<leaky_relu_op> leaky_relu{};              ///< As rowan::leaky_relu.
inline constexpr operator_layer<elu_op> elu{};                            ///< As rowan::elu.
inline constexpr operator_layer<gelu_op> gelu{};                          ///< As rowan::gelu.
inline constexpr operator_layer<swish_op> swish{};                        ///< As rowan::swish.
inline constexpr operator_layer<silu_op> silu{};                          ///< As rowan::silu.
inline constexpr operator_layer<softplus_op> softplus{};                  ///< As rowan::softplus.
inline constexpr operator_layer<mish_op> mish{};                          ///< As rowan::mish.
inline constexpr operator_layer<softsign_op> softsign{};                  ///< As rowan::softsign.
inline constexpr operator_layer<hard_sigmoid_op> hard_sigmoid{};          ///< As rowan::hard_sigmoid.
inline constexpr operator_layer<hard_swish_op> hard_swish{};              ///< As rowan::hard_swish.
inline constexpr operator_layer<stanh_op> stanh{};                        ///< As rowan::stanh.
inline constexpr operator_layer<thresholded_relu_op> thresholded_relu{};  ///< As rowan::thresholded_relu.
inline constexpr operator_layer<exp_op> exp{};                            ///< As rowan::exp.
inline constexpr operator_layer<log_op> log{};                            ///< As rowan::log.
inline constexpr operator_layer<sin_op> sin{};                            ///< As rowan::sin.
inline constexpr operator_layer<cos_op> cos{};                            ///< As rowan::cos.
inline constexpr operator_layer<sqrt_op> sqrt{};                          ///< As rowan::sqrt.
inline constexpr operator_layer<rsqrt_op> rsqrt{};                        ///< As rowan::rsqrt.
inline constexpr operator_layer<square_op> square{};                      ///< As rowan::square.
inline constexpr operator_layer<abs_op> abs{};                            ///< As rowan::abs.
inline constexpr operator_layer<sign_op> sign{};                          ///< As rowan::sign.
inline constexpr operator_layer<floor_op> floor{};                        ///< As rowan::floor.
inline constexpr operator_layer<ceil_op> ceil{};                          ///< As rowan::ceil.
inline constexpr operator_layer<round_op> round{};                        ///< As rowan::round.
inline constexpr operator_layer<pow_op> pow{};                            ///< As rowan::pow.
inline constexpr operator_layer<logical_not_op> logical_not{};            ///< As rowan::logical_not.
inline constexpr operator_layer<isfinite_op> isfinite{};                  ///< As rowan::isfinite.
inline constexpr operator_layer<isnan_op> isnan{};                        ///< As rowan::isnan.
inline constexpr operator_layer<isinf_op> isinf{};                        ///< As rowan::isinf.

// ---- Along axes, and other shapes

inline constexpr operator_layer<softmax_op> softmax{};          ///< As rowan::softmax.
inline constexpr operator_layer<log_softmax_op> log_softmax{};  ///< As rowan::log_softmax.
inline constexpr operator_layer<reduce_mean_op> mean{};         ///< The mean of all elements, as rowan::reduce_mean.
inline constexpr operator_layer<reduce_sum_op> reduce_sum{};    ///< As rowan::reduce_sum.
inline constexpr operator_layer<reduce_mean_op> reduce_mean{};  ///< As rowan::reduce_mean.
inline constexpr operator_layer<reduce_max_op> reduce_max{};    ///< As rowan::reduce_max.
inline constexpr operator_layer<reduce_min_op> reduce_min{};    ///< As rowan::reduce_min.
inline constexpr operator_layer<reduce_prod_op> reduce_prod{};  ///< As rowan::reduce_prod.
inline constexpr operator_layer<any_op> any{};                  ///< As rowan::any.
inline constexpr operator_layer<argmax_op> argmax{};            ///< As rowan::argmax.
inline constexpr operator_layer<argmin_op> argmin{};            ///< As rowan::argmin.
inline constexpr operator_layer<argsort_op> argsort{};          ///< As rowan::argsort.
/// The greatest elements of rows and their positions.
template <class T, class Device = Cpu>
struct TopK {
    Var<T, Device> value;               ///< [..., k], in descending order
    Var<std::int64_t, Device> indices;  ///< [..., k]
};
inline constexpr pair_layer<top_k_op, TopK> top_k{};        ///< As rowan::top_k: layer::top_k(x, {.k = 5}).
inline constexpr operator_layer<cumsum_op> cumsum{};        ///< As rowan::cumsum.
inline constexpr operator_layer<cumprod_op> cumprod{};      ///< As rowan::cumprod.
inline constexpr operator_layer<shape_op> shape{};          ///< As rowan::shape.
inline constexpr operator_layer<reshape_op> reshape{};      ///< As rowan::reshape.
inline constexpr operator_layer<squeeze_op> squeeze{};      ///< As rowan::squeeze.
inline constexpr operator_layer<unsqueeze_op> unsqueeze{};  ///< As rowan::unsqueeze.
inline constexpr list_layer<concat_op> concat{};            ///< As rowan::concat, along axis 0 also of batches.
inline constexpr operator_layer<transpose_op> transpose{};  ///< As rowan::transpose.

// ---- Rows and losses

inline constexpr operator_layer<row_dot_op> row_dot{};                             ///< As rowan::row_dot.
inline constexpr operator_layer<dot_interaction_op> dot_interaction{};             ///< As rowan::dot_interaction.
inline constexpr operator_layer<cosine_similarity_op> cosine_similarity{};         ///< As rowan::cosine_similarity.
inline constexpr operator_layer<mse_op, weighted_mse_op> mse{};                    ///< As rowan::mse.
inline constexpr operator_layer<huber_op, weighted_huber_op> huber{};              ///< As rowan::huber.
inline constexpr operator_layer<smooth_l1_op, weighted_smooth_l1_op> smooth_l1{};  ///< As rowan::smooth_l1.
inline constexpr operator_layer<binary_cross_entropy_with_logits_op, weighted_binary_cross_entropy_with_logits_op>
    binary_cross_entropy_with_logits{};  ///< As rowan::binary_cross_entropy_with_logits.
inline constexpr operator_layer<binary_cross_entropy_op, weighted_binary_cross_entropy_op>
    binary_cross_entropy{};  ///< As rowan::binary_cross_entropy.
inline constexpr operator_layer<binary_cross_entropy_with_epsilon_op, weighted_binary_cross_entropy_with_epsilon_op>
    binary_cross_entropy_with_epsilon{};                               ///< As rowan::binary_cross_entropy_with_epsilon.
inline constexpr operator_layer<hinge_op, weighted_hinge_op> hinge{};  ///< As rowan::hinge.
inline constexpr operator_layer<kl_div_op, weighted_kl_div_op> kl_div{};  ///< As rowan::kl_div.
inline constexpr operator_layer<accuracy_op> accuracy{};                  ///< As rowan::accuracy.
inline constexpr operator_layer<linear_chain_crf_op> linear_chain_crf{};  ///< As rowan::linear_chain_crf.
/// The best tags, or, with labels, whether they are these: as rowan::crf_decoding.
inline constexpr operator_layer<crf_decoding_op, crf_matches_op> crf_decoding{};

// ---- Sequences

inline constexpr operator_layer<drop_levels_op> drop_levels{};                ///< As rowan::drop_levels.
inline constexpr operator_layer<lod_reset_op> lod_reset{};                    ///< As rowan::lod_reset.
inline constexpr operator_layer<lod_from_offsets_op> lod_from_offsets{};      ///< As rowan::lod_from_offsets.
inline constexpr operator_layer<pick_sequences_op> pick_sequences{};          ///< As rowan::pick_sequences.
inline constexpr operator_layer<reorder_op> reorder{};                        ///< As rowan::reorder.
inline constexpr operator_layer<shrink_op> shrink{};                          ///< As rowan::shrink.
inline constexpr operator_layer<edit_distance_op> edit_distance{};            ///< As rowan::edit_distance.
inline constexpr operator_layer<sequence_attention_op> sequence_attention{};  ///< As rowan::sequence_attention.
inline constexpr list_layer<sequence_concat_op> sequence_concat{};            ///< As rowan::sequence_concat.
/// As rowan::sequence_context, with rows of padding as the second Var, or without.
inline constexpr operator_layer<sequence_context_op, padded_sequence_context_op> sequence_context{};
inline constexpr operator_layer<sequence_erase_op> sequence_erase{};    ///< As rowan::sequence_erase.
inline constexpr operator_layer<sequence_expand_op> sequence_expand{};  ///< As rowan::sequence_expand.
inline constexpr operator_layer<sequence_mask_op> sequence_mask{};      ///< As rowan::sequence_mask.
/// Padded sequences and their lengths.
template <class T, class Device = Cpu>
struct Padded {
    Var<T, Device> value;              ///< [sequences, padded length, ...]
    Var<std::int64_t, Device> length;  ///< [sequences]
};
/// As sequence_pad_op: layer::sequence_pad(x, {.length = 20}) is undone by layer::sequence_unpad(value, length).
inline constexpr pair_layer<sequence_pad_op, Padded> sequence_pad{};
inline constexpr operator_layer<sequence_pool_op> sequence_pool{};              ///< As rowan::sequence_pool.
inline constexpr operator_layer<sequence_reshape_op> sequence_reshape{};        ///< As rowan::sequence_reshape.
inline constexpr operator_layer<sequence_reverse_op> sequence_reverse{};        ///< As rowan::sequence_reverse.
inline constexpr operator_layer<sequence_scatter_op> sequence_scatter{};        ///< As rowan::sequence_scatter.
inline constexpr operator_layer<sequence_slice_op> sequence_slice{};            ///< As rowan::sequence_slice.
inline constexpr operator_layer<sequence_softmax_op> sequence_softmax{};        ///< As rowan::sequence_softmax.
inline constexpr operator_layer<sequence_top_k_mean_op> sequence_top_k_mean{};  ///< As rowan::sequence_top_k_mean.
inline constexpr operator_layer<sequence_unpad_op> sequence_unpad{};            ///< As rowan::sequence_unpad.

/// sequence_pool with one kind of pooling.
template <Pooling pool>
struct pooling_layer {
    template <class T, class Device>
    Var<T, Device> operator()(Var<T, Device> const& x) const {
        return sequence_pool(x, {pool});
    }
};
inline constexpr pooling_layer<Pooling::first> sequence_first{};  ///< First rows of sequences; zeros for empty ones.
inline constexpr pooling_layer<Pooling::last> sequence_last{};    ///< Last rows of sequences; zeros for empty ones.

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

ROWAN_TEMPLATE(Attributes owned(LossOptions))
ROWAN_TEMPLATE(Attributes owned(CrossEntropyOptions))

}  // namespace rowan::inline v0::detail

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/builtin_ops.hpp>
#include <rowan/op/elementwise/cast.hpp>
#endif
