// rowan/thrust/op/detail/bag_kernels.hpp: what each thread of embedding_bag and its gradients computes.
#pragma once

#include <rowan/detail/functions.hpp>
#include <rowan/sequence/sequence_pool.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/sequence/sequence_pool.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// The bags of a lookup in device memory.
template <class T, class I>
struct DeviceBags {
    using S = sum_t<T>;

    T const* table;
    std::size_t height;
    std::size_t width;
    I const* ids;
    T const* weights;  // nullptr: all 1
    std::int64_t const* offsets;
    std::size_t bags;
    Pooling pool;

    /// Bad ids read row 0: the call has already failed, but parts of it run nevertheless.
    ROWAN_HD T const* row(std::size_t i) const {
        auto const id = static_cast<std::size_t>(std::int64_t{ids[i]});
        return table + (id < height ? id : 0) * width;
    }
    ROWAN_HD S weight(std::size_t i) const { return weights == nullptr ? constant<S>(1.0) : load<S>(weights + i); }
    ROWAN_HD std::size_t begin(std::size_t bag) const { return static_cast<std::size_t>(offsets[bag]); }
    ROWAN_HD std::size_t bag_of(std::size_t i) const { return find_block(offsets, bags, i); }
    ROWAN_HD S weighted(std::size_t i, std::size_t column) const {
        S const x = load<S>(row(i) + column);
        return weights == nullptr ? x : product(x, weight(i));
    }
};

/// The divisor of each bag's weighted sum; 0 means that the result is zeros.
template <class T, class I>
struct BagDivisor {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    S* divisors;

    ROWAN_HD void operator()(std::size_t bag) const {
        std::size_t const begin = in.begin(bag), end = in.begin(bag + 1);
        auto const n = static_cast<double>(end - begin);
        bool const mean = in.pool == Pooling::mean;
        if (!mean && in.pool != Pooling::sqrt) {
            divisors[bag] = constant<S>(1.0);
        } else if (in.weights == nullptr) {
            divisors[bag] = constant<S>(mean ? n : square_root(n));
        } else {
            S sum = constant<S>(0.0);
            for (std::size_t i = begin; i < end; ++i) {
                S const w = in.weight(i);
                sum = plus(sum, mean ? w : product(w, w));
            }
            divisors[bag] = mean ? sum : square_root(sum);
        }
    }
};

/// Weighted rows to be summed.
template <class T, class I>
struct BagRows {
    using Sum = sum_t<T>;
    DeviceBags<T, I> in;

    template <int N>
    ROWAN_HD Chunk<Sum, N> at(std::int64_t i, std::size_t column) const {
        auto const at = static_cast<std::size_t>(i);
        auto const found = *reinterpret_cast<Chunk<T, N> const*>(in.row(at) + column);
        Chunk<Sum, N> wide;
        for (int e = 0; e < N; ++e) {
            Sum const x = load<Sum>(found.x + e);
            wide.x[e] = in.weights == nullptr ? x : product(x, in.weight(at));
        }
        return wide;
    }
    ROWAN_HD void combine(Sum& sum, Sum const& more) const { sum = plus(sum, more); }
};

/// Weighted elements, reduced to the largest with its position.
template <class T, class I>
struct BagElements {
    using Sum = Extreme<sum_t<T>>;
    DeviceBags<T, I> in;

    template <int N>
    ROWAN_HD Chunk<Sum, N> at(std::int64_t i, std::size_t column) const {
        Chunk<Sum, N> wide;
        for (int e = 0; e < N; ++e)
            wide.x[e] = {in.weighted(static_cast<std::size_t>(i), column + static_cast<std::size_t>(e)), i};
        return wide;
    }
    ROWAN_HD void combine(Sum& best, Sum const& more) const {
        if (more_extreme<true>{}(more.x, best.x)) best = more;
    }
};

/// Stores the sums of bags, divided. Rows of bags that are empty or have divisor 0 are already zeros.
template <class T>
struct StoreBag {
    using S = sum_t<T>;
    S const* divisors;
    T* to;
    std::size_t width;

