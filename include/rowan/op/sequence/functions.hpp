// rowan/op/sequence/functions.hpp: functions of sequences of rows.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/sequence/declared.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

/// One step of a beam search. A source has hypotheses: prefixes of tokens, with scores. Every hypothesis that does not
/// end with options.end_id is extended by every token; its score plus that of the token is the score of the extension.
/// A hypothesis that has ended remains as it is. The options.beam_size candidates of each source with the highest
/// scores are returned in decreasing order; of equal ones, that of the earlier hypothesis and of the smaller token is
/// first, and NaN is last. Paddle's beam_search, with the prefixes in place of its parents' links.
///
///     prefixes [0 5] [0 7]  |  [0 3]    scores of tokens  [3, tokens]    two sources, with 2 and 1 hypotheses
///     ->       [0 7 2] [0 5 1]  |  [0 3 6] [0 3 3]          parents 1 0 2 2
///
/// shapes   prefixes [n] with one level: the tokens of each of m hypotheses; log_probability [m, tokens] with one
///          level: the hypotheses of each source; scores [m] -> prefixes, the last token and the score of each hypothesis that
///          remains, the latter two with the level of log_probability, and the row of log_probability that it extends
/// errors   ShapeError if shapes or levels do not match; ValueError if options.beam_size is less than 1
/// cost     O(m · tokens), O(beam_size) for each candidate that enters a beam, and one copy of the prefixes, on one
///          thread of the host; values in device memory are copied, which synchronizes
template <class T, id_type I, device D>
std::tuple<LoDTensor<I, D>, LoDTensor<I, D>, LoDTensor<T, D>, Tensor<std::int64_t, D>> beam_search(
    D const& exec, LoDTensor<I, D> const& prefixes, LoDTensor<T, D> const& log_probability, Tensor<T, D> const& scores,
    BeamSearchOptions const& options = {}) {
    return detail::run_of<beam_search_op,
                          std::tuple<LoDTensor<I, D>, LoDTensor<I, D>, LoDTensor<T, D>, Tensor<std::int64_t, D>>>(
        exec, prefixes, log_probability, scores, options);
}

/// The hypotheses of each source in the order of decreasing scores, with two levels: sources, and hypotheses.
/// Paddle's beam_search_decode.
///     prefixes [0 5 1] [0 7 1] | [0 3 1], scores -2 -1 | -3    ->    [0 7 1] [0 5 1] | [0 3 1], scores -1 -2 | -3
/// shapes   prefixes [n] with one level, scores [m] with one level, as beam_search returns them -> [n] with two levels,
///          [m] with the level of scores
/// errors   ShapeError if shapes or levels do not match
/// cost     one read and one write of all tokens and scores; from device memory, scores are copied to the host
template <class T, id_type I, device D>
std::tuple<LoDTensor<I, D>, LoDTensor<T, D>> beam_search_decode(D const& exec, LoDTensor<I, D> const& prefixes,
                                                                LoDTensor<T, D> const& scores) {
    return detail::run_of<beam_search_decode_op, std::tuple<LoDTensor<I, D>, LoDTensor<T, D>>>(exec, prefixes, scores);
}

/// The least number of insertions, deletions and substitutions of tokens that turn each sequence of x, of the last
/// level, into that of y: the Levenshtein distance. Divided by the number of tokens in y, it is the word error rate of
/// recognized speech; then two empty sequences have 0, and a sequence whose y is empty has infinity, as in TensorFlow.
///     x [k i t t e n] []   y [s i t t i n g] [a]   ->   [[3] [1]]
/// sequence_erase takes out tokens that do not count.
/// shapes   x and y [n] or [n, 1] …, their rows hold one integer -> [sequences, 1] with the upper levels of x
/// errors   ShapeError if x or y has no levels, its rows have more or less than one element, or y has other upper
///          levels or another number of sequences
/// cost     O(length in x · length in y) for each pair, 64 tokens of y at a time, and 1/4 byte per token of y; parallel
///          over pairs
template <id_type I, device D>
LoDTensor<double, D> edit_distance(D const& exec, LoDTensor<I, D> const& x, LoDTensor<I, D> const& y,
                                   EditDistanceOptions const& options = {}) {
    return detail::run_of<edit_distance_op, LoDTensor<double, D>>(exec, x, y, options);
}
template <id_type I, class Device>
LoDTensor<double, Device> edit_distance(LoDTensor<I, Device> const& x, LoDTensor<I, Device> const& y,
                                        EditDistanceOptions const& options = {}) {
    return edit_distance(x.device(), x, y, options);
}

