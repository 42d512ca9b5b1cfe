// rowan/op/detail/batched_products.hpp: products of batches of matrices whose leading dims are broadcast.
#pragma once

#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/matmul.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>
#include <concepts>

namespace rowan::inline v0::detail {

/// The dims before those of the matrices.
template <class Shape>
constexpr Shape batch_of(Shape const& shape) {
    Shape batch;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) batch.push_back(shape[i]);
    return batch;
}

/// The dims of a matrix, or of its transpose.
template <class Shape>
constexpr auto matrix_dim(Shape const& shape, bool transposed, std::size_t i) {
    return shape[shape.size() - (transposed == (i == 0) ? 1 : 2)];
}

constexpr char const* batch_field = "batch of y";

/// The shape of the product of x and y.
/// errors   ShapeError if an operand is no batch of matrices, inner dims differ or batches do not broadcast
template <class Shape>
Shape product_shape(Shape const& x, bool transpose_x, Shape const& y, bool transpose_y) {
    if (x.size() < 2) spec::the_rank_does_not_fit("x", x.size(), "at least 2");
    if (y.size() < 2) spec::the_rank_does_not_fit("y", y.size(), "at least 2");
    std::size_t const k = matrix_dim(x, transpose_x, 1);
    if (std::size_t const inner = matrix_dim(y, transpose_y, 0); inner != k) {
        std::size_t const at = y.size() - (transpose_y ? 1 : 2);
        throw ShapeError({"y.shape(", at, ")"}, inner, {k, ", the inner dim of x"});
    }
    Shape shape = broadcast_shape(batch_field, batch_of(x), batch_of(y), -1);
    shape.push_back(matrix_dim(x, transpose_x, 0));
    shape.push_back(matrix_dim(y, transpose_y, 1));
    return shape;
}

/// The offsets of the matrices of an operand for the matrices of the result.
template <class Shape>
AxisOffsets matrix_offsets(Shape const& operand, Shape const& result) {
    AxisOffsets offsets;
    Shape const batch = batch_of(operand);
    std::size_t const rank = result.size() - 2;
    std::size_t step = product_from(operand, 0);
    for (std::size_t i = 0; i < rank; ++i) {
        std::size_t const dim = aligned_dim(batch, i, rank, -1);
        step /= dim;
        offsets.push(result[i], dim != result[i] ? 0 : step);
    }
    return offsets;
}

/// The products of the matrices of x and y, each after its transposition. On Cpu, threads divide each product, or the
/// products if they are many.
template <class T, class D>
Tensor<T, D> batched_product(D const& exec, Tensor<T, D> const& x, bool transpose_x, Tensor<T, D> const& y,
                             bool transpose_y) {
    auto const shape = product_shape(x.shape(), transpose_x, y.shape(), transpose_y);
    ElementLoops<D>::check(exec, x, y);
    std::size_t const n = shape[shape.size() - 2], m = shape.back(), k = matrix_dim(x.shape(), transpose_x, 1);
    auto out = new_tensor<T>(exec, shape);
    Factor<T> const a{x.data(), x.shape().back(), transpose_x}, b{y.data(), y.shape().back(), transpose_y};
    if (shape.size() == 2 || (y.dimension() == 2 && !transpose_x)) {  // the rows of all matrices of x are one matrix
        Products<D>::template multiply<T>(exec, product_from(shape, 0) / std::max<std::size_t>(m, 1), m, k, a, b,
                                          out.data(), false);
        return out;
    }
    if (out.size() == 0) return out;
    AxisOffsets const x_at = k == 0 ? AxisOffsets{} : matrix_offsets(x.shape(), shape);
    AxisOffsets const y_at = k == 0 ? AxisOffsets{} : matrix_offsets(y.shape(), shape);
    auto const multiply = [&](D const& device, std::size_t begin, std::size_t end) {
        for (; begin < end; ++begin)
            Products<D>::template multiply<T>(device, n, m, k, {a.data + x_at(begin), a.columns, a.transposed},
                                              {b.data + y_at(begin), b.columns, b.transposed},
                                              out.data() + begin * n * m, false);
    };
    std::size_t const count = out.size() / (n * m);
    if constexpr (std::same_as<D, Cpu>) {
        if (count >= static_cast<std::size_t>(thread_count(exec))) {
            for_ranges(exec, count, n * m * (k / 4 + 1),
                       [&](std::size_t begin, std::size_t end) { multiply(Cpu{1}, begin, end); });
            return out;
        }
    }
    multiply(exec, 0, count);
    return out;
}

/// The gradient of x, or of y, in a batched_product: the sum over the products that a matrix is part of.
template <bool of_y, class T, class D>
Tensor<T, D> batched_product_grad(D const& exec, Tensor<T, D> const& x, bool transpose_x, Tensor<T, D> const& y,
                                  bool transpose_y, Tensor<T, D> const& g) {
    auto const shape = product_shape(x.shape(), transpose_x, y.shape(), transpose_y);
    if (g.shape() != shape) throw ShapeError("out_grad.shape()", shape_text(g.shape()), shape_text(shape));
    ElementLoops<D>::check(exec, x, y, g);
    if constexpr (of_y) {
        if (y.dimension() == 2 && x.dimension() > 2 && !transpose_x) {  // as one product of matrices
            std::size_t const rows = product_from(batch_of(shape), 0) * shape[shape.size() - 2];
            auto const flat_x = x.reshaped({rows, x.shape().back()}), flat_g = g.reshaped({rows, shape.back()});
            return transpose_y ? batched_product(exec, flat_g, true, flat_x, false)
                               : batched_product(exec, flat_x, true, flat_g, false);
        }
    }
    auto const& to = of_y ? y : x;
    auto const batch = batch_of(to.shape());
    using S = sum_t<T>;
    if constexpr (!std::is_same_v<T, S> && element<S>) {  // products are summed before they are narrowed
        if (batch != batch_of(shape)) {
            auto const copy = [&]<class To, class From>(std::type_identity<To>, Tensor<From, D> const& a) {
                auto b = new_tensor<To>(exec, a.shape());
                ElementLoops<D>::template zip<S>(exec, a.size(), same_number{}, b.data(), a.data());
                return b;
            };
            std::type_identity<S> const wide;
            return copy(std::type_identity<T>(), batched_product_grad<of_y>(exec, copy(wide, x), transpose_x,
                                                                            copy(wide, y), transpose_y, copy(wide, g)));
        }
    }
    auto full = of_y ? (transpose_y ? batched_product(exec, g, true, x, transpose_x)
                                    : batched_product(exec, x, !transpose_x, g, false))
                     : (transpose_x ? batched_product(exec, y, transpose_y, g, true)
                                    : batched_product(exec, g, false, y, !transpose_y));
    if (full.shape() == to.shape()) return full;
    if (full.size() == 0) return Tensor<T, D>::zeros(exec, to.shape());
    std::array<bool, 8> reduced{};
    for (std::size_t i = 0; i + 2 < shape.size(); ++i)
        reduced[i] = aligned_dim(batch, i, shape.size() - 2, -1) != shape[i];
    auto sums = new_tensor<T>(exec, to.shape());
    fold_axes<sum_t<T>, add_lanes>(exec, reduction_of(full.shape(), reduced), full.data(), sums.data());
    return sums;
}

}  // namespace rowan::inline v0::detail
