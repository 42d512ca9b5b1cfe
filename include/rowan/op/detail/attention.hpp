// rowan/op/detail/attention.hpp: the algorithm of sequence_attention and of its gradients.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/gemm.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/widened.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/detail/sequences.hpp>

#include <algorithm>
#include <span>

namespace rowan::inline v0::detail {

/// Queries of one sequence that are computed together.
inline constexpr std::size_t query_block = 64;

/// The number of keys that query i of a sequence sees.
struct VisibleKeys {
    bool causal;

    ROWAN_HD std::size_t seen(std::size_t i, std::size_t keys) const { return causal && i < keys ? i + 1 : keys; }
};

/// The rows of one head in one sequence.
template <class S>
struct HeadRows {
    S* data;
    std::size_t next_row;

    S* row(std::size_t i) const { return data + i * next_row; }
    Factor<std::remove_const_t<S>> from(std::size_t i, bool transposed = false) const {
        return {row(i), next_row, transposed};
    }
};

/// The sizes of a call: the sequences, and the widths of one head.
struct AttentionSizes {
    std::span<std::int64_t const> queries, keys;  // offsets of the sequences
    std::size_t heads, width, value_width;
    double scale;
    VisibleKeys visible;

    std::size_t sequences() const { return queries.size() - 1; }
    std::size_t query_rows() const { return static_cast<std::size_t>(queries.back()); }
    std::size_t key_rows() const { return static_cast<std::size_t>(keys.back()); }
    /// Multiplications of one matrix product of all scores.
    std::size_t products() const {
        std::size_t pairs = 0;
        for (std::size_t s = 0; s < sequences(); ++s) pairs += length_at(queries, s) * length_at(keys, s);
        return pairs * heads * std::max(width, value_width);
    }
    /// The rows of head h in sequence s, of queries or of keys.
    template <class S>
    HeadRows<S> of_queries(S* rows, std::size_t head_width, std::size_t s, std::size_t h) const {
        return {rows + static_cast<std::size_t>(queries[s]) * heads * head_width + h * head_width, heads * head_width};
    }
    template <class S>
    HeadRows<S> of_keys(S* rows, std::size_t head_width, std::size_t s, std::size_t h) const {
        return {rows + static_cast<std::size_t>(keys[s]) * heads * head_width + h * head_width, heads * head_width};
    }
};

/// out [m, n] = a [m, k] · b [k, n], or += if `add`, on one thread. Rows of out are next_out elements apart.
template <class S>
void multiply_block(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out, std::size_t next_out,
                    bool add) {
    if constexpr (is_machine_float<S>) {
        multiply_serial(m, n, k, a, b, out, next_out, add);
    } else {
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                S sum = add ? out[i * next_out + j] : constant<S>(0.0);
                for (std::size_t l = 0; l < k; ++l) sum = plus(sum, product(*a.at(i, l), *b.at(l, j)));
                out[i * next_out + j] = sum;
            }
        }
    }
}

/// Attention of one head in one sequence, query_block queries at a time.
template <class S>
class HeadAttention {
public:
    HeadAttention(AttentionSizes const& sizes, std::size_t longest)
        : sizes_(sizes), weights_(query_block * longest), slopes_(query_block * longest), row_(longest),
          zeros_(std::max(sizes.width, sizes.value_width)) {}

    void run(std::size_t queries, std::size_t keys, HeadRows<S const> q, HeadRows<S const> k, HeadRows<S const> v,
             HeadRows<S> out) {
        for (std::size_t i = 0; i < queries; i += query_block) {
            std::size_t const rows = std::min(query_block, queries - i), width = columns(i, rows, keys);
            weigh(i, rows, keys, q, k);
            sum_over_keys(i, rows, keys, sizes_.value_width, {weights_.data(), width}, v, out);
        }
        no_negative_zeros(queries, sizes_.value_width, out);
    }

    /// q_grad is written; k_grad and v_grad are added to.
    void grad(std::size_t queries, std::size_t keys, HeadRows<S const> q, HeadRows<S const> k, HeadRows<S const> v,
              HeadRows<S const> g, HeadRows<S> q_grad, HeadRows<S> k_grad, HeadRows<S> v_grad) {
        for (std::size_t i = 0; i < queries; i += query_block) {
            std::size_t const rows = std::min(query_block, queries - i), width = columns(i, rows, keys);
            weigh(i, rows, keys, q, k);
            sum_over_queries(i, rows, keys, sizes_.value_width, {weights_.data(), width}, g, v_grad);
            product(rows, width, sizes_.value_width, g.from(i), v.from(0, true), {slopes_.data(), width}, 0, false);
            for (std::size_t r = 0; r < rows; ++r)
                slope(sizes_.visible.seen(i + r, keys), width, weights_.data() + r * width, slopes_.data() + r * width);
            sum_over_keys(i, rows, keys, sizes_.width, {slopes_.data(), width}, k, q_grad);
            sum_over_queries(i, rows, keys, sizes_.width, {slopes_.data(), width}, q, k_grad);
        }
        no_negative_zeros(queries, sizes_.width, q_grad);
        no_negative_zeros(keys, sizes_.width, k_grad);
        no_negative_zeros(keys, sizes_.value_width, v_grad);
    }

private:
    static void product(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, HeadRows<S> out,
                        std::size_t first, bool add) {
        if (m != 0 && n != 0) multiply_block(m, n, k, a, b, out.row(first), out.next_row, add);
    }

