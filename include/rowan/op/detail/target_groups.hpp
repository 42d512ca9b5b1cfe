// rowan/op/detail/target_groups.hpp: TargetGroups, rows that are classified by a few rows of a table, and the products of both.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/op/detail/loss_formulas.hpp>
#include <rowan/op/detail/row_folds.hpp>
#include <rowan/op/detail/vector_pairs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

/// Groups of rows of x, each with targets, which are rows of a table w: every row of a group meets all of its targets.
///
///     rows {0, 2, 3}     x [a b c]     targets {0, 2, 5}     ids [7 1 4 7 2]     stands for   (a b) x (7 1), c x (4 7 2)
template <class T>
struct TargetGroups {
    std::size_t groups, width, height;
    std::int64_t const* rows;     // [groups + 1]; nullptr: one row each
    std::int64_t const* targets;  // [groups + 1]; nullptr: `each` targets for each group
    std::size_t each;
    T const* x;
    T const* w;
    std::int64_t const* ids;

    std::size_t row(std::size_t group) const { return rows == nullptr ? group : static_cast<std::size_t>(rows[group]); }
    std::size_t target(std::size_t group) const {
        return targets == nullptr ? group * each : static_cast<std::size_t>(targets[group]);
    }
    std::size_t table_row(std::size_t k) const { return static_cast<std::size_t>(ids[k]) * width; }

    /// Before each group, the number of pairs of a row and a target.
    std::vector<std::size_t> pairs() const {
        std::vector<std::size_t> before(groups + 1);
        for (std::size_t g = 0; g < groups; ++g)
            before[g + 1] = before[g] + (row(g + 1) - row(g)) * (target(g + 1) - target(g));
        return before;
    }
};

/// The label of a target in the loss of the pairs: 1, 0, or none where there is no loss.
enum class TargetLabel : std::uint8_t { negative, positive, none };

/// Vectors of one thread, which are rows of a matrix. Behind the last multiple of 16 of a vector's elements, 16 can be read:
/// those that are left, and then elements of the next row, or zeros.
template <class T>
class PaddedVectors {
public:
    template <class At>
    ROWAN_INLINE void set(std::size_t width, std::size_t n, T const* end_of_rows, At const& at) {
        whole = width / 16 * 16;
        vectors.resize(n);
        ends.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            vectors[i] = at(i);
            ends[i] = vectors[i] + whole;
        }
        std::size_t copies = 0;
        for (std::size_t i = 0; i < n && whole != width; ++i) {
            if (end_of_rows - ends[i] >= 16) continue;
            copied_.resize(16 * n);
            T* const copy = copied_.data() + 16 * copies++;
            std::fill_n(std::copy_n(ends[i], width - whole, copy), 16 - (width - whole),
                        dtype<T>::narrow(constant<sum_t<T>>(0.0)));
            ends[i] = copy;
        }
    }

    std::size_t whole = 0;
    std::vector<T const*> vectors, ends;

private:
    std::vector<T> copied_;
};

/// to[i · m + k]: the dot product of vector i of a, of n, and vector k of b, of m, each as dot_of_pair; and after these up
/// to the next multiple of 16 other numbers. With registers V, as zip_with.
template <class V, class T, class S>
ROWAN_INLINE void dots_of_vectors(std::size_t width, PaddedVectors<T> const& a, PaddedVectors<T> const& b, S* to) {
    std::size_t const n = a.vectors.size(), m = b.vectors.size();
    if constexpr (!is_register<V>) {
        for (std::size_t q = 0; q < n * m; ++q) to[q] = dot_of_pair(width, a.vectors[q / m], b.vectors[q % m]);
    } else {
        constexpr std::size_t lanes = V::size, count = 16 / lanes, some = 4;
        S left_of_end[16]{};  // 1 where the last elements are
        std::fill_n(left_of_end, width - a.whole, constant<S>(1.0));
        std::size_t i = 0, k = 0;
        for (std::size_t q = 0; q < n * m; q += 16) {
            V sums[16];
            std::size_t const left = std::min<std::size_t>(n * m - q, 16);
            for (std::size_t r = left; r < 16; ++r) sums[r] = constant<V>(0.0);
            for (std::size_t r = 0; r < left; r += some) {
                T const *x[some], *y[some], *x_end[some], *y_end[some];
                unrolled<some>([&](std::size_t c) ROWAN_INLINED {
                    x[c] = a.vectors[i];
                    y[c] = b.vectors[k];
                    x_end[c] = a.ends[i];
                    y_end[c] = b.ends[k];
                    if (++k == m) {
                        k = 0;
                        if (++i == n) i = n - 1;
                    }
                });
                V parts[some][count];
                unrolled<some * count>([&](std::size_t p)
                                           ROWAN_INLINED { parts[p / count][p % count] = constant<V>(0.0); });
                auto const add = [&](auto const& from, auto const& with, std::size_t at,
                                     auto const& kept) ROWAN_INLINED {
                    unrolled<some * count>([&](std::size_t p) ROWAN_INLINED {
                        std::size_t const c = p / count, part = p % count, here = at + part * lanes;
                        V const made = product(load<V>(from[c] + here), load<V>(with[c] + here));
                        parts[c][part] = plus(parts[c][part], kept(part, made));
                    });
                };
                for (std::size_t at = 0; at < a.whole; at += 16)
                    add(x, y, at, [](std::size_t, V const& made) ROWAN_INLINED { return made; });
                if (a.whole != width) {
                    add(x_end, y_end, 0, [&](std::size_t part, V const& made) ROWAN_INLINED {
                        V const zero = constant<V>(0.0);
                        return choose(load<V>(left_of_end + part * lanes) > zero, made, zero);
                    });
                }
                unrolled<some>([&](std::size_t c) ROWAN_INLINED {
                    if constexpr (count > 1) fold_halves(parts[c], add_lanes{}, std::make_index_sequence<count / 2>());
                    sums[r + c] = parts[c][0];
                });
            }
            add_lanes const step;
            for (std::size_t c = 0; c < 16; c += lanes) {
                fold_registers(step, sums + c);
                sums[c].store(to + q + c);
            }
        }
    }
}

