// rowan/op/sequence/sequence_attention.hpp: sequence_attention, the attention of ragged sequences without padding.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/detail/attention.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cmath>

namespace rowan::inline v0 {

namespace detail {

/// Throws unless the columns can be divided into heads.
constexpr void check_heads(char const* field, std::int64_t width, std::int64_t heads) {
    if (heads < 1) throw ShapeError("sequence_attention: heads", std::to_string(heads), "at least 1");
    if (width != UNK && width % heads != 0)
        throw ShapeError(field, std::to_string(width), "a multiple of heads, " + std::to_string(heads));
}

template <class T, class D>
AttentionSizes attention_sizes(D const& exec, LoDTensor<T, D> const& query, LoDTensor<T, D> const& key,
                               Tensor<T, D> const& value, SequenceAttentionOptions const& options) {
    static_assert(floating_element<T>, "rowan::sequence_attention: query must have a floating-point type: convert it");
    check_finite("sequence_attention: scale", options.scale);
    check_sequences(exec, "query", query);
    check_sequences(exec, "key", key);
    check_rank("query", query.value(), 2);
    check_trailing("key", key.value(), query.shape());
    check_rank("value", value, 2);
    check_height("value", value, static_cast<std::int64_t>(key.shape()[0]));
    ElementLoops<D>::check(exec, query.value(), key.value(), value);
    std::size_t const width = query.shape()[1], value_width = value.shape()[1];
    check_heads("sequence_attention: query.shape(1)", static_cast<std::int64_t>(width), options.heads);
    check_heads("sequence_attention: value.shape(1)", static_cast<std::int64_t>(value_width), options.heads);
    auto const queries = last_level(query.lod()), keys = last_level(key.lod());
    if (queries.size() != keys.size())
        throw ShapeError("key sequences", std::to_string(keys.size() - 1),
                         std::to_string(queries.size() - 1) + ", the number of sequences of query");
    auto const heads = static_cast<std::size_t>(options.heads);
    double const scale =
        options.scale != 0 || width == 0 ? options.scale : 1 / std::sqrt(static_cast<double>(width / heads));
    return {queries, keys, heads, width / heads, value_width / heads, scale, {options.causal}};
}

}  // namespace detail

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
    auto const sizes = detail::attention_sizes(exec, query, key, value, options);
    auto out = detail::new_tensor<T>(exec, {query.shape()[0], value.shape()[1]});
    detail::SequenceAttention<D>::run(exec, sizes, query.value().data(), key.value().data(), value.data(), out.data());
    return {std::move(out), query.lod()};
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
    auto const sizes = detail::attention_sizes(exec, query, key, value, options);
    detail::check_rank("out_grad", out_grad, 2);
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(query.shape()[0]));
    detail::check_trailing("out_grad", out_grad, value.shape());
    detail::ElementLoops<D>::check(exec, out_grad);
    auto query_grad = detail::new_tensor<T>(exec, query.shape());
    auto key_grad = detail::new_tensor<T>(exec, key.shape());
    auto value_grad = detail::new_tensor<T>(exec, value.shape());
    detail::SequenceAttention<D>::grad(exec, sizes, query.value().data(), key.value().data(), value.data(),
                                       out_grad.data(), query_grad.data(), key_grad.data(), value_grad.data());
    return {std::move(query_grad), std::move(key_grad), std::move(value_grad)};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_attention(LoDTensor<T, Device> const& query, LoDTensor<T, Device> const& key,
                                        std::type_identity_t<Tensor<T, Device>> const& value,
                                        SequenceAttentionOptions const& options = {}) {
    return sequence_attention(query.device(), query, key, value, options);
}
template <class T, class Device>
auto sequence_attention_grad(LoDTensor<T, Device> const& query, LoDTensor<T, Device> const& key,
                             std::type_identity_t<Tensor<T, Device>> const& value,
                             std::type_identity_t<Tensor<T, Device>> const& out_grad,
                             SequenceAttentionOptions const& options = {}) {
    return sequence_attention_grad(query.device(), query, key, value, out_grad, options);
}

/// See sequence_attention.
struct sequence_attention_op : detail::declared<sequence_attention_op> {
    using grad = gradient<sequence_attention_op, uses<slot::query, slot::key, slot::value, grad_of<slot::out>>,
                          makes<grad_of<slot::query>, grad_of<slot::key>, grad_of<slot::value>>>;
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& query, VarSpec const& key, VarSpec const& value,
                                   SequenceAttentionOptions const& options = {}) {
        spec::matrix("sequence_attention: query", query);
        spec::has_levels("sequence_attention: query", query);
        spec::matrix("sequence_attention: key", key);
        spec::has_levels("sequence_attention: key", key);
        spec::same_dtype("sequence_attention: key", key, query);
        spec::same_dim("sequence_attention: key", key.dims[1], query.dims[1]);
        spec::matrix("sequence_attention: value", value);
        spec::same_dtype("sequence_attention: value", value, query);
        spec::same_dim("sequence_attention: value", value.dims[0], key.dims[0]);
        detail::check_finite("sequence_attention: scale", options.scale);
        detail::check_heads("sequence_attention: query.shape(1)", query.dims[1], options.heads);
        detail::check_heads("sequence_attention: value.shape(1)", value.dims[1], options.heads);
        VarSpec out = query;
        out.dims[1] = value.dims[1];
        return out;
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& query, LoDTensor<T, D> const& key,
                               LoDTensor<T, D> const& value, SequenceAttentionOptions const& options = {}) {
        if (!value.lod().empty() && !key.lod().empty() &&
            !std::ranges::equal(detail::last_level(value.lod()), detail::last_level(key.lod())))
            throw ShapeError("value sequences", "others", "those of key, or none");
        return sequence_attention(exec, query, key, value.value(), options);
    }

    template <class T, class D>
    static std::tuple<LoDTensor<T, D>, LoDTensor<T, D>, LoDTensor<T, D>> backward(
        D exec, LoDTensor<T, D> const& query, LoDTensor<T, D> const& key, LoDTensor<T, D> const& value,
        LoDTensor<T, D> const& out_grad, SequenceAttentionOptions const& options = {}) {
        auto [q, k, v] = sequence_attention_grad(exec, query, key, value.value(), out_grad.value(), options);
        return {LoDTensor<T, D>(std::move(q), query.lod()), LoDTensor<T, D>(std::move(k), key.lod()),
                LoDTensor<T, D>(std::move(v), value.lod())};
    }
};

}  // namespace rowan::inline v0
