// rowan/op/detail/row_folds.hpp: sums and other folds of rows of adjacent elements, in 16 interleaved parts.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// Whether the parts of a row may begin with Fold::start, which changes no other number.
template <class Fold>
concept has_start = requires {
    Fold::start;
};

/// Whether Fold finds an element, and Fold::in_any_order finds an equal one if no element is NaN.
template <class Fold>
concept finds_element = requires {
    typename Fold::in_any_order;
};

/// The lanes of a and b: those of the first, or of the second half of each group of `width` lanes of both.
template <std::size_t width, std::size_t skip, class V, std::size_t... i>
ROWAN_INLINE V halves(V const& a, V const& b, std::index_sequence<i...>) {
#ifdef __clang__
    return V(__builtin_shufflevector(a.data, b.data, (i / (width / 2) * width + skip + i % (width / 2))...));
#else
    using S = typename V::value_type;
    typedef std::conditional_t<sizeof(S) == 4, std::int32_t, std::int64_t> places
        __attribute__((vector_size(sizeof(V))));
    return V(__builtin_shuffle(a.data, b.data, places{(i / (width / 2) * width + skip + i % (width / 2))...}));
#endif
}

/// fold_tree for V::size rows, whose parts are in `width` registers, each of 1, 2, 4 … rows: rows[0] gets a lane for each
/// row.
template <class Step, class V, std::size_t width = V::size>
ROWAN_INLINE void fold_registers(Step& step, V* rows) {
    constexpr std::size_t half = width / 2;
    constexpr std::make_index_sequence<V::size> lanes{};
    unrolled<half>([&](std::size_t k) ROWAN_INLINED {
        V const a = rows[2 * k], b = rows[2 * k + 1];
        rows[k] = halves<width, 0>(a, b, lanes);
        step(halves<width, half>(a, b, lanes), rows[k]);
    });
    if constexpr (half > 1) fold_registers<Step, V, half>(step, rows);
}

/// The numbers of the lanes: 0, 1, 2 …
template <class V, std::size_t... i>
ROWAN_INLINE V lane_numbers(std::index_sequence<i...>) {
    return V(typename V::vector{static_cast<typename V::value_type>(i)...});
}

/// The first n lanes from x, and `other` in those after them. If `whole`, V::size elements may be read.
template <class V, class T>
ROWAN_INLINE V load_some(T const* x, std::size_t n, bool whole, V const& other) {
    using S = typename V::value_type;
    if (whole) {
        V const lane = lane_numbers<V>(std::make_index_sequence<V::size>{});
        return choose(lane < V(static_cast<S>(n)), load<V>(x), other);
    }
    S lanes[V::size];
    other.store(lanes);
    for (std::size_t i = 0; i < std::min(n, V::size); ++i) lanes[i] = load<S>(x + i);
    return V::load(lanes);
}

