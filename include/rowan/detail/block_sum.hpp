// rowan/detail/block_sum.hpp: BlockSum, the sum of a row's contributions in the documented order.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Contributions per block: the first level of the sum adds blocks of 64 contributions in input order, the next level
/// adds blocks of 64 of these sums, and so on.
inline constexpr std::size_t block_size = 64;

/// Sums the rows of a value at given positions. It owns the memory of the partial sums, so each thread needs its own.
template <class T, class S>
class BlockSum {
public:
    /// `most` is the maximum number of contributions of one sum.
    BlockSum(T const* value, std::size_t width, std::size_t most)
        : value_(value), width_(width), ahead_(lookahead(width * sizeof(T))) {
        std::size_t levels = 1;
        for (std::size_t n = most; n > block_size; n = (n + block_size - 1) / block_size) ++levels;
        partial_.resize(levels * width);
    }

    /// Returns the sum of the rows at the n > 0 positions from `first` on, valid until the next call. `ahead` more
    /// positions follow in the array; their rows are prefetched.
    S const* operator()(std::int64_t const* first, std::size_t n, std::size_t ahead) {
        if constexpr (std::is_same_v<S, T>) {
            if (n == 1) {
                if (ahead >= ahead_) prefetch_row<false>(row(first[ahead_]), width_ * sizeof(T));
                return row(*first);
            }
        }
        sum(first, n, n + ahead, partial_.data());
        return partial_.data();
    }

private:
    T const* row(std::int64_t position) const { return value_ + static_cast<std::size_t>(position) * width_; }

    void sum(std::int64_t const* first, std::size_t n, std::size_t known, S* out) {
        if (n <= block_size) {
            on_lanes<S>(width_, [&]<class V>(as<V>) ROWAN_INLINED { sum_block<V>(first, n, known, out); });
            return;
        }
        std::size_t span = block_size;
        while (span * block_size < n) span *= block_size;
        sum(first, span, known, out);
        for (std::size_t i = span; i < n; i += span) {
            sum(first + i, std::min(span, n - i), known - i, out + width_);
            for_lanes<S>(add_lanes{}, width_, static_cast<S const*>(out + width_), out);
        }
    }

    // Some columns at a time, whose sums stay in registers. The rows that follow are prefetched with the first ones.
    template <class V>
    ROWAN_INLINE void sum_block(std::int64_t const* first, std::size_t n, std::size_t known, S* out) const {
        if constexpr (is_register<V>) {
            std::size_t column = 0;
            for (; column + 4 * V::size <= width_; column += 4 * V::size)
                sum_columns<V, 4>(first, n, known, column, out + column);
            for (; column + V::size <= width_; column += V::size)
                sum_columns<V, 1>(first, n, known, column, out + column);
            for (; column < width_; ++column) sum_columns<S, 1>(first, n, known, column, out + column);
        } else {
            for (std::size_t i = 0; i < n; ++i) {
                prefetch_ahead(i, first, known);
                i == 0 ? copy_lanes<S>(width_, row(*first), out)
                       : for_lanes<S>(add_lanes{}, width_, row(first[i]), out);
            }
        }
    }
    template <class V, std::size_t count>
    ROWAN_INLINE void sum_columns(std::int64_t const* first, std::size_t n, std::size_t known, std::size_t column,
                                  S* out) const {
        constexpr std::size_t lanes = lanes_in<V>;
        V sums[count];
        for (std::size_t k = 0; k < count; ++k) sums[k] = load<V>(row(*first) + column + k * lanes);
        if (column == 0) prefetch_ahead(0, first, known);
        for (std::size_t i = 1; i < n; ++i) {
            if (column == 0) prefetch_ahead(i, first, known);
            T const* const from = row(first[i]) + column;
            for (std::size_t k = 0; k < count; ++k) sums[k] = plus(sums[k], load<V>(from + k * lanes));
        }
        for (std::size_t k = 0; k < count; ++k) store(sums[k], out + k * lanes);
    }
    ROWAN_INLINE void prefetch_ahead(std::size_t i, std::int64_t const* first, std::size_t known) const {
        if (i + ahead_ < known) prefetch_row<false>(row(first[i + ahead_]), width_ * sizeof(T));
    }

    T const* value_;
    std::size_t width_;
    std::size_t ahead_;
    Buffer<S> partial_;
};

}  // namespace rowan::inline v0::detail
