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
            for (std::size_t i = 0; i < n; ++i) {
                if (i + ahead_ < known) prefetch_row<false>(row(first[i + ahead_]), width_ * sizeof(T));
                if (i == 0) {
                    copy_lanes<S>(width_, row(*first), out);
                } else {
                    for_lanes<S>(add_lanes{}, width_, row(first[i]), out);
                }
            }
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

    T const* value_;
    std::size_t width_;
    std::size_t ahead_;
    Buffer<S> partial_;
};

}  // namespace rowan::inline v0::detail
