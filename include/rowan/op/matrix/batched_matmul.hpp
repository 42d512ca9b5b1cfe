// rowan/op/matrix/batched_matmul.hpp: the operator of nets for the products of batches of matrices, see matmul.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/op/detail/batched_products.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/registry.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// The gradient of x or y of a batched_matmul_op, summed over the matrices for which that operand was repeated.
template <bool of_y>
struct batched_matmul_grad_op {
    static constexpr std::string_view name = of_y ? "matmul_grad_y" : "matmul_grad_x";
    using inputs = slots<slot::x, slot::y, grad_of<slot::out>>;
    using outputs = slots<grad_of<std::conditional_t<of_y, slot::y, slot::x>>>;
    using attributes = MatmulOptions;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const&, MatmulOptions const& = {}) {
        return of_y ? y : x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& out_grad,
                            MatmulOptions const& options = {}) {
        return detail::batched_product_grad<of_y>(exec, x, options.transpose_x, y, options.transpose_y, out_grad);
    }
};

/// The products of batches of matrices, see matmul. For two matrices, the operators of matmul.hpp do the same.
struct batched_matmul_op {
    static constexpr std::string_view name = "matmul";
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    using attributes = MatmulOptions;
    using grad = grad_rules<grad_rule<batched_matmul_grad_op<false>>, grad_rule<batched_matmul_grad_op<true>>>;

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
        return {.type = VarType::LOD_TENSOR,
                .dtype = x.dtype,
                .dims = dims,
                .lod_level = none                           ? 0
                             : rows_of_x                    ? x.lod_level
                             : y.dims.size() == dims.size() ? y.lod_level
                                                            : 0};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, MatmulOptions const& options = {}) {
        return detail::batched_product(exec, x, options.transpose_x, y, options.transpose_y);
    }
};

}  // namespace rowan::inline v0
