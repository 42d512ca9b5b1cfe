// rowan/op/builtin_ops.hpp: builtin_ops, the registry of rowan's operators.
#pragma once

#include <rowan/op/detail/gradients_of.hpp>
#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/elementwise/clip.hpp>
#include <rowan/op/elementwise/compare.hpp>
#include <rowan/op/elementwise/div.hpp>
#include <rowan/op/elementwise/dropout.hpp>
#include <rowan/op/elementwise/exp.hpp>
#include <rowan/op/elementwise/full_like.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/identity.hpp>
#include <rowan/op/elementwise/maximum.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/pow.hpp>
#include <rowan/op/elementwise/relu.hpp>
#include <rowan/op/elementwise/rounding.hpp>
#include <rowan/op/elementwise/scale.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/elementwise/sin.hpp>
#include <rowan/op/elementwise/softplus.hpp>
#include <rowan/op/elementwise/sub.hpp>
#include <rowan/op/elementwise/sum.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/op/elementwise/where.hpp>
#include <rowan/op/forward_ops.hpp>
#include <rowan/op/loss/accuracy.hpp>
#include <rowan/op/loss/crf_decoding.hpp>
#include <rowan/op/loss/cross_entropy.hpp>
#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>
#include <rowan/op/loss/linear_chain_crf.hpp>
#include <rowan/op/loss/losses.hpp>
#include <rowan/op/loss/mse.hpp>
#include <rowan/op/matrix/cosine_similarity.hpp>
#include <rowan/op/matrix/dot_interaction.hpp>
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/matrix/row_dot.hpp>
#include <rowan/op/norm/batch_norm.hpp>
#include <rowan/op/norm/layer_norm.hpp>
#include <rowan/op/norm/log_softmax.hpp>
#include <rowan/op/norm/softmax.hpp>
#include <rowan/op/optimizer/clip_by_norm.hpp>
#include <rowan/op/optimizer/moving_average.hpp>
#include <rowan/op/optimizer/optimizers.hpp>
#include <rowan/op/recurrent/gru_unit.hpp>
#include <rowan/op/recurrent/lstm_unit.hpp>
#include <rowan/op/reduce/argmax.hpp>
#include <rowan/op/reduce/argsort.hpp>
#include <rowan/op/reduce/cumprod.hpp>
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
#include <rowan/op/table/embedding_bags.hpp>
#include <rowan/op/table/hash_rows.hpp>
#include <rowan/op/table/lookup_table.hpp>
#include <rowan/op/table/to_dense.hpp>
#include <rowan/op/table/weighted_embedding_bag.hpp>

namespace rowan::inline v0 {

namespace detail {

/// All operators of rowan but their gradients.
using listed_ops = typename joined<program_ops, training_ops>::type;

}  // namespace detail

/// All operators of rowan, with those of their gradients, except the templates on an element type (cast_op<To>,
/// full_op<T>); `builtin_ops::with<...>` adds them.
using builtin_ops = detail::ListWithGradients<detail::listed_ops>;

}  // namespace rowan::inline v0
