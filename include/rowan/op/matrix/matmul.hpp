// rowan/op/matrix/matmul.hpp: matmul, the product of two matrices or batches of them, and the operators for two matrices.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/op/detail/batched_products.hpp>
#include <rowan/op/detail/matmul.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// Which operands are transposed.
struct MatmulOptions {
    bool transpose_x = false;  ///< whether the matrices of x are transposed
    bool transpose_y = false;  ///< whether those of y are

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"transpose_x", &MatmulOptions::transpose_x},
                     field{"transpose_y", &MatmulOptions::transpose_y});
    }
};

/// The matrix product x · y, after transposing the operands whose flags are set, as in matmul(x, y, {.transpose_y = true}); of batches of matrices, the products of
/// their matrices. The dims before the matrices are broadcast by NumPy's rules.
/// shapes   x [..., n, k], y [..., k, m], each after its transposition -> [..., n, m]
/// errors   ShapeError if an operand has a rank below 2, the inner dims differ, or the dims before do not broadcast
/// cost     2 · n · k · m operations for each product; the same bits for any number of threads, on Cuda the bits of
///          cuBLAS
template <class T, device D>
Tensor<T, D> matmul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, bool transpose_x = false,
                    bool transpose_y = false) {
    return detail::batched_product(exec, x, transpose_x, y, transpose_y);
}

template <class T, class Device>
Tensor<T, Device> matmul(Tensor<T, Device> const& x, Tensor<T, Device> const& y, bool transpose_x = false,
                         bool transpose_y = false) {
    return matmul(x.device(), x, y, transpose_x, transpose_y);
}
template <class T, device D>
Tensor<T, D> matmul(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, MatmulOptions const& options) {
    return matmul(exec, x, y, options.transpose_x, options.transpose_y);
}
template <class T, class Device>
Tensor<T, Device> matmul(Tensor<T, Device> const& x, Tensor<T, Device> const& y, MatmulOptions const& options) {
    return matmul(x.device(), x, y, options);
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
