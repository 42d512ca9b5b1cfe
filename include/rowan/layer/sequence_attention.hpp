// rowan/layer/sequence_attention.hpp: layer::sequence_attention, the attention of ragged sequences without padding.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_attention.hpp>

namespace rowan::inline v0::layer {

/// Each row of query becomes a mean of the rows of value in the same sequence, with weights from the products of query
/// and key: softmax(scale · query · key). For trained projections, pass layer::fc of the inputs.
///     auto context = layer::sequence_attention(decoded, encoded, encoded, {.heads = 4});
/// shapes   query [n, heads * d], key [m, heads * d] with as many sequences, value [m, heads * e] -> [n, heads * e], with
///          the levels of query
/// errors   ShapeError if query or key has no levels or is not a matrix, widths or numbers of rows differ, or heads is
///          less than 1 or does not divide a width; ValueError if scale is not finite; when the net runs, ShapeError if
///          value has other sequences than key
/// cost     as rowan::sequence_attention, when the net runs
template <class T, class Device>
Var<T, Device> sequence_attention(Var<T, Device> const& query, Var<T, Device> const& key, Var<T, Device> const& value,
                                  SequenceAttentionOptions const& options = {}) {
    return apply<sequence_attention_op>(options, query, key, value);
}

}  // namespace rowan::inline v0::layer
