// rowan/op/matrix/functions.hpp: products of matrices and of their rows.
#pragma once

#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/matrix/declared.hpp>

namespace rowan::inline v0 {

/// The matrix product x · y, after transposing the operands whose flags are set, as in matmul(x, y, {.transpose_y = true}); of batches of matrices, the products of
/// their matrices. The dims before the matrices are broadcast by NumPy's rules.
/// shapes   x [..., n, k], y [..., k, m], each after its transposition -> [..., n, m]
/// errors   ShapeError if an operand has a rank below 2, the inner dims differ, or the dims before do not broadcast
/// cost     2 · n · k · m operations for each product; the same bits for any number of threads, on Cuda the bits of
///          cuBLAS
template <class T, device D>
Tensor<T, D> matmul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, bool transpose_x = false,
                    bool transpose_y = false) {
    return detail::run_of<matmul_op, Tensor<T, D>>(
        exec, x, y, MatmulOptions{.transpose_x = transpose_x, .transpose_y = transpose_y});
}
template <class T, class Device>
Tensor<T, Device> matmul(Tensor<T, Device> const& x, Tensor<T, Device> const& y, bool transpose_x = false,
                         bool transpose_y = false) {
    return matmul(x.device(), x, y, transpose_x, transpose_y);
}
template <class T, device D>
Tensor<T, D> matmul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, MatmulOptions const& options) {
    return detail::run_of<matmul_op, Tensor<T, D>>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> matmul(Tensor<T, Device> const& x, Tensor<T, Device> const& y, MatmulOptions const& options) {
    return matmul(x.device(), x, y, options);
}

/// The affine map x · w + b.
/// shapes   x [n, inputs], w [inputs, outputs], b [outputs] -> [n, outputs]
/// errors   ShapeError if ranks or dims do not match
/// cost     2 · n · inputs · outputs operations; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> fc(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& w, Tensor<T, D> const& b) {
    return detail::run_of<fc_op, Tensor<T, D>>(exec, x, w, b);
}
template <class T, class Device>
Tensor<T, Device> fc(Tensor<T, Device> const& x, Tensor<T, Device> const& w, Tensor<T, Device> const& b) {
    return fc(x.device(), x, w, b);
}

/// The dot product of each row of x with the same row of y: the products, each rounded to dtype<T>::sum, are summed as
/// in reduce_sum.
///     row_dot([[1 2] [3 4]], [[5 6] [7 8]])   ->   [[17] [53]]
/// shapes   both [n, width] -> [n, 1]
/// errors   ShapeError if x is not a matrix or the shapes differ
/// cost     one read of both; temporary memory for the products
template <class T, device D>
Tensor<T, D> row_dot(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::run_of<row_dot_op, Tensor<T, D>>(exec, x, y);
}
template <class T, class Device>
Tensor<T, Device> row_dot(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return row_dot(x.device(), x, y);
}

/// x · y / (max(|x|, epsilon) · max(|y|, epsilon)) for the rows of x and y, as in PyTorch, and at most 1; computed in
/// dtype<T>::sum. Row sums are formed in 16 interleaved partial sums. Right for all finite rows if this type is float
/// or double: a row whose squares might overflow or vanish is scaled by a power of two.
/// shapes   x [n, width], y [n, width] -> [n, 1]
/// errors   ValueError if epsilon is not finite or, in dtype<T>::sum, not above 0; ShapeError if x is not a matrix or
///          the shapes differ
/// cost     two reads of both, and four more of rows that are scaled; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> cosine_similarity(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                               CosineOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cosine_similarity: x and y must have a floating-point type");
    return detail::run_of<cosine_similarity_op, Tensor<T, D>>(exec, x, y, options);
}
template <class T, class Device>
Tensor<T, Device> cosine_similarity(Tensor<T, Device> const& x, Tensor<T, Device> const& y,
                                    CosineOptions const& options = {}) {
    return cosine_similarity(x.device(), x, y, options);
}

/// The dot products of the pairs of vectors of each example, in the order (1, 0), (2, 0), (2, 1), (3, 0) …; with
/// `self_interaction`, (0, 0), (1, 0), (1, 1), (2, 0) …: DLRM's interaction of features. Products are rounded to
/// dtype<T>::sum and summed in 16 interleaved partial sums.
///     dot_interaction([[[1 2] [3 4] [5 6]]])                                 ->   [[11 17 39]]
///     dot_interaction([[[1 2] [3 4] [5 6]]], {.self_interaction = true})     ->   [[5 11 25 17 39 61]]
/// Naumov et al.: Deep Learning Recommendation Model for Personalization and Recommendation Systems, 2019.
/// shapes   x [batch, n, width] -> [batch, n · (n - 1) / 2], with self_interaction [batch, n · (n + 1) / 2]
/// errors   ShapeError if x has another rank, or n is greater than 2^31
/// cost     one read of x and one write of the result; memory of one example for each thread; the same bits for any
///          number of threads
template <class T, device D>
Tensor<T, D> dot_interaction(D const& exec, Tensor<T, D> const& x, DotInteractionOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::dot_interaction: x must have a floating-point type");
    return detail::run_of<dot_interaction_op, Tensor<T, D>>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> dot_interaction(Tensor<T, Device> const& x, DotInteractionOptions const& options = {}) {
    return dot_interaction(x.device(), x, options);
}

}  // namespace rowan::inline v0
