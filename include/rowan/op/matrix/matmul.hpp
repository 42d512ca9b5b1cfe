// rowan/op/matrix/matmul.hpp: matmul, the product of two matrices or of batches of them.
#pragma once

#include <rowan/op/detail/batched_products.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/matmul.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

/// Which operands are transposed.
struct MatmulOptions {
    bool transpose_x = false;  ///< whether the matrices of x are transposed
    bool transpose_y = false;  ///< whether those of y are
    ROWAN_OPTIONS(MatmulOptions, transpose_x, transpose_y)
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

/// The gradient of x or y, summed over the matrices for which that operand was repeated.
template <bool of_y>
struct matmul_grad_op : operator_of<slots<slot::x, slot::y, grad_of<slot::out>>,
                                    slots<grad_of<std::conditional_t<of_y, slot::y, slot::x>>>, MatmulOptions> {
    static constexpr std::string_view name = of_y ? "matmul_grad_y" : "matmul_grad_x";

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const&, MatmulOptions const& = {}) {
        return of_y ? y : x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& out_grad,
                            MatmulOptions const& options = {}) {
        return detail::batched_product_grad<of_y>(exec, x, options.transpose_x, y, options.transpose_y, out_grad);
    }
};

/// The products of batches of matrices, see matmul. For two matrices, those below do the same.
struct matmul_op : detail::builtin_op<matmul_op, slots<slot::x, slot::y>, slots<slot::out>, MatmulOptions> {
    static constexpr std::string_view name = "matmul", brief = "Products of matrices, or of batches of them.";
    using grad = grad_rules<grad_rule<matmul_grad_op<false>>, grad_rule<matmul_grad_op<true>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, MatmulOptions const& options = {}) {
        spec::dense("matmul: x", x);
        spec::dense("matmul: y", y);
        spec::same_dtype("matmul: y", y, x);
        if (x.dims.size() < 2) spec::the_rank_does_not_fit("matmul: x", x.dims.size(), "at least 2");
        if (y.dims.size() < 2) spec::the_rank_does_not_fit("matmul: y", y.dims.size(), "at least 2");
        spec::same_dim("matmul: the inner dim of y", detail::matrix_dim(y.dims, options.transpose_y, 0),
                       detail::matrix_dim(x.dims, options.transpose_x, 1));
        Dims dims = detail::broadcast_dims("matmul: y", detail::batch_of(x.dims), detail::batch_of(y.dims), -1);
        dims.push_back(detail::matrix_dim(x.dims, options.transpose_x, 0));
        dims.push_back(detail::matrix_dim(y.dims, options.transpose_y, 1));
        bool const matrices = dims.size() == 2;
        bool const rows_of_x = matrices || (x.dims.size() == dims.size() && x.dims[0] != 1);
        bool const none = matrices && options.transpose_x;
        return spec::with_dims(x, dims,
                               none                           ? 0
                               : rows_of_x                    ? x.lod_level
                               : y.dims.size() == dims.size() ? y.lod_level
                                                              : 0);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, MatmulOptions const& options = {}) {
        return detail::batched_product(exec, x, options.transpose_x, y, options.transpose_y);
    }
};

template <bool transpose_x, bool transpose_y>
struct matrix_product_op;

/// x · y. The other two are its gradients.
using matmul_nn_op = matrix_product_op<false, false>;
using matmul_nt_op = matrix_product_op<false, true>;  ///< x · yᵀ, the gradient of x in x · y
using matmul_tn_op = matrix_product_op<true, false>;  ///< xᵀ · y, the gradient of y in x · y

namespace detail {

template <bool transpose_x, bool transpose_y>
struct matrix_product_grad;
template <>
struct matrix_product_grad<false, false> {  // x · y
    using type = grad_rules<grad_rule<matmul_nt_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                            grad_rule<matmul_tn_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::y>>>>;
};
template <>
struct matrix_product_grad<false, true> {  // x · yᵀ
    using type = grad_rules<grad_rule<matmul_nn_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                            grad_rule<matmul_tn_op, uses<grad_of<slot::out>, slot::x>, makes<grad_of<slot::y>>>>;
};
template <>
struct matrix_product_grad<true, false> {  // xᵀ · y
    using type = grad_rules<grad_rule<matmul_nt_op, uses<slot::y, grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                            grad_rule<matmul_nn_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::y>>>>;
};

}  // namespace detail

template <bool transpose_x, bool transpose_y>
struct matrix_product_op
    : detail::builtin_op<matrix_product_op<transpose_x, transpose_y>, slots<slot::x, slot::y>, slots<slot::out>> {
    static_assert(!(transpose_x && transpose_y),
                  "rowan::matrix_product_op: transpose the product instead of both factors");
    static constexpr std::string_view name = transpose_x ? "matmul_tn" : transpose_y ? "matmul_nt" : "matmul_nn";
    static constexpr std::string_view brief =
        "The product of two matrices: tn and nt transpose the first or the second.";
    static constexpr unsigned row_inputs = transpose_x ? 0b11 : 0b01;
    static constexpr bool sums_rows = transpose_x;
    using grad = typename detail::matrix_product_grad<transpose_x, transpose_y>::type;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        spec::matrix("matmul: x", x);
        spec::matrix("matmul: y", y);
        spec::same_dtype("matmul: y", y, x);
        spec::same_dim("matmul: the inner dim of y", y.dims[transpose_y ? 1 : 0], x.dims[transpose_x ? 0 : 1]);
        return spec::with_dims(x, {x.dims[transpose_x ? 1 : 0], y.dims[transpose_y ? 0 : 1]},
                               transpose_x ? 0 : x.lod_level);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return matmul(exec, x, y, transpose_x, transpose_y);
    }
};

}  // namespace rowan::inline v0
