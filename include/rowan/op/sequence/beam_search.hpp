// rowan/op/sequence/beam_search.hpp: beam_search and beam_search_decode, the most probable sequences that a model generates.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/core/detail/checked.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/functions.hpp>
#include <rowan/sequence/pick_sequences.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

namespace rowan::inline v0 {

namespace detail {

constexpr void check_beam(BeamSearchOptions const& options) {
    if (options.beam_size < 1) throw ValueError("beam_size", options.beam_size, "1 or more");
}

/// An extension of a hypothesis; its token is -1 if the hypothesis has ended.
template <class S>
struct BeamItem {
    S score;
    std::int64_t parent, token;
};

/// Whether a score precedes another one; NaN follows all others.
template <class S>
bool precedes(S const& a, S const& b) {
    return a > b || (a == a && !(b == b));
}

/// Inserts an item into a list that is sorted by decreasing score and has at most `most` items. Of equal scores, the
/// earlier one stays first.
template <class S>
void insert_item(std::vector<BeamItem<S>>& best, std::size_t most, BeamItem<S> const& item) {
    if (best.size() == most) {
        if (!precedes(item.score, best.back().score)) return;
        best.pop_back();
    }
    auto const before = [&](BeamItem<S> const& other) { return !precedes(item.score, other.score); };
    best.insert(std::ranges::partition_point(best, before), item);
}

template <class V, class D>
void check_levels_of(char const* field, LoDTensor<V, D> const& x) {
    if (x.lod().levels() != 1) throw ShapeError({field, ".lod().levels()"}, x.lod().levels(), "1");
    x.check();
}

template <class T>
LoDTensor<T> host_of(LoDTensor<T> const& x) {
    return x.share();
}
template <class T, class D>
LoDTensor<T> host_of(LoDTensor<T, D> const& x) {
    return {to_host(x.device(), x.value()), x.lod()};
}

template <class V>
Tensor<V> tensor_of(std::vector<V> const& list) {
    auto made = Tensor<V>::from_shape({list.size()});
    std::ranges::copy(list, made.data());
    return made;
}

/// Checks prefixes with a score for each.
template <class I, class T, class D>
void check_hypotheses(LoDTensor<I, D> const& prefixes, char const* field, LoDTensor<T, D> const& scores) {
    check_levels_of("prefixes", prefixes);
    if (prefixes.value().dimension() != 1) throw ShapeError("prefixes rank", prefixes.value().dimension(), "1");
    check_levels_of(field, scores);
    check_height(field, scores.value(), static_cast<std::int64_t>(prefixes.lod().sequences(0)));
}

}  // namespace detail

template <>
struct detail::function_of<beam_search_op> {
    template <class T, id_type I, class D>
    static std::tuple<LoDTensor<I, D>, LoDTensor<I, D>, LoDTensor<T, D>, Tensor<std::int64_t, D>> run(
        D const& exec, LoDTensor<I, D> const& prefixes, LoDTensor<T, D> const& log_probability,
        Tensor<T, D> const& scores, BeamSearchOptions const& options) {
        using S = sum_t<T>;
        check_beam(options);
        check_hypotheses(prefixes, "log_probability", log_probability);
        check_rank("log_probability", log_probability.value(), 2);
        check_rank("scores", scores, 1);
        check_height("scores", scores, static_cast<std::int64_t>(log_probability.value().shape(0)));
        auto const tokens = host_of(prefixes);
        auto const host_probability = to_host(exec, log_probability.value());
        auto const host_scores = to_host(exec, scores);
        auto const offsets = tokens.lod()[0], sources = log_probability.lod()[0];
        I const* const token = tokens.value().data();
        std::size_t const width = log_probability.value().shape(1);
        std::vector<I> made, last;
        std::vector<T> totals;
        std::vector<std::int64_t> parents, lengths, beams;
        std::vector<BeamItem<S>> best;
        for (std::size_t source = 0; source + 1 < sources.size(); ++source) {
            best.clear();
            for (auto r = static_cast<std::size_t>(sources[source]); r < static_cast<std::size_t>(sources[source + 1]);
                 ++r) {
                S const score = dtype<T>::widen(host_scores.data()[r]);
                auto const parent = static_cast<std::int64_t>(r);
                bool const ended = offsets[r] < offsets[r + 1] &&
                                   std::int64_t{token[static_cast<std::size_t>(offsets[r + 1]) - 1]} == options.end_id;
                auto const most = static_cast<std::size_t>(options.beam_size);
                if (ended) insert_item<S>(best, most, {score, parent, -1});
                for (std::size_t k = 0; k < width && !ended; ++k) {
                    S const total = score + S(dtype<T>::widen(host_probability.data()[r * width + k]));
                    insert_item<S>(best, most, {total, parent, static_cast<std::int64_t>(k)});
                }
            }
            beams.push_back(static_cast<std::int64_t>(best.size()));
            for (auto const& item : best) {
                auto const r = static_cast<std::size_t>(item.parent);
                made.insert(made.end(), token + offsets[r], token + offsets[r + 1]);
                if (item.token >= 0) made.push_back(static_cast<I>(item.token));
                lengths.push_back(offsets[r + 1] - offsets[r] + (item.token >= 0 ? 1 : 0));
                last.push_back(made.back());
                totals.push_back(dtype<T>::narrow(item.score));
                parents.push_back(item.parent);
            }
        }
        Lod const level = Lod::from_lengths({beams});
        return {LoDTensor<I, D>(to_device(exec, tensor_of(made)), Lod::from_lengths({lengths})),
                LoDTensor<I, D>(to_device(exec, tensor_of(last)), level),
                LoDTensor<T, D>(to_device(exec, tensor_of(totals)), level), to_device(exec, tensor_of(parents))};
    }
};

template <>
struct detail::function_of<beam_search_decode_op> {
    template <class T, id_type I, class D>
    static std::tuple<LoDTensor<I, D>, LoDTensor<T, D>> run(D const& exec, LoDTensor<I, D> const& prefixes,
                                                            LoDTensor<T, D> const& scores) {
        check_hypotheses(prefixes, "scores", scores);
        check_rank("scores", scores.value(), 1);
        auto const host_scores = to_host(exec, scores.value());
        auto const sources = scores.lod()[0];
        std::vector<std::int64_t> order(host_scores.size());
        std::iota(order.begin(), order.end(), std::int64_t{0});
        auto const score = [&](std::int64_t r) {
            return sum_t<T>(dtype<T>::widen(host_scores.data()[static_cast<std::size_t>(r)]));
        };
        for (std::size_t s = 0; s + 1 < sources.size(); ++s)
            std::stable_sort(order.begin() + sources[s], order.begin() + sources[s + 1],
                             [&](std::int64_t a, std::int64_t b) { return precedes(score(a), score(b)); });
        auto sorted = pick_sequences(exec, prefixes, order);
        LoDTensor<T, D> const rows(scores.value().share());
        Lod const levels{sources, sorted.lod()[0]};
        return {LoDTensor<I, D>(std::move(sorted).value(), levels),
                LoDTensor<T, D>(pick_sequences(exec, rows, order).value(), scores.lod())};
    }
};

/// See beam_search. The slot `ids` holds the prefixes, x the scores of tokens, and y those of hypotheses; `last` holds
/// the last tokens.
struct beam_search_op : detail::declared<beam_search_op> {
    static constexpr bool row_output = false;

