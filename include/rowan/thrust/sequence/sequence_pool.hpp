// rowan/thrust/sequence/sequence_pool.hpp: sequence_pool on a device.
#pragma once

#include <rowan/sequence/sequence_pool.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/sequence/detail/row_copies.hpp>
#include <rowan/thrust/sequence/detail/sequence_sums.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// Stores divided sums as the rows of a value.
template <class T>
struct StorePooled {
    StoreTotal<T> store;
    Pooling pool;
    T const* rows;
    std::int64_t const* offsets;

    template <class S, int N>
    ROWAN_HD void operator()(std::size_t sequence, std::size_t length, std::size_t column, Chunk<S, N> sum) const {
        PoolDivision<S> const by(pool, length);
        if (by.divides) {
            T const* const first = rows + static_cast<std::size_t>(offsets[sequence]) * store.width + column;
            for (int e = 0; e < N; ++e) sum.x[e] = divided_sum(by, sum.x[e], first + e, store.width);
        }
        store(sequence, length, column, sum);
    }
    template <int N>
    ROWAN_HD void empty(std::size_t sequence, std::size_t column) const {
        store.template empty<N>(sequence, column);
    }
};

/// An element and the first row that contains it.
template <class S>
struct Extreme {
    S x;
    std::int64_t row;
};

/// Rows to be reduced to their extremes.
template <bool greatest, class T>
struct ExtremeRows {
    using Sum = Extreme<sum_t<T>>;

    T const* rows;
    std::size_t width;

    template <int N>
    ROWAN_HD Chunk<Sum, N> at(std::int64_t row, std::size_t column) const {
        T const* const p = rows + static_cast<std::size_t>(row) * width + column;
        Chunk<Sum, N> wide;
        for (int e = 0; e < N; ++e) wide.x[e] = {load<sum_t<T>>(p + e), row};
        return wide;
    }
    ROWAN_HD void combine(Sum& best, Sum const& more) const {
        if (more_extreme<greatest>{}(more.x, best.x)) best = more;
    }
};

template <class T>
struct StoreExtreme {
    T* to;
    std::size_t width;
    T padding;

    template <class E>
    ROWAN_HD void operator()(std::size_t sequence, std::size_t, std::size_t column, Chunk<E, 1> const& best) const {
        store(best.x[0].x, to + sequence * width + column);
    }
    template <int N>
    ROWAN_HD void empty(std::size_t sequence, std::size_t column) const {
        to[sequence * width + column] = padding;
    }
};

/// Copies the gradient of each extreme to the row that contains it.
template <class T>
struct ScatterExtreme {
    T const* out_grad;
    T* x_grad;
    std::size_t width;

    template <class E>
    ROWAN_HD void operator()(std::size_t sequence, std::size_t, std::size_t column, Chunk<E, 1> const& best) const {
        x_grad[static_cast<std::size_t>(best.x[0].row) * width + column] = out_grad[sequence * width + column];
    }
    template <int N>
    ROWAN_HD void empty(std::size_t, std::size_t) const {}
};

/// A tree of tasks that reduces the rows of each sequence.
inline SumTree sequence_sums(std::span<std::int64_t const> offsets) {
    SumTree tree;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) tree.add(s, offsets[s], 1, length_at(offsets, s));
    return tree;
}

/// Stores the first or last row of sequence s in row s, or padding if the sequence is empty.
template <class T>
struct TakeEnd {
    std::int64_t const* offsets;
    FastDivmod width;
    T const* rows;
    T* to;
    T padding;
    bool last;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const s = width.quotient(k);
        std::int64_t const begin = offsets[s], end = offsets[s + 1];
        std::int64_t const row = last ? end - 1 : begin;
        to[k] = begin == end ? padding : rows[static_cast<std::size_t>(row) * width.by + k - s * width.by];
    }
};

/// The gradient of a row, from that of its sequence; not for max and min.
template <class T>
struct SpreadGrad {
    std::int64_t const* offsets;
    std::size_t sequences;
    FastDivmod width;
    T const* out_grad;
    T* to;
    Pooling pool;

    ROWAN_HD void operator()(std::size_t k) const {
        using S = sum_t<T>;
        std::size_t const row = width.quotient(k);
        std::size_t const s = find_block(offsets, sequences, row);
        T const* const g = out_grad + s * width.by + k - row * width.by;
        if (pool == Pooling::first || pool == Pooling::last) {
            std::int64_t const end = pool == Pooling::first ? offsets[s] : offsets[s + 1] - 1;
            to[k] = static_cast<std::int64_t>(row) == end ? *g : dtype<T>::narrow(S{});
        } else {
            PoolDivision<S> const by(pool, static_cast<std::size_t>(offsets[s + 1] - offsets[s]));
            store(by.divides ? by(load<S>(g)) : load<S>(g), to + k);
        }
    }
};

template <class System>
struct SequencePool<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    template <class T>
    static void pool(Exec const& exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows,
                     Pooling pool, T padding, T* out) {
        if (width == 0 || offsets.size() == 1) return;
        if (pool == Pooling::first || pool == Pooling::last) {
            OnDevice<std::int64_t, Exec> const ends(exec, offsets);
            launch(exec, (offsets.size() - 1) * width,
                   TakeEnd<T>{ends.data(), FastDivmod(width), rows, out, padding, pool == Pooling::last});
        } else if (pool == Pooling::max) {
            extremes<true>(exec, offsets, width, rows, StoreExtreme<T>{out, width, padding});
        } else if (pool == Pooling::min) {
            extremes<false>(exec, offsets, width, rows, StoreExtreme<T>{out, width, padding});
        } else {
            OnDevice<std::int64_t, Exec> const begins(exec,
                                                      pool == Pooling::sum ? std::span<std::int64_t const>() : offsets);
            sequence_sums(offsets).run(exec, width, AddRows<T>{rows, width, nullptr},
                                       StorePooled<T>{{out, width, padding}, pool, rows, begins.data()},
                                       in_chunks(width, rows, static_cast<T const*>(out)));
        }
    }

    template <class T>
    static void grad(Exec const& exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows,
                     T const* out_grad, Pooling pool, T* x_grad) {
        std::size_t const size = static_cast<std::size_t>(offsets.back()) * width;
        if (size == 0) return;
        if (pool == Pooling::max || pool == Pooling::min) {
            launch(exec, size, FillWith<T>{x_grad, zero<T>()});
            ScatterExtreme<T> const scatter{out_grad, x_grad, width};
            pool == Pooling::max ? extremes<true>(exec, offsets, width, rows, scatter)
                                 : extremes<false>(exec, offsets, width, rows, scatter);
        } else {
            OnDevice<std::int64_t, Exec> const begins(exec, offsets);
            launch(exec, size,
                   SpreadGrad<T>{begins.data(), offsets.size() - 1, FastDivmod(width), out_grad, x_grad, pool});
        }
    }

private:
    template <bool greatest, class T, class Apply>
    static void extremes(Exec const& exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows,
                         Apply const& apply) {
        sequence_sums(offsets).run_chunks<1>(exec, width, ExtremeRows<greatest, T>{rows, width}, apply);
    }
};

}  // namespace rowan::inline v0::detail