/// Repeats a row for each row of `like`: the adjoint of reduce_sum along axis 0.
/// shapes   row [...], like [n, ...] -> the shape of like
/// errors   ShapeError if like has rank 0 or row does not have the shape of its rows
/// cost     one write of the result
template <class T, device D>
Tensor<T, D> expand_rows(D const& exec, Tensor<T, D> const& row, Tensor<T, D> const& like) {
    return detail::run_of<expand_rows_op, Tensor<T, D>>(exec, row, like);
}

/// The positions of the elements that equal `value`, which is 0 or 1, in ascending order.
/// shapes   ids [n] -> [count]
/// errors   IndexError if an element is neither 0 nor 1; ValueError if value is neither; ShapeError if ids are a tensor
///          whose rank is not 1
/// cost     one read of ids on the host; from device memory they are copied, which synchronizes
template <device D>
Tensor<std::int64_t, D> nonzero_rows(D const& exec, std::type_identity_t<Ids<D>> ids, std::int64_t value) {
    return detail::run_of<nonzero_rows_op, Tensor<std::int64_t, D>>(exec, ids, value);
}

/// Row i is the next row of x if ids[i] is 1, or of y if it is 0. Paddle's merge_lod_tensor, for rows.
///
///     ids {1, 0, 0, 1}    x  a b    y  c d    ->    a c d b
///
/// shapes   ids [n], x [ones, ...], y [zeros, ...] -> [n, ...]
/// errors   IndexError if an id is neither 0 nor 1; ShapeError if ids are a tensor whose rank is not 1, x or y has
///          another number of rows, or trailing dims differ
/// cost     one read and one write of every row; ids in device memory are copied to the host, which synchronizes
template <class T, device D>
Tensor<T, D> interleave_rows(D const& exec, std::type_identity_t<Ids<D>> ids, Tensor<T, D> const& x,
                             Tensor<T, D> const& y) {
    return detail::run_of<interleave_rows_op, Tensor<T, D>>(exec, ids, x, y);
}

/// The adjoint of interleave_rows: divides out_grad into the gradients of x and y. Paddle's split_lod_tensor, for rows.
/// shapes   ids [n], out_grad [n, ...] -> [ones, ...] and [zeros, ...]
/// errors   as interleave_rows
/// cost     as interleave_rows
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> interleave_rows_grad(D const& exec, std::type_identity_t<Ids<D>> ids,
                                                            Tensor<T, D> const& out_grad) {
    return detail::run_of<detail::backward_of<interleave_rows_op>, std::tuple<Tensor<T, D>, Tensor<T, D>>>(exec, ids,
                                                                                                           out_grad);
}

