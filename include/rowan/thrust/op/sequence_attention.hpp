// rowan/thrust/op/sequence_attention.hpp: sequence_attention on a device.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/op/sequence/sequence_attention.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/on_device.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rowan::inline v0::detail {

/// What the kernels read. A sequence has a score for each query, head and key, in this order; pairs[s] is the number of
/// pairs of queries and keys in the sequences before s.
template <class S>
struct AttentionView {
    std::int64_t const *queries, *keys, *pairs;
    std::size_t sequences, heads, width, value_width;
    S scale;
    VisibleKeys visible;
    S *weights, *slopes;

    /// A query and a head of it.
    struct Row {
        std::size_t query, head, i;  // i: the query's position in its sequence
        std::size_t first_key, seen;
        std::size_t scores;  // the position of its first score
    };

    ROWAN_HD Row row_of(std::size_t s, std::size_t i, std::size_t head) const {
        auto const first = [s](std::int64_t const* offsets) { return static_cast<std::size_t>(offsets[s]); };
        std::size_t const n = static_cast<std::size_t>(keys[s + 1] - keys[s]);
        return {.query = first(queries) + i,
                .head = head,
                .i = i,
                .first_key = first(keys),
                .seen = visible.seen(i, n),
                .scores = first(pairs) * heads + (i * heads + head) * n};
    }
    ROWAN_HD Row row_of_query(std::size_t query, std::size_t head) const {
        std::size_t const s = find_block(queries, sequences, query);
        return row_of(s, query - static_cast<std::size_t>(queries[s]), head);
    }
};

/// a · b + sum, rounded once where the host's matrix products do so.
template <class S>
ROWAN_HD S fused_sum(S const& a, S const& b, S const& sum) {
    if constexpr (is_machine_float<S>) {
        return std::fma(a, b, sum);
    } else {
        return plus(sum, product(a, b));
    }
}

/// to[score] = row of the query · row of the key
template <class T>
struct AttentionScores {
    using S = sum_t<T>;
    AttentionView<S> at;
    T const *queries, *keys;
    std::size_t width;
    S* to;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const s = find_block(at.pairs, at.sequences, k / at.heads);
        std::size_t const rest = k - static_cast<std::size_t>(at.pairs[s]) * at.heads,
                          n = static_cast<std::size_t>(at.keys[s + 1] - at.keys[s]), row = rest / n;
        auto const r = at.row_of(s, row / at.heads, row % at.heads);
        T const* const q = queries + (r.query * at.heads + r.head) * width;
        T const* const key = keys + ((r.first_key + rest % n) * at.heads + r.head) * width;
        S sum = constant<S>(0.0);
        for (std::size_t c = 0; c < width; ++c) sum = fused_sum(load<S>(q + c), load<S>(key + c), sum);
        to[k] = sum;
    }
};

/// Replaces the scores of a query by their softmax.
template <class S>
struct AttentionWeights {
    AttentionView<S> at;

    struct Same {
        template <class V>
        ROWAN_HD_INLINE V const& operator()(V const& x) const {
            return x;
        }
    };

    ROWAN_HD void operator()(std::size_t k) const {
        auto const r = at.row_of_query(k / at.heads, k % at.heads);
        S* const w = at.weights + r.scores;
        if (r.seen == 0) return;
        for (std::size_t j = 0; j < r.seen; ++j) w[j] = product(w[j], at.scale);
        S greatest = w[0];
        for (std::size_t j = 1; j < r.seen; ++j) take_larger{}(w[j], greatest);
        for (std::size_t j = 0; j < r.seen; ++j) w[j] = exponential_of_negative(S(w[j] - greatest));
        S const total = interleaved_sum<S>(r.seen, static_cast<S const*>(w), Same{});
        for (std::size_t j = 0; j < r.seen; ++j) w[j] = divided{}(w[j], total);
    }
};

/// Replaces the gradients of a query's weights by those of its products with the keys.
template <class S>
struct AttentionSlopes {
    AttentionView<S> at;

    ROWAN_HD void operator()(std::size_t k) const {
        auto const r = at.row_of_query(k / at.heads, k % at.heads);
        S const* const w = at.weights + r.scores;
        S* const g = at.slopes + r.scores;
        S part[16];
        for (auto& p : part) p = constant<S>(0.0);
        for (std::size_t j = 0; j < r.seen; ++j) part[j % 16] = plus(part[j % 16], multiplied{}(w[j], g[j]));
        S const dot = tree_sum(part);
        for (std::size_t j = 0; j < r.seen; ++j) g[j] = product(softmax_slope{}(w[j], g[j], dot), at.scale);
    }
};