    static constexpr std::array<VarSpec, 4> infer(VarSpec const& ids, VarSpec const& x, VarSpec const& y,
                                                  BeamSearchOptions const& options = {}) {
        detail::check_beam(options);
        spec::id_list("beam_search: prefixes", ids);
        spec::has_levels("beam_search: prefixes", ids);
        spec::matrix("beam_search: log_probability", x);
        spec::has_levels("beam_search: log_probability", x);
        spec::dense("beam_search: scores", y);
        spec::rank("beam_search: scores", y, 1, "1");
        spec::same_dtype("beam_search: scores", y, x);
        VarSpec tokens = ids, total = x;
        tokens.dims = total.dims = {UNK};
        return {tokens, tokens, total, tensor_spec<std::int64_t>({UNK})};
    }

    template <class T, id_type I, class D>
    static auto run(D exec, LoDTensor<I, D> const& ids, LoDTensor<T, D> const& x, LoDTensor<T, D> const& y,
                    BeamSearchOptions const& options = {}) {
        auto [prefixes, tokens, scores, parents] = beam_search(exec, ids, x, y.value(), options);
        return std::tuple(std::move(prefixes), std::move(tokens), std::move(scores),
                          LoDTensor<std::int64_t, D>(std::move(parents)));  // has no levels, however many there are
    }
};

/// See beam_search_decode. The slot `ids` holds the prefixes, x the scores.
struct beam_search_decode_op : detail::declared<beam_search_decode_op> {
    static constexpr bool row_output = false;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& ids, VarSpec const& x) {
        spec::id_list("beam_search_decode: prefixes", ids);
        spec::has_levels("beam_search_decode: prefixes", ids);
        spec::dense("beam_search_decode: scores", x);
        spec::rank("beam_search_decode: scores", x, 1, "1");
        spec::has_levels("beam_search_decode: scores", x);
        VarSpec sentences = ids;
        sentences.lod_level = 2;
        return {sentences, x};
    }

    template <class T, id_type I, class D>
    static auto run(D exec, LoDTensor<I, D> const& ids, LoDTensor<T, D> const& x) {
        return beam_search_decode(exec, ids, x);
    }
};

}  // namespace rowan::inline v0
