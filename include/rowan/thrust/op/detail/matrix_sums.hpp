// rowan/thrust/op/detail/matrix_sums.hpp: sums over the rows of a matrix on a device. 16 threads share a row.
#pragma once

#include <rowan/op/detail/matrix_sums.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/interleaved_sums.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Element i of a pass.
template <class S, class Pass>
struct PassTerm {
    Pass pass;
    FastDivmod width;

    ROWAN_HD S operator()(std::size_t i) const {
        std::size_t const row = width.quotient(i);
        return pass.template at<S>(row, i - row * width.by);
    }
};

template <class S, class Pass>
struct PassDone {
    Pass pass;
    ROWAN_HD void operator()(std::size_t row, S const& sum) const { pass.done(row, sum); }
};

/// Stores in `to` the sum of the n terms of a column in a block of 64 rows.
template <class Term, class To>
struct SumColumnBlock {
    Term term;
    std::size_t n, width;
    To* to;

    template <class V>
    ROWAN_HD void at(std::size_t block, std::size_t column) const {
        std::size_t const begin = block * block_size, end = n - begin < block_size ? n : begin + block_size;
        V sum = constant<V>(0.0);
        for (std::size_t row = begin; row < end; ++row) sum = plus(sum, term.template at<V>(row, column));
        store(sum, to + block * width + column);
    }
};

template <class System>
struct MatrixSums<ThrustDevice<System>> {
    template <class S, class Step, class... Pass>
    static void of_rows(ThrustDevice<System> const& exec, std::size_t rows, std::size_t width, Step const& step,
                        Pass const&... pass) {
        if (rows == 0 || width == 0) return;
        (sum_runs<S>(exec, rows * width, width, PassTerm<S, Pass>{pass, FastDivmod(width)}, PassDone<S, Pass>{pass}),
         ...);
        if constexpr (!std::is_same_v<Step, NoStep>)
            ElementLoops<ThrustDevice<System>>::template each_of_rows<S>(exec, rows, width, width, step);
    }

    template <class S, class... Sum, class... Pass>
    static void sum_blocks(ThrustDevice<System> const& exec, std::size_t n, std::size_t width,
                           std::tuple<Sum...> const& sums, Pass const&... pass) {
        of_rows<S>(exec, n, width, NoStep{}, pass...);
        std::size_t const blocks = n <= block_size ? 1 : (n + block_size - 1) / block_size;
        auto const of = [&]<class Term, class To>(ColumnSum<Term, To> const& one) {
            ElementLoops<ThrustDevice<System>>::template each_of_rows<S>(
                exec, blocks, width, width * block_size, SumColumnBlock<Term, To>{one.term, n, width, one.to});
        };
        std::apply([&](Sum const&... sum) { (of(sum), ...); }, sums);
    }
};

}  // namespace rowan::inline v0::detail