    /// The keys that any of `rows` queries from i on sees.
    std::size_t columns(std::size_t i, std::size_t rows, std::size_t keys) const {
        return sizes_.visible.seen(i + rows - 1, keys);
    }

    /// Calls f(first row, rows, first key, keys) for rectangles that together are the pairs of a query and a key that it
    /// sees. Of the rectangles of a query, and of those of a key, the earlier terms come first.
    template <class F>
    void each_seen(std::size_t i, std::size_t rows, std::size_t keys, F const& f) const {
        f(std::size_t{0}, rows, std::size_t{0}, sizes_.visible.seen(i, keys));
        each_later(i, std::size_t{0}, rows, keys, f);
    }
    /// The same for the keys of rows [begin, end) that row `begin` does not see.
    template <class F>
    void each_later(std::size_t i, std::size_t begin, std::size_t end, std::size_t keys, F const& f) const {
        std::size_t const seen = sizes_.visible.seen(i + begin, keys), middle = begin + (end - begin) / 2;
        if (columns(i + begin, end - begin, keys) == seen) return;
        each_later(i, begin, middle, keys, f);
        f(middle, end - middle, seen, sizes_.visible.seen(i + middle, keys) - seen);
        each_later(i, middle, end, keys, f);
    }

    /// Whether the elements of n rows from `first` on can be multiplied by 0.
    bool finite(std::size_t n, std::size_t width, HeadRows<S const> rows, std::size_t first) {
        if constexpr (is_machine_float<S>) {
            std::fill_n(zeros_.data(), width, constant<S>(0.0));
            auto const add = []<class V>(V const& x, V& zero)
                                 ROWAN_INLINED { zero = plus(zero, detail::product(x, constant<V>(0.0))); };
            for (std::size_t r = 0; r < n; ++r) for_lanes<S>(add, width, rows.row(first + r), zeros_.data());
            return std::all_of(zeros_.data(), zeros_.data() + width, [](S zero) { return zero == 0; });
        } else {
            return n == 0;
        }
    }

    /// to[query] = the sum of factors[query, key] · from[key] over the keys that it sees, for `rows` queries from i on.
    /// Factors of keys that it does not see are 0, but their rows may be NaN or infinite.
    void sum_over_keys(std::size_t i, std::size_t rows, std::size_t keys, std::size_t width, Factor<S> factors,
                       HeadRows<S const> from, HeadRows<S> to) {
        auto const add = [&](std::size_t row, std::size_t m, std::size_t key, std::size_t n) {
            product(m, width, n, {factors.at(row, key), factors.columns}, from.from(key), to, i + row, key != 0);
        };
        std::size_t const seen = sizes_.visible.seen(i, keys);
        if (finite(factors.columns - seen, width, from, seen)) return add(0, rows, 0, factors.columns);
        each_seen(i, rows, keys, add);
    }

    /// to[key] += the sum of factors[query, key] · from[query] over those of `rows` queries from i on that see it
    void sum_over_queries(std::size_t i, std::size_t rows, std::size_t keys, std::size_t width, Factor<S> factors,
                          HeadRows<S const> from, HeadRows<S> to) {
        auto const add = [&](std::size_t row, std::size_t m, std::size_t key, std::size_t n) {
            product(n, width, m, {factors.at(row, key), factors.columns, true}, from.from(i + row), to, key, true);
        };
        std::size_t const blind = factors.columns == sizes_.visible.seen(i, keys) ? 0 : rows - 1;
        if (finite(blind, width, from, i)) return add(0, rows, 0, factors.columns);
        each_seen(i, rows, keys, add);
    }

    /// So that the sign of a zero does not depend on whether products with 0 were added to it.
    void no_negative_zeros(std::size_t n, std::size_t width, HeadRows<S> rows) const {
        if (!sizes_.visible.causal) return;
        auto const add = []<class V>(V const& x) ROWAN_INLINED { return plus(x, constant<V>(0.0)); };
        for (std::size_t r = 0; r < n; ++r) map_lanes<S>(add, width, rows.row(r), rows.row(r));
    }