/// Scaled dot-product attention in each sequence of the last level. For each row q of query and each head:
///     the sum of w_j · value_j over the keys j of its sequence, with w = softmax_j(scale · q · key_j)
/// A row whose sequence has no keys becomes zeros. A query's result and gradient depend only on the keys that it sees, and a
/// key's gradients only on the queries that see it, also where others are NaN or infinite. Vaswani et al.: Attention is
/// all you need, 2017, section 3.2; PyTorch's
/// scaled_dot_product_attention, without padding.
///
///     query [a b] [c]   key [x y z] [u]      ->      [a over x y z   b over x y z]   [c over u]
///
/// Scores and results add their terms in order with fused multiply-add, the softmax as rowan::softmax.
/// shapes   query [n, heads * d], key [m, heads * d] with as many sequences, value [m, heads * e] -> [n, heads * e] with
///          the levels of query
/// errors   ShapeError if query or key has no levels or is not a matrix, their widths or numbers of sequences differ,
///          value has another number of rows, or heads is less than 1 or does not divide a width; ValueError if scale is
///          not finite
/// cost     4 · d operations for each pair of a query and a key of its sequence and each head; temporary memory for 64
///          rows of the longest sequence per thread, on a device for all pairs, and for 16-bit types of all arguments in
///          the type of sums; the same bits for any number of threads
template <class T, device D>
LoDTensor<T, D> sequence_attention(D const& exec, LoDTensor<T, D> const& query, LoDTensor<T, D> const& key,
                                   std::type_identity_t<Tensor<T, D>> const& value,
                                   SequenceAttentionOptions const& options = {}) {
    return detail::run_of<sequence_attention_op, LoDTensor<T, D>>(exec, query, key, value, options);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_attention(LoDTensor<T, Device> const& query, LoDTensor<T, Device> const& key,
                                        std::type_identity_t<Tensor<T, Device>> const& value,
                                        SequenceAttentionOptions const& options = {}) {
    return sequence_attention(query.device(), query, key, value, options);
}

/// The gradients of query, key and value from that of the result of sequence_attention. The weights are computed again.
/// shapes   out_grad [n, heads * e], the others as for sequence_attention -> the shapes of query, key and value
/// errors   as sequence_attention, and ShapeError if out_grad has another shape
/// cost     10 · d operations for each pair of a query and a key of its sequence and each head; temporary memory twice that
///          of sequence_attention
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> sequence_attention_grad(
    D const& exec, LoDTensor<T, D> const& query, LoDTensor<T, D> const& key,
    std::type_identity_t<Tensor<T, D>> const& value, std::type_identity_t<Tensor<T, D>> const& out_grad,
    SequenceAttentionOptions const& options = {}) {
    return detail::run_of<detail::backward_of<sequence_attention_op>,
                          std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>>>(exec, query, key, value, out_grad,
                                                                                options);
}
template <class T, class Device>
auto sequence_attention_grad(LoDTensor<T, Device> const& query, LoDTensor<T, Device> const& key,
                             std::type_identity_t<Tensor<T, Device>> const& value,
                             std::type_identity_t<Tensor<T, Device>> const& out_grad,
                             SequenceAttentionOptions const& options = {}) {
    return sequence_attention_grad(query.device(), query, key, value, out_grad, options);
}

/// The windows of rows around each row: row i of the result is rows i + start, …, i + start + length - 1 of the sequence
/// of the last level that row i belongs to. Rows outside of the sequence are pad_value, or the rows of `padding`: first
/// those before a sequence, then those after it. Paddle's sequence_conv without its product, and sequence_enumerate.
///
///     [a b c]  [d]     start -1, length 3   ->   [0 a b] [a b c] [b c 0]   [0 d 0]
///
/// shapes   x [n] or [n, width] -> [n, length] or [n, length * width] with the levels of x; padding [before + after,
///          width] or [before + after], where before is max(0, -start) and after is max(0, start + length - 1)
/// errors   ShapeError if x has no levels or a rank above 2, padding has another shape, length is not in [1, 2^31) or
///          start not in (-2^31, 2^31), or the result is too large; ValueError if the element type is an integer and
///          cannot represent pad_value
/// cost     one write of the result, and 16 bytes per row
template <class T, device D>
LoDTensor<T, D> sequence_context(D const& exec, LoDTensor<T, D> const& x, SequenceContextOptions const& window) {
    return detail::run_of<sequence_context_op, LoDTensor<T, D>>(exec, x, window);
}
template <class T, device D>
LoDTensor<T, D> sequence_context(D const& exec, LoDTensor<T, D> const& x, Tensor<T, D> const& padding,
                                 SequenceContextOptions const& window) {
    return detail::run_of<sequence_context_op, LoDTensor<T, D>>(exec, x, padding, window);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_context(LoDTensor<T, Device> const& x, SequenceContextOptions const& window) {
    return sequence_context(x.device(), x, window);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_context(LoDTensor<T, Device> const& x, Tensor<T, Device> const& padding,
                                      SequenceContextOptions const& window) {
    return sequence_context(x.device(), x, padding, window);
}

/// The gradient of x from that of the result of sequence_context: for each row the sum over the windows that hold it, in
/// the order of its places in them.
/// shapes   x [n, ...], out_grad [n, length * width] -> the shape and levels of x
/// errors   as sequence_context, and ShapeError if out_grad has another shape
/// cost     one read of out_grad and one write of the result
template <class T, device D>
LoDTensor<T, D> sequence_context_grad(D const& exec, std::type_identity_t<Tensor<T, D>> const& out_grad,
                                      LoDTensor<T, D> const& x, SequenceContextOptions const& window) {
    return detail::run_of<detail::backward_of<sequence_context_op>, LoDTensor<T, D>>(exec, out_grad, x, window);
}

/// The gradient of the padding: for each of its rows the sum over the windows that hold it, sequence by sequence in
/// blocks of 64. Only the levels and the shape of x are used.
/// shapes   x [n, ...], out_grad [n, length * width] -> the shape of padding
/// errors   as sequence_context_grad
/// cost     one read of a part of out_grad: before + after windows per sequence
template <class T, device D>
Tensor<T, D> sequence_padding_grad(D const& exec, std::type_identity_t<Tensor<T, D>> const& out_grad,
                                   LoDTensor<T, D> const& x, SequenceContextOptions const& window) {
    return detail::run_of<detail::backward_of<padded_sequence_context_op>, Tensor<T, D>>(exec, out_grad, x, window);
}

/// Adds updates to places of rows: out[s, ids[i]] = x[s, ids[i]] + updates[i] for each id i of sequence s of the last
/// level of ids. Paddle's sequence_scatter.
///
///     x [0 0 0] [0 0 0]    ids [2 0 2] [1]    updates [1 2 3] [4]   ->   [2 0 4] [0 4 0]
///
/// The gradient of x is that of the result; that of updates consists of its elements at the ids.
/// shapes   x [n, d, ...], ids [m] with n sequences in the last level, updates [m, ...] -> the shape and the levels of
///          x
/// errors   ShapeError if x has a rank below 2, ids have no levels or another number of sequences, or updates another
///          number of rows than ids or other trailing dims; IndexError if an id is not in [0, d)
/// The updates of a place are added in order, as by scatter_add; where dtype<T>::sum is another type than T, their sum
/// is added, as in merge, so that each element is narrowed once.
/// cost     a copy of x, and scatter_add of the updates, with a sort if duplicates are summed; ids in device memory are
///          copied to the host, which synchronizes
template <class T, id_type I, device D>
LoDTensor<T, D> sequence_scatter(D const& exec, LoDTensor<T, D> const& x, LoDTensor<I, D> const& ids,
                                 Tensor<T, D> const& updates) {
    return detail::run_of<sequence_scatter_op, LoDTensor<T, D>>(exec, x, ids, updates);
}
template <class T, id_type I, class Device>
LoDTensor<T, Device> sequence_scatter(LoDTensor<T, Device> const& x, LoDTensor<I, Device> const& ids,
                                      Tensor<T, Device> const& updates) {
    return sequence_scatter(x.device(), x, ids, updates);
}

/// The sum of the k greatest elements of a column, divided by k even if the sequence has fewer than k rows: for each
/// sequence of the last level, each column and each k of `ks`. Paddle's sequence_topk_avg_pooling.
/// Sums are formed in descending order; of equal elements the first counts, and NaN is the greatest.
///
///     [1 4] [3 2] [5 0]    ks {1, 2}   ->   [5 4 4 3]           of column 0, then of column 1
///
/// shapes   x [n, ...] with levels -> [number of sequences, row_size * ks.size()] with the upper levels of x
/// errors   ShapeError if x has no levels or ks is empty; ValueError if one of ks is less than 1
/// cost     one read of x, and at most O(length · log k) steps for a column of a sequence, which one thread processes; 8 bytes
///          for each of the greatest elements
template <class T, device D>
LoDTensor<T, D> sequence_top_k_mean(D const& exec, LoDTensor<T, D> const& x, SequenceTopKMeanOptions const& options) {
    return detail::run_of<sequence_top_k_mean_op, LoDTensor<T, D>>(exec, x, options);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_top_k_mean(LoDTensor<T, Device> const& x, SequenceTopKMeanOptions const& options) {
    return sequence_top_k_mean(x.device(), x, options);
}

/// The gradient of x: for each of the greatest elements, the sum of the gradients of its means, each divided by its k.
/// shapes   x [n, ...], out_grad as the result of sequence_top_k_mean -> the shape and the levels of x
/// errors   as sequence_top_k_mean, and ShapeError if out_grad has another shape
/// cost     as sequence_top_k_mean, and one write of the result
template <class T, device D>
LoDTensor<T, D> sequence_top_k_mean_grad(D const& exec, LoDTensor<T, D> const& x,
                                         std::type_identity_t<Tensor<T, D>> const& out_grad,
                                         SequenceTopKMeanOptions const& options) {
    return detail::run_of<detail::backward_of<sequence_top_k_mean_op>, LoDTensor<T, D>>(exec, x, out_grad, options);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_top_k_mean_grad(LoDTensor<T, Device> const& x,
                                              std::type_identity_t<Tensor<T, Device>> const& out_grad,
                                              SequenceTopKMeanOptions const& options) {
    return sequence_top_k_mean_grad(x.device(), x, out_grad, options);
}

}  // namespace rowan::inline v0
