// rowan/op/detail/attention.hpp: the algorithm of sequence_attention and of its gradients.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/gemm.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/sequence/detail/sequences.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Queries of one sequence that are computed together.
inline constexpr std::size_t query_block = 64;

/// The keys that query i of a sequence may see, and those of the products of its block; keys that it may not see have
/// weight 0 there.
struct VisibleKeys {
    bool causal;

    ROWAN_HD std::size_t seen(std::size_t i, std::size_t keys) const { return causal && i < keys ? i + 1 : keys; }
    ROWAN_HD std::size_t loaded(std::size_t i, std::size_t keys) const {
        return seen(i / query_block * query_block + query_block - 1, keys);
    }
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
        : sizes_(sizes), weights_(query_block * longest), slopes_(query_block * longest), row_(longest) {}

    void run(std::size_t queries, std::size_t keys, HeadRows<S const> q, HeadRows<S const> k, HeadRows<S const> v,
             HeadRows<S> out) {
        for (std::size_t i = 0; i < queries; i += query_block) {
            std::size_t const rows = std::min(query_block, queries - i), loaded = sizes_.visible.loaded(i, keys);
            weigh(i, rows, loaded, q, k);
            product(rows, sizes_.value_width, loaded, {weights_.data(), loaded}, v.from(0), out, i, false);
        }
    }

    /// q_grad is written; k_grad and v_grad are added to.
    void grad(std::size_t queries, std::size_t keys, HeadRows<S const> q, HeadRows<S const> k, HeadRows<S const> v,
              HeadRows<S const> g, HeadRows<S> q_grad, HeadRows<S> k_grad, HeadRows<S> v_grad) {
        for (std::size_t i = 0; i < queries; i += query_block) {
            std::size_t const rows = std::min(query_block, queries - i), loaded = sizes_.visible.loaded(i, keys);
            weigh(i, rows, loaded, q, k);
            product(loaded, sizes_.value_width, rows, {weights_.data(), loaded, true}, g.from(i), v_grad, 0, true);
            product(rows, loaded, sizes_.value_width, g.from(i), v.from(0, true), {slopes_.data(), loaded}, 0, false);
            for (std::size_t r = 0; r < rows; ++r)
                slope(sizes_.visible.seen(i + r, keys), loaded, weights_.data() + r * loaded,
                      slopes_.data() + r * loaded);
            product(rows, sizes_.width, loaded, {slopes_.data(), loaded}, k.from(0), q_grad, i, false);
            product(loaded, sizes_.width, rows, {slopes_.data(), loaded, true}, q.from(i), k_grad, 0, true);
        }
    }

private:
    static void product(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, HeadRows<S> out,
                        std::size_t first, bool add) {
        if (m != 0 && n != 0) multiply_block(m, n, k, a, b, out.row(first), out.next_row, add);
    }

    /// Computes the weights of the keys for `rows` queries from i on.
    void weigh(std::size_t i, std::size_t rows, std::size_t loaded, HeadRows<S const> q, HeadRows<S const> k) {
        product(rows, loaded, sizes_.width, q.from(i), k.from(0, true), {weights_.data(), loaded}, 0, false);
        S const scale = constant<S>(sizes_.scale);
        for (std::size_t r = 0; r < rows; ++r) {
            S* const row = weights_.data() + r * loaded;
            std::size_t const seen = std::min(sizes_.visible.seen(i + r, loaded), loaded);
            if (seen == 0) continue;
            map_lanes<S>([&]<class V>(V const& x) { return detail::product(x, V(scale)); }, seen, row, row);
            S const greatest = largest<S>(seen, row), total = exponentials<S>(seen, row, greatest, row_.data());
            normalise<S>(seen, row_.data(), total, row);
            std::fill(row + seen, row + loaded, constant<S>(0.0));
        }
    }

    /// Replaces the gradients of the weights of one query by those of the products of query and keys.
    void slope(std::size_t seen, std::size_t loaded, S const* weights, S* slopes) {
        zip_lanes<S>(multiplied{}, seen, row_.data(), weights, static_cast<S const*>(slopes));
        S const dot = interleaved_sum<S>(seen, static_cast<S const*>(row_.data()), [](auto const& x) { return x; });
        S const scale = constant<S>(sizes_.scale);
        auto const formula = [&]<class V>(V const& w, V const& g) {
            return detail::product(softmax_slope{}(w, g, V(dot)), V(scale));
        };
        zip_lanes<S>(formula, seen, slopes, weights, static_cast<S const*>(slopes));
        std::fill(slopes + seen, slopes + loaded, constant<S>(0.0));
    }

    AttentionSizes const& sizes_;
    Buffer<S> weights_, slopes_, row_;
};

/// Elements converted to the type of sums, or as they are if they have it.
template <class S, class T>
class Widened {
public:
    Widened(T const* from, std::size_t n) : wide_(n) { copy_lanes<S>(n, from, wide_.data()); }
    S const* data() const { return wide_.data(); }

private:
    Buffer<S> wide_;
};
template <class S>
class Widened<S, S> {
public:
    Widened(S const* from, std::size_t) : from_(from) {}
    S const* data() const { return from_; }

private:
    S const* from_;
};

/// Results in the type of sums, which begin as zeros; `write` converts them unless they already are the results.
template <class S, class T>
class WideResult {
public:
    WideResult(T* to, std::size_t n) : to_(to), wide_(std::is_same_v<S, T> ? 0 : n) {
        if constexpr (std::is_same_v<S, T>) {
            std::fill_n(to, n, constant<S>(0.0));
        } else {
            std::fill_n(wide_.data(), n, constant<S>(0.0));
        }
    }
    S* data() {
        if constexpr (std::is_same_v<S, T>) {
            return to_;
        } else {
            return wide_.data();
        }
    }
    void write(std::size_t n) {
        if constexpr (!std::is_same_v<S, T>) copy_lanes<S>(n, static_cast<S const*>(wide_.data()), to_);
    }

private:
    T* to_;
    Buffer<S> wide_;
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
