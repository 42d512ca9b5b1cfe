// rowan/op/matrix/row_dot.hpp: row_dot, the dot product of each row of two matrices.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/matrix/declared.hpp>
#include <rowan/op/matrix/functions.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

template <>
struct detail::function_of<row_dot_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        using S = sum_t<T>;
        check_rank("x", x, 2);
        check_same_shape("y", y, x);
        ElementLoops<D>::check(exec, x, y);
        if (x.size() == 0) return Tensor<T, D>::zeros(exec, {x.shape(0), 1});
        auto out = new_tensor<T>(exec, {x.shape(0), 1});
        auto products = ElementLoops<D>::template scratch<S>(exec, x.size());
        ElementLoops<D>::template zip<S>(exec, x.size(), multiplied{}, products.data(), x.data(), y.data());
        fold_axes<S, add_lanes>(exec, reduction_of(x.shape(), {false, true}), products.data(), out.data());
        return out;
    }
};

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
