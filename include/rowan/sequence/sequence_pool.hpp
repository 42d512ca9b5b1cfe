// rowan/sequence/sequence_pool.hpp: sequence_pool, which reduces each sequence to one row.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/pool_bags.hpp>
#include <rowan/detail/pooling.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Divides a sum by the length of its sequence (mean), by the square root of the length (sqrt), or by 1. Integers are
/// truncated towards zero.
template <class S>
struct PoolDivision {
    bool divides;
    bool by_length;
    std::size_t length;
    double divisor;

    ROWAN_HD PoolDivision(Pooling pool, std::size_t n)
        : divides((pool == Pooling::mean || pool == Pooling::sqrt) && n != 1), by_length(pool == Pooling::mean),
          length(n), divisor(!divides || by_length ? static_cast<double>(n) : square_root(static_cast<double>(n))) {}

    ROWAN_FORMULA V operator()(V const& x) const {
        if constexpr (!std::integral<S>) {
            return quotient(x, constant<V>(divisor));
        } else if (by_length) {
            using Wide = std::common_type_t<S, std::int64_t>;
            return static_cast<S>(static_cast<Wide>(x) / static_cast<Wide>(length));
        } else {
            return static_cast<S>(quotient(static_cast<double>(x), divisor));
        }
    }
};

/// The divided sum of a column of a sequence whose first element is at x. Where it overflows, it is formed again.
template <class S, class T>
ROWAN_HD S divided_sum(PoolDivision<S> const& by, S const& total, T const* x, std::size_t width) {
    if constexpr (is_machine_float<S>) {
        return mean_of_sum(total, by.divisor, [&] {
            double sum = 0;
            for (std::size_t i = 0; i < by.length; ++i)
                sum += static_cast<double>(product(load<S>(x + i * width), S(mean_factor<S>)));
            return static_cast<S>(sum);
        });
    } else {
        return by(total);
    }
}

/// Divides the sums of one sequence, whose rows begin at x.
template <class S, class T>
void divide_sums(Pooling pool, std::size_t length, std::size_t width, T const* x, S const* sums, T* to) {
    PoolDivision<S> const by(pool, length);
    if (!by.divides) return copy_lanes<S>(width, sums, to);
    if constexpr (is_machine_float<S>) {
        bool const finite =
            on_lanes<S>(width, [&]<class V>(as<V>) ROWAN_INLINED { return map_finite<V>(by, width, sums, to); });
        for (std::size_t k = 0; !finite && k < width; ++k) {
            if (!is_finite(sums[k])) store(divided_sum(by, S(sums[k]), x + k, width), to + k);
        }
    } else {
        map_lanes<S>(by, width, sums, to);
    }
}

/// Divides the gradient of one sequence.
template <class S, class From, class To>
void divide(Pooling pool, std::size_t length, std::size_t width, From const* from, To* to) {
    PoolDivision<S> const by(pool, length);
    by.divides ? map_lanes<S>(by, width, from, to) : copy_lanes<S>(width, from, to);
}

/// Writes the gradient of the n > 0 rows of a sequence that was reduced by max or min.
template <bool greatest, class T>
void extreme_grad(T const* rows, std::size_t n, std::size_t width, T const* out_grad, T* x_grad) {
    using S = sum_t<T>;
    std::vector<S> best(width);
    std::vector<std::size_t> first(width);
    copy_lanes<S>(width, rows, best.data());
    for (std::size_t i = 1; i < n; ++i) {
        for (std::size_t k = 0; k < width; ++k) {
            S const x = dtype<T>::widen(rows[i * width + k]);
            if (!more_extreme<greatest>{}(x, best[k])) continue;
            best[k] = x;
            first[k] = i;
        }
    }
    std::fill_n(x_grad, n * width, zero<T>());
    for (std::size_t k = 0; k < width; ++k) x_grad[first[k] * width + k] = out_grad[k];
}

/// The numbers [begin, end), of which a window of at most longest + 4096 is in memory.
class RunningRows {
public:
    RunningRows(std::int64_t begin, std::int64_t end, std::size_t longest) : end_(end) {
        constexpr std::size_t more = 4096;
        if (longest != 0) numbers_.resize(std::min(static_cast<std::size_t>(end - begin), longest + more));
        std::iota(numbers_.begin(), numbers_.end(), begin);
    }

    /// The numbers from `first` on: n and, for prefetching, at least 64 more unless the range ends before.
    std::span<std::int64_t const> from(std::int64_t first, std::size_t n) {
        constexpr std::size_t ahead = 64;
        std::size_t const wanted = std::min(static_cast<std::size_t>(end_ - first), n + ahead);
        auto const skipped = static_cast<std::size_t>(first - numbers_.front());
        if (skipped + wanted <= numbers_.size()) return std::span(numbers_).subspan(skipped);
        numbers_.resize(std::min(numbers_.size(), static_cast<std::size_t>(end_ - first)));
        std::iota(numbers_.begin(), numbers_.end(), first);
        return numbers_;
    }

private:
    std::vector<std::int64_t> numbers_;
    std::int64_t end_;
};

/// Device-specific implementation of sequence_pool. The result for an empty sequence is `padding`.
template <class D>
struct SequencePool {
    static_assert(has_backend<D>,
                  "rowan: sequence_pool on a Thrust device needs #include <rowan/thrust/sequence/sequence_pool.hpp>");
};