/// to[query] = the sum of factors[query, key] · rows[key], one element of it
template <class T>
struct SumOverKeys {
    using S = sum_t<T>;
    AttentionView<S> at;
    S const* factors;
    T const* rows;
    std::size_t width;
    T* to;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const part = k / width;
        auto const r = at.row_of_query(part / at.heads, part % at.heads);
        S sum = constant<S>(0.0);
        for (std::size_t j = 0; j < r.seen; ++j)
            sum = fused_sum(factors[r.scores + j],
                            load<S>(rows + ((r.first_key + j) * at.heads + r.head) * width + k % width), sum);
        store(at.visible.causal ? plus(sum, constant<S>(0.0)) : sum, to + k);
    }
};

/// to[key] = the sum of factors[query, key] · rows[query], one element of it
template <class T>
struct SumOverQueries {
    using S = sum_t<T>;
    AttentionView<S> at;
    S const* factors;
    T const* rows;
    std::size_t width;
    T* to;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const part = k / width, key = part / at.heads, head = part % at.heads;
        std::size_t const s = find_block(at.keys, at.sequences, key), j = key - static_cast<std::size_t>(at.keys[s]);
        auto const n = static_cast<std::size_t>(at.queries[s + 1] - at.queries[s]);
        S sum = constant<S>(0.0);
        for (std::size_t i = 0; i < n; ++i) {
            auto const r = at.row_of(s, i, head);
            if (j >= r.seen) continue;
            sum =
                fused_sum(factors[r.scores + j], load<S>(rows + (r.query * at.heads + head) * width + k % width), sum);
        }
        store(at.visible.causal ? plus(sum, constant<S>(0.0)) : sum, to + k);
    }
};

template <class System>
struct SequenceAttention<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void run(Exec const& exec, AttentionSizes const& sizes, T const* query, T const* key, T const* value,
                    T* out) {
        Weights<T> const weights(exec, sizes, query, key, 1);
        launch(exec, sizes.query_rows() * sizes.heads * sizes.value_width,
               SumOverKeys<T>{weights.view, weights.view.weights, value, sizes.value_width, out});
    }

    template <class T>
    static void grad(Exec const& exec, AttentionSizes const& sizes, T const* query, T const* key, T const* value,
                     T const* grad, T* query_grad, T* key_grad, T* value_grad) {
        std::size_t const width = sizes.width, value_width = sizes.value_width;
        std::size_t const query_parts = sizes.query_rows() * sizes.heads, key_parts = sizes.key_rows() * sizes.heads;
        Weights<T> const weights(exec, sizes, query, key, 2);
        auto const& view = weights.view;
        launch(exec, key_parts * value_width, SumOverQueries<T>{view, view.weights, grad, value_width, value_grad});
        launch(exec, weights.scores, AttentionScores<T>{view, grad, value, value_width, view.slopes});
        launch(exec, query_parts, AttentionSlopes<sum_t<T>>{view});
        launch(exec, query_parts * width, SumOverKeys<T>{view, view.slopes, key, width, query_grad});
        launch(exec, key_parts * width, SumOverQueries<T>{view, view.slopes, query, width, key_grad});
    }

private:
    static std::vector<std::int64_t> pairs_of(AttentionSizes const& sizes) {
        std::vector<std::int64_t> pairs{0};
        for (std::size_t s = 0; s < sizes.sequences(); ++s)
            pairs.push_back(pairs.back() +
                            static_cast<std::int64_t>(length_at(sizes.queries, s) * length_at(sizes.keys, s)));
        return pairs;
    }

    /// The weights of all pairs, and memory for `arrays` - 1 more arrays of their size.
    template <class T>
    struct Weights {
        using S = sum_t<T>;

        Weights(Exec const& exec, AttentionSizes const& sizes, T const* query, T const* key, std::size_t arrays)
            : Weights(exec, sizes, pairs_of(sizes), arrays) {
            launch(exec, scores, AttentionScores<T>{view, query, key, sizes.width, view.weights});
            launch(exec, sizes.query_rows() * sizes.heads, AttentionWeights<S>{view});
        }

        std::size_t scores;
        OnDevice<std::int64_t, Exec> queries, keys, pairs;
        OnDevice<S, Exec> memory;
        AttentionView<S> view;

    private:
        Weights(Exec const& exec, AttentionSizes const& sizes, std::vector<std::int64_t> const& first,
                std::size_t arrays)
            : scores(static_cast<std::size_t>(first.back()) * sizes.heads), queries(exec, sizes.queries),
              keys(exec, sizes.keys), pairs(exec, std::span<std::int64_t const>(first)),
              memory(exec, arrays * scores), view{queries.data(),
                                                  keys.data(),
                                                  pairs.data(),
                                                  sizes.sequences(),
                                                  sizes.heads,
                                                  sizes.width,
                                                  sizes.value_width,
                                                  constant<S>(sizes.scale),
                                                  sizes.visible,
                                                  memory.data(),
                                                  memory.data() + (arrays - 1) * scores} {}
    };
};

}  // namespace rowan::inline v0::detail
