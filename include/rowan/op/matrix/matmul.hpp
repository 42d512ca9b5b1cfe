// rowan/op/matrix/matmul.hpp: matmul, the product of two matrices or of batches of them.
#pragma once

#include <rowan/op/detail/batched_products.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/matmul.hpp>
#include <rowan/op/matrix/declared.hpp>
#include <rowan/op/matrix/functions.hpp>
#include <rowan/op/operator.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

template <>
struct detail::function_of<matmul_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, MatmulOptions const& options) {
        return batched_product(exec, x, options.transpose_x, y, options.transpose_y);
    }
};

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

template <bool of_y, class Options = no_attributes>
struct matrix_grad_op;

/// See matmul. The product of two matrices has the rows of x, or, if x is transposed, sums over the rows of both.
struct matmul_op : detail::declared<matmul_op> {
    static constexpr Linearity linearity = Linearity::product;
    using grad = grad_rules<grad_rule<matmul_grad_op<false>>, grad_rule<matmul_grad_op<true>>>;
    using row_grad = grad_rules<
        grad_rule<matrix_grad_op<false, MatmulOptions>, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
        grad_rule<matrix_grad_op<true, MatmulOptions>, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::y>>>>;

    static constexpr unsigned row_inputs(VarSpec const& x, VarSpec const& y, MatmulOptions const& options = {}) {
        bool const matrices = x.dims.size() == 2 && y.dims.size() == 2;
        return !matrices || (options.transpose_x && options.transpose_y) ? 0 : options.transpose_x ? 0b11 : 0b01;
    }
    static constexpr bool sums_rows(MatmulOptions const& options) { return options.transpose_x; }

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
        std::size_t const rank = dims.size();
        VarSpec const& rows = rank == 2 || (x.dims.size() == rank && x.dims[0] != 1) ? x : y;
        bool const none = rank == 2 ? options.transpose_x : rows.dims.size() != rank;
        return spec::with_dims(x, dims, none ? 0 : rows.lod_level);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, MatmulOptions const& options = {}) {
        return detail::run_of<matmul_op, Tensor<T, D>>(exec, x, y, options);
    }
};

/// The gradient of x or y in a product of two matrices that are not both transposed: itself a product, of out_grad and
/// y or of x and out_grad. Without options, that of x · y.
template <bool of_y, class Options>
struct matrix_grad_op : operator_of<slots<slot::x, slot::y>, slots<slot::out>, Options> {
private:
    static constexpr MatmulOptions flags(MatmulOptions const& options) { return options; }
    static constexpr MatmulOptions flags(no_attributes const&) { return {}; }
    static constexpr bool has_options = !std::same_as<Options, no_attributes>;

    /// multiply(x, y, options) of the factors in their order.
    template <class A, class Multiply>
    static constexpr auto product(A const& a, A const& b, Options const& options, Multiply const& multiply) {
        auto const [x, y] = flags(options);
        if (of_y ? y : x) return multiply(b, a, MatmulOptions{of_y || y, !of_y || x});
        return multiply(a, b, MatmulOptions{of_y && !x, !of_y && !y});
    }

public:
    static constexpr std::string_view name = of_y ? (has_options ? "matmul_matrix_grad_y" : "matrix_grad_y")
                                                  : (has_options ? "matmul_matrix_grad_x" : "matrix_grad_x");

    static constexpr unsigned row_inputs(VarSpec const&, VarSpec const&, Options const& options = {}) {
        bool const x = flags(options).transpose_x;
        return x == of_y ? 0b01 : of_y ? 0b11 : 0b10;
    }
    static constexpr bool sums_rows(Options const& options) { return of_y && !flags(options).transpose_x; }

    static constexpr VarSpec infer(VarSpec const& a, VarSpec const& b, Options const& options = {}) {
        return product(a, b, options, [](auto const&... in) { return matmul_op::infer(in...); });
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& a, Tensor<T, D> const& b, Options const& options = {}) {
        return product(a, b, options, [&](auto const&... in) { return matmul(exec, in...); });
    }
};

}  // namespace rowan::inline v0