/// Folds rows on a device. The Thrust specialization is in rowan/thrust/op/detail/row_folds.hpp.
template <class D>
struct RowFolds {
    static_assert(has_backend<D>, "rowan: reduce_sum on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

template <>
struct RowFolds<Cpu> {
    /// Whether rows are folded here. For integers, all orders have the same bits.
    template <class S, class Fold>
    static constexpr bool has = (has_start<Fold> && !std::is_integral_v<S>) ||
                                (finds_element<Fold> && is_machine_float<S>);

    /// Folds the blocks of rows of n elements, in type `S`: to[row, block].
    template <class S, class Fold, class T, class To>
    static void fold_blocks(Cpu exec, std::size_t rows, std::size_t n, T const* x, To* to) {
        std::size_t const blocks = (n + sum_block - 1) / sum_block, size = std::min(n, sum_block);
        T const* const end_of_x = x + rows * n;
        for_ranges(exec, rows * blocks, size, [&](std::size_t begin, std::size_t end) {
            on_lanes<S>((end - begin) * size, [&]<class V>(as<V>) ROWAN_INLINED {
                if (blocks == 1) return fold<V, Fold>(Rows<T>{x + begin * n, end_of_x, n}, end - begin, to + begin);
                for (std::size_t k = begin; k < end;) {
                    std::size_t const row = k / blocks, block = k % blocks, at = block * sum_block;
                    bool const last = block + 1 == blocks;
                    std::size_t const count = last ? 1 : std::min(end, (row + 1) * blocks - 1) - k;
                    fold<V, Fold>(Rows<T>{x + row * n + at, end_of_x, last ? n - at : sum_block}, count, to + k);
                    k += count;
                }
            });
        });
    }

private:
    /// Rows of n adjacent elements, in a matrix that ends at `end`.
    template <class T>
    struct Rows {
        T const *x, *end;
        std::size_t n;

        T const* row(std::size_t k) const { return x + k * n; }
        bool can_load(T const* p, std::size_t count) const { return static_cast<std::size_t>(end - p) >= count; }
    };

    /// Folds `count` rows with registers V, or with smaller ones if these have room for a row.
    template <class V, class Fold, class T, class To>
    ROWAN_INLINE static void fold(Rows<T> const& rows, std::size_t count, To* to) {
        if constexpr (is_register<V>) {
            using S = typename V::value_type;
            if constexpr (sizeof(V) > 16) {
                if (rows.n <= V::size / 2) return fold<LaneRegister<S, sizeof(V) / 2>, Fold>(rows, count, to);
            }
            std::size_t k = 0;
            if (rows.n <= V::size) {
                OnePart<V> const part{V(static_cast<S>(rows.n))};
                for (; k + V::size <= count && rows.can_load(rows.row(k + V::size - 1), V::size); k += V::size)
                    fold_together<V, Fold>(rows, k, V::size, part, to + k);
            }
            for (; k < count; k += V::size)
                fold_together<V, Fold>(rows, k, std::min(count - k, V::size), AllParts{}, to + k);
        } else if constexpr (has_start<Fold>) {
            for (std::size_t k = 0; k < count; ++k) store(interleaved_fold<V, Fold>(rows.n, rows.row(k)), to + k);
        }
    }

    /// Folds at most V::size rows from row k on.
    template <class V, class Fold, class T, class Parts, class To>
    ROWAN_INLINE static void fold_together(Rows<T> const& rows, std::size_t k, std::size_t count, Parts const& parts,
                                           To* to) {
        using S = typename V::value_type;
        FoldStep<V, Fold> step;
        V const results = results_of<V>(rows, k, count, parts, step);
        if constexpr (!finds_element<Fold>) {
            if (count == V::size) return store(results, to);
        }
        S numbers[V::size];
        results.store(numbers);
        bool const has_nan = step.has_nan();
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (finds_element<Fold>) numbers[i] = first_of(rows.n, rows.row(k + i), has_nan, numbers[i]);
            store(numbers[i], to + i);
        }
    }

    template <class V, class T, class Parts, class Step>
    ROWAN_INLINE static V results_of(Rows<T> const& rows, std::size_t k, std::size_t count, Parts const& parts,
                                     Step& step) {
        V const start = constant<V>(Step::start);
        V all[V::size];
        for (std::size_t i = 0; i < V::size; ++i) {
            all[i] = start;
            if (i < count) parts(rows, rows.row(k + i), step, all[i]);
        }
        fold_registers(step, all);
        return all[0];
    }

    /// A fold of registers: those of an element go to part k of 16 / V::size ones.
    template <class V, class Fold>
    struct FoldStep {
        static constexpr double start = Fold::start;

        ROWAN_INLINE void operator()(V const& from, V& to, std::size_t = 0) const { Fold{}(from, to); }
        bool has_nan() const { return false; }
    };

    /// The same if Fold finds an element. It remembers whether there is a NaN.
    template <class V, class Fold>
    requires finds_element<Fold>
    struct FoldStep<V, Fold> {
        using Step = typename Fold::in_any_order;
        static constexpr double start = Step::start;
        static constexpr std::size_t count = 16 / V::size;
        V nan[count];

        ROWAN_INLINE FoldStep() {
            unrolled<count>([&](std::size_t k) ROWAN_INLINED { nan[k] = constant<V>(0.0); });
        }
        ROWAN_INLINE void operator()(V const& from, V& to, std::size_t k = 0) {
            nan[k] = choose(from == from, nan[k], from);
            Step{}(from, to);
        }
        ROWAN_INLINE bool has_nan() const {
            using S = typename V::value_type;
            V all = nan[0];
            unrolled<count>([&](std::size_t k) ROWAN_INLINED { all = choose(nan[k] == nan[k], all, nan[k]); });
            S lanes[V::size];
            all.store(lanes);
            bool found = false;
            for (S const& x : lanes) found |= x != x;
            return found;
        }
    };

    /// Folds a row of at most V::size elements.
    template <class V>
    struct OnePart {
        V n;
        V lane = lane_numbers<V>(std::make_index_sequence<V::size>{});

        template <class T, class Step>
        ROWAN_INLINE void operator()(Rows<T> const&, T const* x, Step& step, V& to) const {
            step(choose(lane < n, load<V>(x), to), to);
        }
    };

    /// Folds 16 parts of a row, and these to one register.
    struct AllParts {
        template <class V, class T, class Step>
        ROWAN_INLINE void operator()(Rows<T> const& rows, T const* x, Step& step, V& to) const {
            constexpr std::size_t count = 16 / V::size;
            V parts[count];
            std::size_t const n = rows.n;
            std::size_t i = 0;
            unrolled<count>([&](std::size_t k) ROWAN_INLINED { parts[k] = to; });
            for (; i + 16 <= n; i += 16) {
                unrolled<count>([&](std::size_t k) ROWAN_INLINED { step(load<V>(x + i + k * V::size), parts[k], k); });
            }
            unrolled<count>([&](std::size_t k) ROWAN_INLINED {
                if (i + V::size <= n) {
                    step(load<V>(x + i), parts[k], k);
                } else if (i < n) {
                    step(load_some<V>(x + i, n - i, rows.can_load(x + i, V::size), to), parts[k], k);
                }
                i += V::size;
            });
            if constexpr (count > 1) fold_halves(parts, step, std::make_index_sequence<count / 2>());
            to = parts[0];
        }
    };

    /// The first NaN of n elements, or else the first that equals `found`: 0 and -0 are equal.
    template <class T, class S>
    static S first_of(std::size_t n, T const* x, bool has_nan, S const& found) {
        if (!has_nan && found != 0) return found;
        for (std::size_t i = 0; has_nan && i < n; ++i) {
            if (S const a = load<S>(x + i); a != a) return a;
        }
        for (std::size_t i = 0; found == 0 && i < n; ++i) {
            if (S const a = load<S>(x + i); a == 0) return a;
        }
        return found;
    }
};

/// Folds rows of n elements, in type `S`: 16 interleaved parts, then these as a tree. Rows of more than `sum_block` elements
/// are cut into blocks of so many, and their results are folded in the same way.
template <class S, class Fold, class D, class From, class To>
void fold_rows(D const& exec, std::size_t rows, std::size_t n, From const* x, To* to) {
    if (n <= sum_block) return RowFolds<D>::template fold_blocks<S, Fold>(exec, rows, n, x, to);
    std::size_t const blocks = (n + sum_block - 1) / sum_block;
    auto results = ElementLoops<D>::template scratch<S>(exec, rows * blocks);
    RowFolds<D>::template fold_blocks<S, Fold>(exec, rows, n, x, results.data());
    fold_rows<S, Fold>(exec, rows, blocks, static_cast<S const*>(results.data()), to);
}

}  // namespace rowan::inline v0::detail