template <>
struct SequencePool<Cpu> {
    template <class T>
    static void pool(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, Pooling pool,
                     T padding, T* out) {
        using S = sum_t<T>;
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            bool const sums = pool == Pooling::sum || pool == Pooling::mean || pool == Pooling::sqrt;
            std::size_t const longest = longest_of(offsets, s, end);
            RunningRows positions(offsets[s], offsets[end], sums ? longest : 0);
            BlockSum<T, S> sum(rows, width, longest);
            std::vector<S> best(sums ? 0 : width);
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s);
                T const* const first = rows + static_cast<std::size_t>(offsets[s]) * width;
                T* const to = out + s * width;
                if (n == 0) {
                    std::fill_n(to, width, padding);
                } else if (sums) {
                    auto const window = positions.from(offsets[s], n);
                    detail::divide_sums<S>(pool, n, width, first, sum(window.data(), n, window.size() - n), to);
                } else if (pool == Pooling::first || pool == Pooling::last) {
                    std::copy_n(pool == Pooling::first ? first : first + (n - 1) * width, width, to);
                } else {
                    pool == Pooling::max ? detail::column_extremes<true>(first, n, width, best.data())
                                         : detail::column_extremes<false>(first, n, width, best.data());
                    copy_lanes<S>(width, static_cast<S const*>(best.data()), to);
                }
            }
        });
    }

    template <class T>
    static void grad(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows,
                     T const* out_grad, Pooling pool, T* x_grad) {
        using S = sum_t<T>;
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s);
                if (n == 0) continue;
                std::size_t const begin = static_cast<std::size_t>(offsets[s]) * width;
                T const* const g = out_grad + s * width;
                T* const to = x_grad + begin;
                if (pool == Pooling::max) {
                    detail::extreme_grad<true>(rows + begin, n, width, g, to);
                } else if (pool == Pooling::min) {
                    detail::extreme_grad<false>(rows + begin, n, width, g, to);
                } else if (pool == Pooling::first || pool == Pooling::last) {
                    std::fill_n(to, n * width, zero<T>());
                    std::copy_n(g, width, pool == Pooling::first ? to : to + (n - 1) * width);
                } else {
                    detail::divide<S>(pool, n, width, g, to);
                    detail::repeat(static_cast<T const*>(to), width, n - 1, to + width);
                }
            }
        });
    }
};

}  // namespace detail

/// Reduces each sequence of the last level to one row, column by column, and drops that level. The result for an empty
/// sequence is `pad_value`. Sums are formed in input order and blocks of 64, as in merge. Means of integers are
/// truncated towards zero; the mean of booleans is their logical and. Max and min return the first NaN of a column.
/// Paddle's sequence_pool.
/// shapes   x [n, ...] -> [number of sequences, ...] with the upper levels of x
/// errors   ShapeError if x has no levels; ValueError if the element type is an integer and cannot represent pad_value
/// cost     one read of x and one write of the result; parallel over sequences; bitwise equal results for any number of
///          threads, and on devices
template <class T, device D>
LoDTensor<T, D> sequence_pool(D const& exec, LoDTensor<T, D> const& x, Pooling pool, double pad_value = 0) {
    detail::check_sequences(exec, "x", x);
    detail::check_pool(pool);
    T const padding = detail::checked_number<T>("pad_value", pad_value);
    auto const offsets = detail::last_level(x.lod());
    auto shape = x.shape();
    shape[0] = offsets.size() - 1;
    auto result = detail::new_tensor<T>(exec, shape);
    detail::SequencePool<D>::pool(exec, offsets, x.value().row_size(), x.value().data(), pool, padding, result.data());
    return {std::move(result), detail::upper_levels(x.lod())};
}

/// The adjoint of sequence_pool: the gradient of x. For max and min, the first row that holds the extremum of a column,
/// or its first NaN, receives the whole gradient.
/// shapes   x [n, ...], out_grad [number of sequences, ...] -> [n, ...] with the levels of x
/// errors   ShapeError if x has no levels or out_grad another shape
/// cost     one read of out_grad and one write of the result; for max and min also one read of x and a second write
template <class T, device D>
LoDTensor<T, D> sequence_pool_grad(D const& exec, LoDTensor<T, D> const& x,
                                   std::type_identity_t<Tensor<T, D>> const& out_grad, Pooling pool) {
    detail::check_sequences(exec, "x", x);
    detail::check_usable(exec, out_grad);
    detail::check_pool(pool);
    auto const offsets = detail::last_level(x.lod());
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(offsets.size()) - 1);
    detail::check_trailing("out_grad", out_grad, x.shape());
    auto x_grad = detail::new_tensor<T>(exec, x.shape());
    detail::SequencePool<D>::grad(exec, offsets, x.value().row_size(), x.value().data(), out_grad.data(), pool,
                                  x_grad.data());
    return {std::move(x_grad), x.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_pool(LoDTensor<T, Device> const& x, Pooling pool, double pad_value = 0) {
    return sequence_pool(x.device(), x, pool, pad_value);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_pool_grad(LoDTensor<T, Device> const& x,
                                        std::type_identity_t<Tensor<T, Device>> const& out_grad, Pooling pool) {
    return sequence_pool_grad(x.device(), x, out_grad, pool);
}

}  // namespace rowan::inline v0
