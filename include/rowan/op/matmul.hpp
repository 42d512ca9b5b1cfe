// rowan/op/matmul.hpp: matmul, the product of two matrices, and its operators.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/detail/matmul.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace rowan::inline v0 {

/// The matrix product x · y, after transposing the operands whose flags are set.
/// shapes   x [n, k], y [k, m], each after its transposition -> [n, m]
/// errors   ShapeError if an operand is not a matrix or the inner dims differ
/// cost     2 · n · k · m operations; the same bits for any number of threads, on Cuda the bits of cuBLAS
template <class T, device D>
Tensor<T, D> matmul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, bool transpose_x = false,
                    bool transpose_y = false) {
    detail::check_rank("x", x, 2);
    detail::check_rank("y", y, 2);
    std::size_t const n = x.shape(transpose_x ? 1 : 0), k = x.shape(transpose_x ? 0 : 1),
                      m = y.shape(transpose_y ? 0 : 1);
    if (std::size_t const inner = y.shape(transpose_y ? 1 : 0); inner != k) {
        throw ShapeError(transpose_y ? "y.shape(1)" : "y.shape(0)", std::to_string(inner),
                         std::to_string(k) + ", the inner dim of x");
    }
    detail::ElementLoops<D>::check(exec, x, y);
    auto out = detail::new_tensor<T>(exec, {n, m});
    detail::Products<D>::template multiply<T>(exec, n, m, k, {x.data(), x.shape(1), transpose_x},
                                              {y.data(), y.shape(1), transpose_y}, out.data(), false);
    return out;
}

template <class T, class Device>
Tensor<T, Device> matmul(Tensor<T, Device> const& x, Tensor<T, Device> const& y, bool transpose_x = false,
                         bool transpose_y = false) {
    return matmul(x.device(), x, y, transpose_x, transpose_y);
}

template <bool transpose_x, bool transpose_y>
struct matmul_op;

/// x · y. The other two are its gradients.
using mul_op = matmul_op<false, false>;
using mul_nt_op = matmul_op<false, true>;  ///< x · yᵀ, the gradient of x in x · y
using mul_tn_op = matmul_op<true, false>;  ///< xᵀ · y, the gradient of y in x · y

namespace detail {

template <bool transpose_x, bool transpose_y>
struct matmul_grad;
template <>
struct matmul_grad<false, false> {  // x · y
    using type = grad_rules<grad_rule<mul_nt_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                            grad_rule<mul_tn_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::y>>>>;
};
template <>
struct matmul_grad<false, true> {  // x · yᵀ
    using type = grad_rules<grad_rule<mul_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                            grad_rule<mul_tn_op, uses<grad_of<slot::out>, slot::x>, makes<grad_of<slot::y>>>>;
};
template <>
struct matmul_grad<true, false> {  // xᵀ · y
    using type = grad_rules<grad_rule<mul_nt_op, uses<slot::y, grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                            grad_rule<mul_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::y>>>>;
};

}  // namespace detail

template <bool transpose_x, bool transpose_y>
struct matmul_op {
    static_assert(!(transpose_x && transpose_y), "rowan::matmul_op: transpose the product instead of both factors");
    static constexpr std::string_view name = transpose_x ? "mul_tn" : transpose_y ? "mul_nt" : "mul";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = transpose_x ? 0b11 : 0b01;
    static constexpr bool sums_rows = transpose_x;
    using grad = typename detail::matmul_grad<transpose_x, transpose_y>::type;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        spec::matrix("mul: x", x);
        spec::matrix("mul: y", y);
        spec::same_dtype("mul: y", y, x);
        spec::same_dim("mul: the inner dim of y", y.dims[transpose_y ? 1 : 0], x.dims[transpose_x ? 0 : 1]);
        return {.type = VarType::LOD_TENSOR,
                .dtype = x.dtype,
                .dims = {x.dims[transpose_x ? 1 : 0], y.dims[transpose_y ? 0 : 1]},
                .lod_level = transpose_x ? 0 : x.lod_level};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return matmul(exec, x, y, transpose_x, transpose_y);
    }
};

}  // namespace rowan::inline v0
