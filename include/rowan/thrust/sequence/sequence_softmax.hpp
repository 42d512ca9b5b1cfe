// rowan/thrust/sequence/sequence_softmax.hpp: sequence_softmax on a device.
#pragma once

#include <rowan/detail/functions.hpp>
#include <rowan/sequence/sequence_softmax.hpp>
#include <rowan/thrust/sequence/sequence_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// Maps element k of a batch to an index in [sequences, width]: its sequence and column.
struct SequenceElement {
    std::int64_t const* offsets;
    std::size_t sequences;
    FastDivmod width;

    ROWAN_HD std::size_t column_of(std::size_t k) const {
        std::size_t const row = width.quotient(k);
        return find_block(offsets, sequences, row) * width.by + k - row * width.by;
    }
};

template <class T, class S>
struct ShiftedExp {
    SequenceElement at;
    T const* x;
    S const* greatest;
    S* to;
    ROWAN_HD void operator()(std::size_t k) const { to[k] = exp_of(S(load<S>(x + k) - greatest[at.column_of(k)])); }
};

template <class T, class S>
struct Normalized {
    SequenceElement at;
    S const* e;
    S const* total;
    T* to;
    ROWAN_HD void operator()(std::size_t k) const { store(quotient(e[k], total[at.column_of(k)]), to + k); }
};

template <class T, class S>
struct SoftmaxProduct {
    T const* out;
    T const* out_grad;
    S* to;
    ROWAN_HD void operator()(std::size_t k) const { to[k] = product(load<S>(out + k), load<S>(out_grad + k)); }
};

template <class T, class S>
struct SoftmaxGrad {
    SequenceElement at;
    T const* out;
    T const* out_grad;
    S const* dot;
    T* to;
    ROWAN_HD void operator()(std::size_t k) const {
        S const rest = load<S>(out_grad + k) - dot[at.column_of(k)];
        store(product(load<S>(out + k), rest), to + k);
    }
};

/// Computed rows in the type of sums, to be summed.
template <class S>
struct ComputedRows {
    using Sum = S;

    S const* rows;
    std::size_t width;

    template <int N>
    ROWAN_HD Chunk<S, N> at(std::int64_t row, std::size_t column) const {
        return *reinterpret_cast<Chunk<S, N> const*>(rows + static_cast<std::size_t>(row) * width + column);
    }
    ROWAN_HD void combine(S& sum, S const& more) const { sum = plus(sum, more); }
};

/// Stores reduced columns in the type of sums.
template <class S>
struct KeepTotal {
    S* to;
    std::size_t width;

    template <int N>
    ROWAN_HD void operator()(std::size_t sequence, std::size_t, std::size_t column, Chunk<S, N> const& sum) const {
        for (int e = 0; e < N; ++e) to[sequence * width + column + static_cast<std::size_t>(e)] = sum.x[e];
    }
    ROWAN_HD void operator()(std::size_t sequence, std::size_t, std::size_t column,
                             Chunk<Extreme<S>, 1> const& best) const {
        to[sequence * width + column] = best.x[0].x;
    }
    template <int N>
    ROWAN_HD void empty(std::size_t, std::size_t) const {}
};

/// cost     temporary memory for all of x in the type of sums, more than on the host
template <class System>
struct SequenceSoftmax<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void run(Exec const& exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T* out) {
        using S = sum_t<T>;
        std::size_t const size = static_cast<std::size_t>(offsets.back()) * width;
        if (size == 0) return;
        auto const tree = sequence_sums(offsets);
        OnDevice<std::int64_t, Exec> const begins(exec, offsets);
        OnDevice<S, Exec> const totals(exec, (offsets.size() - 1) * width), computed(exec, size);
        SequenceElement const at{begins.data(), offsets.size() - 1, FastDivmod(width)};
        KeepTotal<S> const keep{totals.data(), width};
        tree.run_chunks<1>(exec, width, ExtremeRows<true, T>{rows, width}, keep);
        launch(exec, size, ShiftedExp<T, S>{at, rows, totals.data(), computed.data()});
        tree.run(exec, width, ComputedRows<S>{computed.data(), width}, keep,
                 in_chunks(width, static_cast<S const*>(computed.data())));
        launch(exec, size, Normalized<T, S>{at, computed.data(), totals.data(), out});
    }

    template <class T>
    static void grad(Exec const& exec, std::span<std::int64_t const> offsets, std::size_t width, T const* out,
                     T const* out_grad, T* x_grad) {
        using S = sum_t<T>;
        std::size_t const size = static_cast<std::size_t>(offsets.back()) * width;
        if (size == 0) return;
        OnDevice<std::int64_t, Exec> const begins(exec, offsets);
        OnDevice<S, Exec> const totals(exec, (offsets.size() - 1) * width), computed(exec, size);
        launch(exec, size, SoftmaxProduct<T, S>{out, out_grad, computed.data()});
        sequence_sums(offsets).run(exec, width, ComputedRows<S>{computed.data(), width},
                                   KeepTotal<S>{totals.data(), width},
                                   in_chunks(width, static_cast<S const*>(computed.data())));
        launch(exec, size,
               SoftmaxGrad<T, S>{
                   {begins.data(), offsets.size() - 1, FastDivmod(width)}, out, out_grad, totals.data(), x_grad});
    }
};

}  // namespace rowan::inline v0::detail
