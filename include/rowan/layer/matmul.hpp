// rowan/layer/matmul.hpp: layer::matmul, the product of two matrices, or of batches of them.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/matrix/declared.hpp>

#include <concepts>

namespace rowan::inline v0::layer {

/// The product x · y, with x or y transposed if its flag is set; of batches of matrices, the products of their
/// matrices, see rowan::matmul. For a product with a trainable weight, see layer::fc.
///     auto scores = layer::matmul(h, table, {.transpose_y = true});      // h · tableᵀ: the table of an embedding as a weight
/// shapes   x [..., n, k], y [..., k, m], after transposition -> [..., n, m], with the levels of the operand whose rows
///          the result has; without levels for two matrices of which x is transposed
/// errors   ShapeError if an operand has a rank below 2, the inner dims differ, or the dims before do not broadcast
/// cost     as rowan::matmul, when the net runs
template <class T, class Device>
Var<T, Device> matmul(Var<T, Device> const& x, Var<T, Device> const& y, MatmulOptions const& options = {}) {
    return apply<matmul_op>(options, x, y);
}
/// The product with flags by position, as layer::matmul with options. A later version removes it.
/// shapes   those of layer::matmul with options
/// errors   those of layer::matmul with options
/// cost     as rowan::matmul, when the net runs
template <class T, class Device>
[[deprecated("rowan::layer::matmul: options have names: layer::matmul(x, y, {.transpose_y = true})")]] Var<T, Device>
matmul(Var<T, Device> const& x, Var<T, Device> const& y, std::same_as<bool> auto transpose_x,
       std::same_as<bool> auto... transpose_y) {
    static_assert(sizeof...(transpose_y) < 2, "rowan::layer::matmul: two flags at most");
    return matmul(x, y, MatmulOptions{transpose_x, transpose_y...});
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/matrix/matmul.hpp>
#endif
