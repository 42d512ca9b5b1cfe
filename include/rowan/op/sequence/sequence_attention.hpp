// rowan/op/sequence/sequence_attention.hpp: sequence_attention, the attention of ragged sequences without padding.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/detail/attention.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/functions.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cmath>

namespace rowan::inline v0 {

namespace detail {

/// Throws unless the columns can be divided into heads.
constexpr void check_heads(char const* field, std::int64_t width, std::int64_t heads) {
    if (heads < 1) throw ShapeError("sequence_attention: heads", heads, "at least 1");
    if (width != UNK && width % heads != 0) throw ShapeError(field, width, {"a multiple of heads, ", heads});
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
        throw ShapeError("key sequences", keys.size() - 1, {queries.size() - 1, ", the number of sequences of query"});
    auto const heads = static_cast<std::size_t>(options.heads);
    double const scale =
        options.scale != 0 || width == 0 ? options.scale : 1 / std::sqrt(static_cast<double>(width / heads));
    return {queries, keys, heads, width / heads, value_width / heads, scale, {options.causal}};
}

}  // namespace detail

template <>
struct detail::function_of<sequence_attention_op> {
    template <class T, class D>
    static LoDTensor<T, D> run(D const& exec, LoDTensor<T, D> const& query, LoDTensor<T, D> const& key,
                               std::type_identity_t<Tensor<T, D>> const& value,
                               SequenceAttentionOptions const& options) {
        auto const sizes = attention_sizes(exec, query, key, value, options);
        auto out = new_tensor<T>(exec, {query.shape()[0], value.shape()[1]});
        SequenceAttention<D>::run(exec, sizes, query.value().data(), key.value().data(), value.data(), out.data());
        return {std::move(out), query.lod()};
    }
};

template <>
struct detail::function_of<detail::backward_of<sequence_attention_op>> {
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> run(D const& exec, LoDTensor<T, D> const& query,
                                                                    LoDTensor<T, D> const& key,
                                                                    std::type_identity_t<Tensor<T, D>> const& value,
                                                                    std::type_identity_t<Tensor<T, D>> const& out_grad,
                                                                    SequenceAttentionOptions const& options) {
        auto const sizes = attention_sizes(exec, query, key, value, options);
        check_rank("out_grad", out_grad, 2);
        check_height("out_grad", out_grad, static_cast<std::int64_t>(query.shape()[0]));
        check_trailing("out_grad", out_grad, value.shape());
        ElementLoops<D>::check(exec, out_grad);
        auto query_grad = new_tensor<T>(exec, query.shape());
        auto key_grad = new_tensor<T>(exec, key.shape());
        auto value_grad = new_tensor<T>(exec, value.shape());
        SequenceAttention<D>::grad(exec, sizes, query.value().data(), key.value().data(), value.data(), out_grad.data(),
                                   query_grad.data(), key_grad.data(), value_grad.data());
        return {std::move(query_grad), std::move(key_grad), std::move(value_grad)};
    }
};

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
