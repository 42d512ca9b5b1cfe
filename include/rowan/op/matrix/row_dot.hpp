// rowan/op/matrix/row_dot.hpp: row_dot, the dot product of each row of two matrices.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/matrix/declared.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

/// The dot product of each row of x with the same row of y: the products, each rounded to dtype<T>::sum, are summed as
/// in reduce_sum.
///     row_dot([[1 2] [3 4]], [[5 6] [7 8]])   ->   [[17] [53]]
/// shapes   both [n, width] -> [n, 1]
/// errors   ShapeError if x is not a matrix or the shapes differ
/// cost     one read of both; temporary memory for the products
template <class T, device D>
Tensor<T, D> row_dot(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    using S = detail::sum_t<T>;
    detail::check_rank("x", x, 2);
    detail::check_same_shape("y", y, x);
    detail::ElementLoops<D>::check(exec, x, y);
    if (x.size() == 0) return Tensor<T, D>::zeros(exec, {x.shape(0), 1});
    auto out = detail::new_tensor<T>(exec, {x.shape(0), 1});
    auto products = detail::ElementLoops<D>::template scratch<S>(exec, x.size());
    detail::ElementLoops<D>::template zip<S>(exec, x.size(), detail::multiplied{}, products.data(), x.data(), y.data());
    detail::fold_axes<S, detail::add_lanes>(exec, detail::reduction_of(x.shape(), {false, true}), products.data(),
                                            out.data());
    return out;
}

template <class T, class Device>
Tensor<T, Device> row_dot(Tensor<T, Device> const& x, Tensor<T, Device> const& y) {
    return row_dot(x.device(), x, y);
}

/// The gradient of one factor: the other one, each row times the gradient of its result.
struct row_dot_grad_op : operator_of<slots<slot::y, grad_of<slot::out>>, slots<grad_of<slot::x>>> {
    static constexpr std::string_view name = "row_dot_grad";
    static constexpr unsigned row_inputs = 0b11;

    static constexpr VarSpec infer(VarSpec const& y, VarSpec const&) { return y; }

    /// errors   ShapeError if out_grad is not [n, 1]
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& y, Tensor<T, D> const& out_grad) {
        detail::check_rank("y", y, 2);
        if (auto like = y.shape(); out_grad.shape() != (like[1] = 1, like))
            throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(like));
        return detail::zip_broadcast(exec, detail::multiplied{}, y, out_grad);
    }
};

/// See row_dot.
struct row_dot_op : detail::declared<row_dot_op> {
    static constexpr unsigned row_inputs = 0b11;
    static constexpr Linearity linearity = Linearity::product;
    using grad = grad_rules<grad_rule<row_dot_grad_op, uses<slot::y, grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                            grad_rule<row_dot_grad_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::y>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        spec::matrix("row_dot: x", x);
        VarSpec out = spec::elementwise("row_dot: y", y, x);
        out.dims[1] = 1;
        return out;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return row_dot(exec, x, y);
    }
};

}  // namespace rowan::inline v0
