// rowan/op/detail/matrix_sums.hpp: sums over the rows and over the columns of a matrix, in orders that are the same on
// all devices.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/row_folds.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace rowan::inline v0::detail {

/// The last argument of MatrixSums::of_rows if only the sums are needed.
struct NoStep {
    template <class V>
    ROWAN_HD void at(std::size_t, std::size_t) const {}
};

/// Sums rows on a device. The Thrust specialization is in rowan/thrust/op/detail/matrix_sums.hpp.
template <class D>
struct MatrixSums {
    static_assert(has_backend<D>, "rowan: this operator on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

/// A sum over rows: to[column] = Σ term.at<V>(row, column).
template <class Term, class To>
struct ColumnSum {
    Term term;
    To* to;
};
template <class Term, class To>
ColumnSum(Term, To*) -> ColumnSum<Term, To>;

template <>
struct MatrixSums<Cpu> {
    /// For each row: for one pass after the other, calls pass.done(row, the sum of pass.at<V>(row, column)), in 16
    /// interleaved parts as interleaved_sum; then step.at<V>(row, column) for all columns. A pass may read what those
    /// before it have stored for its row. If a pass or the step has of_row(row), that is used in its place.
    template <class S, class Step, class... Pass>
    static void of_rows(Cpu exec, std::size_t rows, std::size_t width, Step const& step, Pass const&... pass) {
        for_ranges(exec, rows, width, [&](std::size_t begin, std::size_t end) {
            on_lanes<S>(width, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t row = begin; row < end;) {  // some rows, which stay in the cache, for all passes
                    std::size_t const first = row;
                    row = std::min(end, first + rows_at_once<S>(width));
                    (sum_rows<V, S>(pass, first, row, width), ...);
                    each_column<V>(step, first, row, width);
                }
            });
        });
    }

    /// For each of `sums`: to[block, column] = the sum of term.at<V>(row, column) over a block of 64 rows, in order; zeros
    /// if there are no rows. Before, passes over the rows as above; the terms may read what they store for a row.
    template <class S, class... Sum, class... Pass>
    static void sum_blocks(Cpu exec, std::size_t n, std::size_t width, std::tuple<Sum...> const& sums,
                           Pass const&... pass) {
        std::apply([&](Sum const&... sum) { sum_blocks_of<S>(exec, n, width, std::tie(pass...), sum...); }, sums);
    }

private:
    template <class S, class... Pass, class... Sum>
    static void sum_blocks_of(Cpu exec, std::size_t n, std::size_t width, std::tuple<Pass const&...> const& passes,
                              Sum const&... sum) {
        constexpr std::size_t most = 2048;                            // columns whose sums stay in the cache
        bool const together = sizeof...(Pass) != 0 && width <= most;  // as passes need whole rows
        if (sizeof...(Pass) != 0 && !together)
            std::apply([&](Pass const&... pass) { of_rows<S>(exec, n, width, NoStep{}, pass...); }, passes);
        std::size_t const pieces = (width + most - 1) / most, piece = std::min(width, most);
        std::size_t const blocks = std::max<std::size_t>((n + block_size - 1) / block_size, 1);
        std::size_t const at_once = together ? rows_at_once<S>(width) : block_size;
        for_ranges(exec, blocks * pieces, piece * std::min(n, block_size), [&](std::size_t begin, std::size_t end) {
            Buffer<S> totals(piece * sizeof...(Sum));
            on_lanes<S>(piece, [&]<class V>(as<V>) ROWAN_INLINED {
                for (; begin < end; ++begin) {
                    std::size_t const block = begin / pieces, first = begin % pieces * most;
                    std::size_t const lanes = std::min(most, width - first);
                    std::size_t row = block * block_size;
                    std::size_t const last = std::min(n, row + block_size);
                    std::fill(totals.begin(), totals.end(), constant<S>(0.0));
                    while (row < last) {
                        std::size_t const some = std::min(last, row + at_once);
                        if (together) sum_all_rows<V, S>(passes, row, some, width, std::index_sequence_for<Pass...>());
                        S* to;
                        for (; row + 4 <= some; row += 4) {
                            to = totals.data();
                            ((add_rows<V, 4>(sum.term, row, first, lanes, to), to += piece), ...);
                        }
                        for (; row < some; ++row) {
                            to = totals.data();
                            ((add_rows<V, 1>(sum.term, row, first, lanes, to), to += piece), ...);
                        }
                    }
                    S const* from = totals.data();
                    ((zip_with<V>(same_number{}, lanes, sum.to + block * width + first, from), from += piece), ...);
                }
            });
        });
    }

