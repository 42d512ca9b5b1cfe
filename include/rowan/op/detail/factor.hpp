// rowan/op/detail/factor.hpp: Factor, a matrix that is to be multiplied.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// A matrix as it lies in memory, row by row, and whether its transpose is meant.
template <class T>
struct Factor {
    T const* data;
    std::size_t columns;  // as it lies
    bool transposed = false;

    T const* at(std::size_t i, std::size_t j) const {
        return transposed ? data + j * columns + i : data + i * columns + j;
    }
    std::size_t next_row() const { return transposed ? 1 : columns; }
    std::size_t next_column() const { return transposed ? columns : 1; }
};

}  // namespace rowan::inline v0::detail
