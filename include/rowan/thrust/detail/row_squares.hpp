// rowan/thrust/detail/row_squares.hpp: sums of squares of rows on a device, in 16 interleaved parts as on the host.
#pragma once

#include <rowan/detail/lanes.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Rows of a tensor: row k corresponds to row rows[k] of another tensor.
template <class G>
struct SomeRows {
    G const* value;
    std::size_t width;
    std::int64_t const* rows;   // nullptr: row k itself
    std::int64_t const* count;  // the number of rows; nullptr: all

    ROWAN_HD bool has(std::size_t k) const { return count == nullptr || static_cast<std::int64_t>(k) < *count; }
    ROWAN_HD std::size_t row(std::size_t k) const { return rows == nullptr ? k : static_cast<std::size_t>(rows[k]); }
};

/// Computes the 16 interleaved partial sums of squares of a row, one thread each.
template <class G, class S>
struct SquareParts {
    SomeRows<G> in;
    S* parts;

    ROWAN_HD void operator()(std::size_t k) const {
        if (!in.has(k / 16)) return;
        G const* const g = in.value + k / 16 * in.width;
        S sum = constant<S>(0.0);
        for (std::size_t i = k % 16; i < in.width; i += 16) sum = plus(sum, squared{}(load<S>(g + i)));
        parts[k] = sum;
    }
};

}  // namespace rowan::inline v0::detail
