// rowan/op/detail/factor.hpp: Factor, an operand of a matrix product.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// A matrix in row-major memory, or its transpose.
template <class T>
struct Factor {
    T const* data;
    std::size_t columns;  // of the matrix in memory
    bool transposed = false;

    T const* at(std::size_t i, std::size_t j) const {
        return transposed ? data + j * columns + i : data + i * columns + j;
    }
    std::size_t next_row() const { return transposed ? 1 : columns; }
    std::size_t next_column() const { return transposed ? columns : 1; }
};

}  // namespace rowan::inline v0::detail
