// rowan/detail/product.hpp: products of matrices of float or double, with the widest instructions that the processor has.
#pragma once

#include <rowan/detail/config.hpp>

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

/// out [m, n] = a [m, k] · b [k, n], or += where `add`, on one thread.
template <class S>
void multiply_serial(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out,
                     std::size_t next_out, bool add);

}  // namespace rowan::inline v0::detail

#include <rowan/detail/product_inl.hpp>