/// Columns [column, width) of to[o] = Σ factor(o, k) · from[k], in the order of k, for n outputs; with registers V as far
/// as they are filled. Returns the first column that is not.
template <class V, std::size_t n, class T, class Factor>
ROWAN_INLINE std::size_t weighted_sums(std::size_t column, std::size_t width, std::vector<T const*> const& from,
                                       Factor const& factor, T* const (&to)[n]) {
    for (; column + lanes_in<V> <= width; column += lanes_in<V>) {
        V sums[n];
        unrolled<n>([&](std::size_t o) ROWAN_INLINED { sums[o] = constant<V>(0.0); });
        for (std::size_t k = 0; k < from.size(); ++k) {
            V const x = load<V>(from[k] + column);
            unrolled<n>([&](std::size_t o) ROWAN_INLINED { sums[o] = plus(sums[o], product(V(factor(o, k)), x)); });
        }
        unrolled<n>([&](std::size_t o) ROWAN_INLINED { store(sums[o], to[o] + column); });
    }
    return column;
}

/// Row o of `to` is Σ factor(o, k) · from[k], for o in [0, outputs).
template <class V, class T, class Factor>
ROWAN_INLINE void all_weighted_sums(std::size_t width, std::size_t outputs, std::vector<T const*> const& from,
                                    Factor const& factor, T* to) {
    using S = typename lane_of<V>::type;
    auto const some = [&]<std::size_t n>(std::size_t first, std::integral_constant<std::size_t, n>) ROWAN_INLINED {
        T* rows[n];
        for (std::size_t o = 0; o < n; ++o) rows[o] = to + (first + o) * width;
        auto const at = [&](std::size_t o, std::size_t k) ROWAN_INLINED { return factor(first + o, k); };
        std::size_t column = weighted_sums<V, n>(0, width, from, at, rows);
        if constexpr (is_register<V>) {
            column = weighted_sums<LaneRegister<S, 16>, n>(column, width, from, at, rows);
            weighted_sums<S, n>(column, width, from, at, rows);
        }
    };
    std::size_t o = 0;
    for (; o + 8 <= outputs; o += 8) some(o, std::integral_constant<std::size_t, 8>{});
    for (; o + 6 <= outputs; o += 6) some(o, std::integral_constant<std::size_t, 6>{});
    for (; o + 4 <= outputs; o += 4) some(o, std::integral_constant<std::size_t, 4>{});
    for (; o + 2 <= outputs; o += 2) some(o, std::integral_constant<std::size_t, 2>{});
    for (; o < outputs; ++o) some(o, std::integral_constant<std::size_t, 1>{});
}