    /// Computes the weights of the keys that each of `rows` queries from i on sees.
    void weigh(std::size_t i, std::size_t rows, std::size_t keys, HeadRows<S const> q, HeadRows<S const> k) {
        std::size_t const width = columns(i, rows, keys);
        product(rows, width, sizes_.width, q.from(i), k.from(0, true), {weights_.data(), width}, 0, false);
        S const scale = constant<S>(sizes_.scale);
        for (std::size_t r = 0; r < rows; ++r) {
            S* const row = weights_.data() + r * width;
            std::size_t const seen = sizes_.visible.seen(i + r, keys);
            if (seen == 0) continue;
            map_lanes<S>([&]<class V>(V const& x) ROWAN_INLINED { return detail::product(x, V(scale)); }, seen, row,
                         row);
            S const total = on_lanes<S>(seen, [&]<class V>(as<V>) ROWAN_INLINED {
                return exponentials<V>(seen, row, largest<V>(seen, row), row_.data());
            });
            map_lanes<S>([&]<class V>(V const& e) ROWAN_INLINED { return quotient(e, V(total)); }, seen, row_.data(),
                         row);
            std::fill(row + seen, row + width, constant<S>(0.0));
        }
    }

    /// Replaces the gradients of the weights of one query by those of the products of query and keys.
    void slope(std::size_t seen, std::size_t width, S const* weights, S* slopes) {
        zip_lanes<S>(multiplied{}, seen, row_.data(), weights, slopes);
        S const dot = interleaved_sum<S>(seen, row_.data());
        S const scale = constant<S>(sizes_.scale);
        auto const formula = [&]<class V>(V const& w, V const& g)
                                 ROWAN_INLINED { return detail::product(softmax_slope{}(w, g, V(dot)), V(scale)); };
        zip_lanes<S>(formula, seen, slopes, weights, slopes);
        std::fill(slopes + seen, slopes + width, constant<S>(0.0));
    }

    AttentionSizes const& sizes_;
    Buffer<S> weights_, slopes_, row_, zeros_;
};

/// Device-specific implementation of sequence_attention. The Thrust one is in rowan/thrust/op/sequence_attention.hpp.
template <class D>
struct SequenceAttention {
    static_assert(has_backend<D>, "rowan: sequence_attention on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

template <>
struct SequenceAttention<Cpu> {
    template <class T>
    static void run(Cpu exec, AttentionSizes const& at, T const* query, T const* key, T const* value, T* out) {
        using S = sum_t<T>;
        std::size_t const d = at.width, e = at.value_width, n = at.query_rows() * at.heads,
                          m = at.key_rows() * at.heads;
        Widened<S, T> const q(query, n * d), k(key, m * d), v(value, m * e);
        WideResult<S, T> result(out, n * e);
        each_head<S>(exec, at, [&](HeadAttention<S>& head, std::size_t s, std::size_t h) {
            head.run(length_at(at.queries, s), length_at(at.keys, s), at.of_queries(q.data(), d, s, h),
                     at.of_keys(k.data(), d, s, h), at.of_keys(v.data(), e, s, h),
                     at.of_queries(result.data(), e, s, h));
        });
        result.write(n * e);
    }

    template <class T>
    static void grad(Cpu exec, AttentionSizes const& at, T const* query, T const* key, T const* value, T const* grad,
                     T* query_grad, T* key_grad, T* value_grad) {
        using S = sum_t<T>;
        std::size_t const d = at.width, e = at.value_width, n = at.query_rows() * at.heads,
                          m = at.key_rows() * at.heads;
        Widened<S, T> const q(query, n * d), k(key, m * d), v(value, m * e), g(grad, n * e);
        WideResult<S, T> q_grad(query_grad, n * d), k_grad(key_grad, m * d), v_grad(value_grad, m * e);
        each_head<S>(exec, at, [&](HeadAttention<S>& head, std::size_t s, std::size_t h) {
            head.grad(length_at(at.queries, s), length_at(at.keys, s), at.of_queries(q.data(), d, s, h),
                      at.of_keys(k.data(), d, s, h), at.of_keys(v.data(), e, s, h), at.of_queries(g.data(), e, s, h),
                      at.of_queries(q_grad.data(), d, s, h), at.of_keys(k_grad.data(), d, s, h),
                      at.of_keys(v_grad.data(), e, s, h));
        });
        q_grad.write(n * d);
        k_grad.write(m * d);
        v_grad.write(m * e);
    }

private:
    /// Calls f(head, s, h) for each head h of each sequence s, on several threads if there is enough work.
    template <class S, class F>
    static void each_head(Cpu exec, AttentionSizes const& at, F const& f) {
        std::size_t const tasks = at.sequences() * at.heads, work = at.products() / 8;
        parallel_work(exec, work, tasks, tasks / ((work >> 15) + 1), [&](std::size_t begin, std::size_t end) {
            HeadAttention<S> head(at, longest_of(at.keys, begin / at.heads, (end - 1) / at.heads + 1));
            for (std::size_t t = begin; t < end; ++t) f(head, t / at.heads, t % at.heads);
        });
    }
};

}  // namespace rowan::inline v0::detail
