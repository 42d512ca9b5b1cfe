// rowan/thrust/op/detail/bag_kernels.hpp: what each thread of embedding_bag and its gradients computes.
#pragma once

#include <rowan/op/detail/bags.hpp>
#include <rowan/sequence/sequence_pool.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/sequence/sequence_pool.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// The bag that has id i.
template <class T, class I>
ROWAN_HD std::size_t bag_of(Bags<T, I> const& in, std::size_t i) {
    return find_block(in.offsets, in.bags, i);
}

/// The divisor of each bag's weighted sum; 0 means that the result is zeros.
template <class T, class I>
struct BagDivisor {
    using S = sum_t<T>;
    Bags<T, I> in;
    S* divisors;

    ROWAN_HD void operator()(std::size_t bag) const { divisors[bag] = in.divisor(bag); }
};

/// Weighted rows to be summed.
template <class T, class I>
struct BagRows {
    using Sum = sum_t<T>;
    Bags<T, I> in;

    template <int N>
    ROWAN_HD Chunk<Sum, N> at(std::int64_t i, std::size_t column) const {
        auto const at = static_cast<std::size_t>(i);
        auto wide = load_chunk<Sum, N>(in.row(at) + column);
        if (in.weights == nullptr) return wide;
        Sum const weight = in.weight(at);
        for (int e = 0; e < N; ++e) wide.x[e] = product(wide.x[e], weight);
        return wide;
    }
    ROWAN_HD void combine(Sum& sum, Sum const& more) const { sum = plus(sum, more); }
};

/// Weighted elements, reduced to the largest with its position.
template <class T, class I>
struct BagElements {
    using Sum = Extreme<sum_t<T>>;
    Bags<T, I> in;

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
template <class T, class I>
struct StoreBag {
    using S = sum_t<T>;
    Bags<T, I> in;
    S const* divisors;
    T* to;

    template <int N>
    ROWAN_HD void operator()(std::size_t bag, std::size_t, std::size_t column, Chunk<S, N> const& sum) const {
        S const divisor = divisors[bag];
        if (divisor == constant<S>(0.0)) return;
        Chunk<S, N> share;
        for (int e = 0; e < N; ++e) share.x[e] = in.share(bag, column + static_cast<std::size_t>(e), sum.x[e], divisor);
        store_chunk(share, to + bag * in.width + column);
    }
    template <int N>
    ROWAN_HD void empty(std::size_t, std::size_t) const {}
};

/// Stores which id has the largest element of a column, and writes the weighted gradient of that column to its row.
template <class T, class I>
struct GiveToLargest {
    Bags<T, I> in;
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
    Bags<T, I> in;
    S const* divisors;
    T const* out_grad;
    T* value;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = width.quotient(k), bag = bag_of(in, i);
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
    Bags<T, I> in;
    S* totals;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const bag = width.quotient(k), column = k - bag * width.by;
        totals[k] = in.total(bag, column);
    }
};

/// The gradients of the weights.
template <class T, class I>
struct WeightGrad {
    using S = sum_t<T>;
    Bags<T, I> in;
    S const *divisors, *totals;
    T const* out_grad;
    T* weight_grad;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const bag = bag_of(in, i);
        S const divisor = divisors[bag];
        if (divisor == constant<S>(0.0)) return;
        store(in.weight_grad(i, divisor, totals + bag * in.width, out_grad + bag * in.width), weight_grad + i);
    }
};

/// The same for max: the sum is over the columns in which the id has the largest element, rounded to T after each as on
/// the host.
template <class T, class I>
struct WeightGradOfLargest {
    using S = sum_t<T>;
    Bags<T, I> in;
    std::int64_t const* positions;
    T const* out_grad;
    T* weight_grad;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const bag = bag_of(in, i);
        S grad = load<S>(weight_grad + i);
        for (std::size_t k = 0; k < in.width; ++k) {
            std::size_t const at = bag * in.width + k;
            if (positions[at] != static_cast<std::int64_t>(i)) continue;
            grad = plus(grad, product(load<S>(in.row(i) + k), load<S>(out_grad + at)));
        }
        store(grad, weight_grad + i);
    }
};

}  // namespace rowan::inline v0::detail