/// The losses of the rows of groups and their gradients.
struct TargetLosses {
    /// losses[r]: the sum over the targets k of the group of row r of log(1 + exp(-s)), where s = x[r] · w[ids[k]], or of
    /// log(1 + exp(s)) for negative ones; and for each pair, row by row, the slope of its term, which is its derivative by s.
    /// label_of(k, first) is the label of ids[k] in a group whose targets begin at `first`.
    template <class T, class LabelOf>
    static void run(Cpu exec, TargetGroups<T> const& of, LabelOf const& label_of, sum_t<T>* losses, T* slopes) {
        using S = sum_t<T>;
        auto const before = of.pairs();
        each_group(exec, of, before, [&]<class V>(as<V>, Memory<T>& memory, std::size_t g) ROWAN_INLINED {
            std::size_t const row = of.row(g), n = of.row(g + 1) - row, first = of.target(g);
            std::size_t const m = of.target(g + 1) - first, padded = (n * m + 15) / 16 * 16;
            memory.x.set(of.width, n, of.x + of.row(of.groups) * of.width,
                         [&](std::size_t i) { return of.x + (row + i) * of.width; });
            memory.w.set(of.width, m, of.w + of.height * of.width,
                         [&](std::size_t k) { return of.w + of.table_row(first + k); });
            memory.scores.resize(padded);
            memory.labels.assign(padded, constant<S>(0.0));
            memory.terms.resize(padded);
            memory.made.resize(padded);
            S* const scores = memory.scores.data();
            dots_of_vectors<V>(of.width, memory.x, memory.w, scores);
            for (std::size_t k = 0; k < m; ++k) {
                if (label_of(first + k, first) != TargetLabel::positive) continue;
                for (std::size_t i = 0; i < n; ++i) memory.labels[i * m + k] = constant<S>(1.0);
            }
            using formula = binary_cross_entropy_with_logits_formula;
            S const* const labels = memory.labels.data();
            BinaryCrossEntropyOptions const options;
            zip_with<V>([&](auto const& s, auto const& y)
                            ROWAN_INLINED { return formula::value(limited(s, -3e38, 3e38), y, options); },
                        padded, memory.terms.data(), static_cast<S const*>(scores), labels);
            zip_with<V>([&](auto const& s, auto const& y) ROWAN_INLINED { return formula::slope(s, y, options); },
                        padded, memory.made.data(), static_cast<S const*>(scores), labels);
            for (std::size_t k = 0; k < m; ++k) {
                if (label_of(first + k, first) != TargetLabel::none) continue;
                for (std::size_t i = 0; i < n; ++i) memory.terms[i * m + k] = memory.made[i * m + k] = constant<S>(0.0);
            }
            for (std::size_t i = 0; i < n; ++i) {
                S loss = constant<S>(0.0);
                for (std::size_t k = 0; k < m; ++k) loss = plus(loss, memory.terms[i * m + k]);
                losses[row + i] = loss;
            }
            zip_with<V>(same_number{}, n * m, slopes + before[g], static_cast<S const*>(memory.made.data()));
        });
    }

    /// The gradients of the rows of x, and for each target that of its row of w, from the slopes; grads(r) is the gradient
    /// of the loss of row r.
    template <class T, class Grads>
    static void backward(Cpu exec, TargetGroups<T> const& of, T const* slopes, Grads const& grads, T* x_grad,
                         T* w_grad) {
        using S = sum_t<T>;
        auto const before = of.pairs();
        each_group(exec, of, before, [&]<class V>(as<V>, Memory<T>& memory, std::size_t g) ROWAN_INLINED {
            std::size_t const row = of.row(g), n = of.row(g + 1) - row, first = of.target(g),
                              m = of.target(g + 1) - first;
            memory.x.vectors.resize(n);
            memory.w.vectors.resize(m);
            memory.made.resize(n * m);
            for (std::size_t i = 0; i < n; ++i) {
                memory.x.vectors[i] = of.x + (row + i) * of.width;
                S const grad = grads(row + i);
                for (std::size_t k = 0; k < m; ++k)
                    memory.made[i * m + k] = product(grad, load<S>(slopes + before[g] + i * m + k));
            }
            for (std::size_t k = 0; k < m; ++k) memory.w.vectors[k] = of.w + of.table_row(first + k);
            S const* const c = memory.made.data();
            all_weighted_sums<V>(
                of.width, n, memory.w.vectors, [&](std::size_t i, std::size_t k) ROWAN_INLINED { return c[i * m + k]; },
                x_grad + row * of.width);
            all_weighted_sums<V>(
                of.width, m, memory.x.vectors, [&](std::size_t k, std::size_t i) ROWAN_INLINED { return c[i * m + k]; },
                w_grad + first * of.width);
        });
    }

private:
    /// Memory of one thread.
    template <class T>
    struct Memory {
        PaddedVectors<T> x, w;
        std::vector<sum_t<T>> scores, labels, terms, made;
    };

    /// Calls f(as<V>(), memory, g) for each group, on several threads if there is enough work.
    template <class T, class F>
    static void each_group(Cpu exec, TargetGroups<T> const& of, std::vector<std::size_t> const& before, F const& f) {
        if (of.groups == 0) return;
        std::size_t const work = before.back() / of.groups * of.width / 4 + 16;  // of one group
        for_ranges(exec, of.groups, work, [&](std::size_t begin, std::size_t end) {
            Memory<T> memory;
            on_lanes<sum_t<T>>(of.width, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t g = begin; g < end; ++g) {
                    if (g + 1 < end) {
                        for (std::size_t k = of.target(g + 1); k < of.target(g + 2); ++k)
                            prefetch_row<false>(of.w + of.table_row(k), of.width * sizeof(T));
                    }
                    f(as<V>(), memory, g);
                }
            });
        });
    }
};

}  // namespace rowan::inline v0::detail