    /// As many rows as lanes of 16 bytes.
    template <class S>
    static constexpr std::size_t rows_together = std::max<std::size_t>(16 / sizeof(S), 1);

    /// As many rows as stay in the first cache.
    template <class S>
    static constexpr std::size_t rows_at_once(std::size_t width) {
        std::size_t const groups = 16384 / sizeof(S) / (width + 1) / rows_together<S>;
        return std::max<std::size_t>(groups, 1) * rows_together<S>;
    }

    template <class V, class S, class Pass>
    ROWAN_INLINE static S sum_of_row(Pass const& pass, std::size_t row, std::size_t width) {
        S part[16];
        auto const own = own_row(pass, row);
        interleave_with<V>(part, constant<S>(0.0), width, add_lanes{},
                           [&]<class U>(std::size_t i) ROWAN_INLINED { return own.template at<U>(row, i); });
        return tree_sum(part);
    }

    /// Calls pass.done for rows: those together have independent sums, so that no addition waits for the one before.
    template <class V, class S, class Pass>
    ROWAN_INLINE static void sum_rows(Pass const& pass, std::size_t row, std::size_t end, std::size_t width) {
        if constexpr (is_register<V>) {
            for (; row + rows_together<S> <= end; row += rows_together<S>) sum_together<V, S>(pass, row, width);
        }
        for (; row < end; ++row) pass.done(row, sum_of_row<V, S>(pass, row, width));
    }
    template <class V, class S, class Passes, std::size_t... i>
    ROWAN_INLINE static void sum_all_rows([[maybe_unused]] Passes const& passes, [[maybe_unused]] std::size_t row,
                                          [[maybe_unused]] std::size_t end, [[maybe_unused]] std::size_t width,
                                          std::index_sequence<i...>) {
        (sum_rows<V, S>(std::get<i>(passes), row, end, width), ...);
    }
    template <class V, class S, class Pass>
    ROWAN_INLINE static void sum_together(Pass const& pass, std::size_t row, std::size_t width) {
        using Sums = LaneRegister<S, 16>;
        constexpr std::size_t registers = 16 / V::size, rows = Sums::size, most = registers < 8 ? 8 / registers : 1;
        constexpr std::size_t step = most < rows ? most : rows;  // rows whose parts stay in registers
        S part[rows][16];
        for (std::size_t first = 0; first < rows; first += step) {
            auto const own = own_rows(pass, row + first, std::make_index_sequence<step>());
            V parts[step * registers];
            unrolled<step * registers>([&](std::size_t k) ROWAN_INLINED { parts[k] = constant<V>(0.0); });
            std::size_t i = 0;
            for (; i + 16 <= width; i += 16) {
                unrolled<step * registers>([&](std::size_t k) ROWAN_INLINED {
                    parts[k] = plus(parts[k], own[k / registers].template at<V>(row + first + k / registers,
                                                                                i + k % registers * V::size));
                });
            }
            unrolled<step>([&](std::size_t k) ROWAN_INLINED {
                S* const to = part[first + k];
                unrolled<registers>([&](std::size_t r)
                                        ROWAN_INLINED { parts[k * registers + r].store(to + r * V::size); });
                for (std::size_t at = i; at < width; ++at)
                    to[at - i] = plus(to[at - i], own[k].template at<S>(row + first + k, at));
            });
        }
        Sums sums[rows];
        unrolled<rows>([&](std::size_t k) ROWAN_INLINED {
            Sums quarters[16 / rows];
            unrolled<16 / rows>([&](std::size_t r) ROWAN_INLINED { quarters[r] = Sums::load(part[k] + r * rows); });
            fold_halves(quarters, add_lanes{}, std::make_index_sequence<8 / rows>());
            sums[k] = quarters[0];
        });
        add_lanes add;
        fold_registers(add, sums);
        pass.done(row, sums[0]);
    }

