// rowan/op/detail/matrix_sums.hpp: sums over the rows and over the columns of a matrix, in orders that are the same on
// all devices.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>

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

template <>
struct MatrixSums<Cpu> {
    /// For each row: for one pass after the other, calls pass.done(row, the sum of pass.at<V>(row, column)), in 16
    /// interleaved parts as interleaved_sum; then step.at<V>(row, column) for all columns. A pass may read what those
    /// before it have stored for its row.
    template <class S, class Step, class... Pass>
    static void of_rows(Cpu exec, std::size_t rows, std::size_t width, Step const& step, Pass const&... pass) {
        for_ranges(exec, rows, width, [&](std::size_t begin, std::size_t end) {
            on_lanes<S>(width, [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t row = begin; row < end; ++row) {
                    (pass.done(row, sum_of_row<V, S>(pass, row, width)), ...);
                    if constexpr (!std::is_same_v<Step, NoStep>) {
                        if (width == 0) continue;
                        auto const own = step.of_row(row);
                        each_with<V>(
                            width, [&]<class U>(std::size_t column) ROWAN_INLINED { own.template at<U>(row, column); });
                    }
                }
            });
        });
    }

    /// to[block, column] = the sum of term.at<V>(row, column) over a block of 64 rows, in order; zeros if there are no
    /// rows.
    template <class S, class Term, class To>
    static void sum_blocks(Cpu exec, std::size_t n, std::size_t width, Term const& term, To* to) {
        constexpr std::size_t most = 2048;  // columns whose sums stay in the cache
        std::size_t const pieces = (width + most - 1) / most, piece = std::min(width, most);
        std::size_t const blocks = std::max<std::size_t>((n + block_size - 1) / block_size, 1);
        for_ranges(exec, blocks * pieces, piece * std::min(n, block_size), [&](std::size_t begin, std::size_t end) {
            Buffer<S> sums(piece);
            for (; begin < end; ++begin) {
                std::size_t const block = begin / pieces, first = begin % pieces * most;
                std::size_t const lanes = std::min(most, width - first), last = std::min(n, (block + 1) * block_size);
                std::fill(sums.begin(), sums.end(), constant<S>(0.0));
                on_lanes<S>(lanes, [&]<class V>(as<V>) ROWAN_INLINED {
                    for (std::size_t row = block * block_size; row < last; ++row) {
                        each_with<V>(lanes, [&]<class U>(std::size_t k) ROWAN_INLINED {
                            store(plus(load<U>(sums.data() + k), term.template at<U>(row, first + k)), sums.data() + k);
                        });
                    }
                });
                copy_lanes<S>(lanes, sums.data(), to + block * width + first);
            }
        });
    }

private:
    template <class V, class S, class Pass>
    ROWAN_INLINE static S sum_of_row(Pass const& pass, std::size_t row, std::size_t width) {
        S part[16];
        interleave_with<V>(part, constant<S>(0.0), width, add_lanes{},
                           [&]<class U>(std::size_t i) ROWAN_INLINED { return pass.template at<U>(row, i); });
        return tree_sum(part);
    }
};

/// An element of a matrix.
template <class T>
struct MatrixElement {
    T const* x;
    std::size_t width;

    template <class V>
    ROWAN_HD V at(std::size_t row, std::size_t column) const {
        return load<V>(x + row * width + column);
    }
};

/// to[column] = the sum of term.at<V>(row, column) over the rows: in blocks of 64, then the sums of blocks in the same
/// way, as in merge. The sum of no rows is 0.
/// cost     temporary memory for the sums of blocks: 1/64 of the terms
template <class S, class D, class Term, class To>
void column_sums(D const& exec, std::size_t n, std::size_t width, Term const& term, To* to) {
    auto const blocks_of = [](std::size_t rows) { return (rows + block_size - 1) / block_size; };
    auto const add = [&]<class From, class Out>(From const& from, std::size_t rows, Out* out) {
        MatrixSums<D>::template sum_blocks<S>(exec, rows, width, from, out);
    };
    if (n <= block_size) return add(term, n, to);
    std::size_t blocks = blocks_of(n);
    auto first = ElementLoops<D>::template scratch<S>(exec, blocks * width);
    auto second = ElementLoops<D>::template scratch<S>(exec, blocks <= block_size ? 0 : blocks_of(blocks) * width);
    add(term, n, first.data());
    S *from = first.data(), *more = second.data();
    for (; blocks > block_size; blocks = blocks_of(blocks), std::swap(from, more))
        add(MatrixElement<S>{from, width}, blocks, more);
    add(MatrixElement<S>{from, width}, blocks, to);
}

}  // namespace rowan::inline v0::detail
