// rowan/layer/matmul.hpp: layer::matmul, the product of two matrices.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/matmul.hpp>

namespace rowan::inline v0::layer {

/// The product x · y, with x or y transposed if its flag is set. For a product with a trainable weight, see layer::fc.
///     auto scores = layer::matmul(h, table, false, true);      // h · tableᵀ: the table of an embedding as a weight
/// shapes   x [n, k], y [k, m], after transposition -> [n, m], with the levels of x unless x is transposed
/// errors   ShapeError if x or y is not a matrix or the inner dims differ; ValueError if both flags are set
/// cost     as rowan::matmul, when the net runs
template <class T, class Device>
Var<T, Device> matmul(Var<T, Device> const& x, Var<T, Device> const& y, bool transpose_x = false,
                      bool transpose_y = false) {
    if (transpose_x && transpose_y)
        throw ValueError("transpose_y", 1, "0 if transpose_x is set: transpose the product of y and x instead");
    if (transpose_x) return apply<mul_tn_op>({}, x, y);
    if (transpose_y) return apply<mul_nt_op>({}, x, y);
    return apply<mul_op>({}, x, y);
}

}  // namespace rowan::inline v0::layer