    template <int N>
    ROWAN_HD void operator()(std::size_t bag, std::size_t, std::size_t column, Chunk<S, N> const& sum) const {
        S const divisor = divisors[bag];
        if (divisor == constant<S>(0.0)) return;
        Chunk<T, N> made;
        for (int e = 0; e < N; ++e) store(quotient(sum.x[e], divisor), made.x + e);
        *reinterpret_cast<Chunk<T, N>*>(to + bag * width + column) = made;
    }
    template <int N>
    ROWAN_HD void empty(std::size_t, std::size_t) const {}
};

/// Stores which id has the largest element of a column, and writes the weighted gradient of that column to its row.
template <class T, class I>
struct GiveToLargest {
    DeviceBags<T, I> in;
    T const* out_grad;
    T* value;
    std::int64_t* positions;

    template <class E>
    ROWAN_HD void operator()(std::size_t bag, std::size_t, std::size_t column, Chunk<E, 1> const& best) const {
        using S = sum_t<T>;
        auto const i = static_cast<std::size_t>(best.x[0].row);
        std::size_t const at = bag * in.width + column;
        positions[at] = best.x[0].row;
        store(product(in.weight(i), load<S>(out_grad + at)), value + i * in.width + column);
    }
    template <int N>
    ROWAN_HD void empty(std::size_t, std::size_t) const {}
};

/// The gradient of the row of id i: grad · w / d, where d is the divisor of its bag.
template <class T, class I>
struct ShareOfBag {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    S const* divisors;
    T const* out_grad;
    T* value;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = width.quotient(k), bag = in.bag_of(i);
        S const divisor = divisors[bag];
        if (divisor == constant<S>(0.0)) return;
        S const g = load<S>(out_grad + bag * width.by + (k - i * width.by));
        store(product(g, quotient(in.weight(i), divisor)), value + k);
    }
};

/// The weighted sum of a column of a bag, in the order of the ids.
template <class T, class I>
struct SumOfBag {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    S* totals;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const bag = width.quotient(k), column = k - bag * width.by;
        S total = constant<S>(0.0);
        for (std::size_t i = in.begin(bag); i < in.begin(bag + 1); ++i)
            total = plus(total, product(in.weight(i), load<S>(in.row(i) + column)));
        totals[k] = total;
    }
};

/// The gradient of a weight: Σ (x - out · d') / d · grad over the columns, with d' = 1 for the mean, w / d for sqrt and
/// 0 for the sum.
template <class T, class I>
struct WeightGrad {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    S const *divisors, *totals;
    T const* out_grad;
    T* weight_grad;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const bag = in.bag_of(i);
        S const divisor = divisors[bag];
        if (divisor == constant<S>(0.0)) return;
        S slope = constant<S>(in.pool == Pooling::mean ? 1.0 : 0.0);
        if (in.pool == Pooling::sqrt) slope = quotient(in.weight(i), divisor);
        S grad = constant<S>(0.0);
        for (std::size_t k = 0; k < in.width; ++k) {
            S const x = load<S>(in.row(i) + k), total = quotient(totals[bag * in.width + k], divisor);
            S const change = quotient(S(x - product(total, slope)), divisor);
            grad = plus(grad, product(change, load<S>(out_grad + bag * in.width + k)));
        }
        store(grad, weight_grad + i);
    }
};

/// The same for max: the sum is over the columns in which the id has the largest element, rounded to T after each as on
/// the host.
template <class T, class I>
struct WeightGradOfLargest {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    std::int64_t const* positions;
    T const* out_grad;
    T* weight_grad;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const bag = in.bag_of(i);
        T grad = weight_grad[i];
        for (std::size_t k = 0; k < in.width; ++k) {
            std::size_t const at = bag * in.width + k;
            if (positions[at] != static_cast<std::int64_t>(i)) continue;
            store(plus(load<S>(&grad), product(load<S>(in.row(i) + k), load<S>(out_grad + at))), &grad);
        }
        weight_grad[i] = grad;
    }
};

}  // namespace rowan::inline v0::detail