    template <class V, class Step>
    ROWAN_INLINE static void each_column(Step const& step, std::size_t row, std::size_t end, std::size_t width) {
        if constexpr (!std::is_same_v<Step, NoStep>) {
            for (; width != 0 && row < end; ++row) {
                auto const own = step.of_row(row);
                each_with<V>(width,
                             [&]<class U>(std::size_t column) ROWAN_INLINED { own.template at<U>(row, column); });
            }
        }
    }

    /// Adds the terms of `count` rows to sums, one after the other.
    template <class V, std::size_t count, class Term, class S>
    ROWAN_INLINE static void add_rows(Term const& term, std::size_t row, std::size_t first, std::size_t lanes,
                                      S* sums) {
        [&]<std::size_t... k>(std::index_sequence<k...>) ROWAN_INLINED {
            auto const rows = own_rows(term, row, std::make_index_sequence<count>());
            each_with<V>(lanes, [&]<class U>(std::size_t i) ROWAN_INLINED {
                U sum = load<U>(sums + i);
                ((sum = plus(sum, rows[k].template at<U>(row + k, first + i))), ...);
                store(sum, sums + i);
            });
        }
        (std::make_index_sequence<count>{});
    }
    template <class Term>
    struct SameTerm {
        Term const& term;

        template <class V>
        ROWAN_INLINE V at(std::size_t row, std::size_t column) const {
            return term.template at<V>(row, column);
        }
    };
    /// The term for a row: a copy that stores do not change, if it has one.
    template <class Term>
    ROWAN_INLINE static auto own_row(Term const& term, std::size_t row) {
        if constexpr (requires { term.of_row(row); }) {
            return term.of_row(row);
        } else {
            return SameTerm<Term>{term};
        }
    }
    template <class Term, std::size_t... k>
    ROWAN_INLINE static auto own_rows(Term const& term, std::size_t row, std::index_sequence<k...>) {
        return std::array<decltype(own_row(term, row)), sizeof...(k)>{own_row(term, row + k)...};
    }
};

/// An element of a matrix.
template <class T>
struct MatrixElement {
    T const* x;
    std::size_t width;

    template <class V>
    ROWAN_HD_INLINE V at(std::size_t row, std::size_t column) const {
        return load<V>(x + row * width + column);
    }
};

/// For each of `sums`: to[column] = the sum of term.at<V>(row, column) over the rows: in blocks of 64, then the sums of
/// blocks in the same way, as in merge. The sum of no rows is 0. Before, passes as in of_rows.
/// cost     temporary memory for the sums of blocks: 1/64 of the terms
template <class S, class D, class... Sum, class... Pass>
void column_sums(D const& exec, std::size_t n, std::size_t width, std::tuple<Sum...> const& sums, Pass const&... pass) {
    if (n <= block_size) return MatrixSums<D>::template sum_blocks<S>(exec, n, width, sums, pass...);
    std::size_t const blocks = (n + block_size - 1) / block_size, size = blocks * width;
    auto of_blocks = ElementLoops<D>::template scratch<S>(exec, size * sizeof...(Sum));
    S* const to = of_blocks.data();
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        MatrixSums<D>::template sum_blocks<S>(exec, n, width,
                                              std::tuple{ColumnSum{std::get<k>(sums).term, to + k * size}...}, pass...);
        column_sums<S>(exec, blocks, width,
                       std::tuple{ColumnSum{MatrixElement<S>{to + k * size, width}, std::get<k>(sums).to}...});
    }
    (std::index_sequence_for<Sum...>{});
}

}  // namespace rowan::inline v0::detail
