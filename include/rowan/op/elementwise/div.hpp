// rowan/op/elementwise/div.hpp: div, the element-wise quotient of two tensors.
#pragma once

#include <rowan/detail/arithmetic.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/broadcast_op.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/elementwise/sub.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

struct div_formula : divided {
    struct gradient_x {
        ROWAN_FORMULA V operator()(V const&, V const& y, V const& g) const { return quotient(g, y); }
    };
    struct gradient_y {
        ROWAN_FORMULA V operator()(V const& x, V const& y, V const& g) const {
            return minus(constant<V>(0.0), quotient(product(g, quotient(x, y)), y));
        }
    };
};

/// -(g · out / y)
struct div_grad_y_formula {
    ROWAN_FORMULA V operator()(V const& g, V const& out, V const& y) const {
        return minus(constant<V>(0.0), quotient(product(g, out), y));
    }
};

}  // namespace detail

template <>
struct detail::function_of<div_op> : detail::broadcast_function<detail::div_formula> {};

/// The gradient of y from the result and its gradient: -(out_grad · out / y). That of x is div(out_grad, y).
/// shapes   out_grad [...], out and y the same -> the same
/// errors   ShapeError if the shapes differ
/// cost     one read of each and one write of the result
struct div_grad_y_op : operator_of<slots<grad_of<slot::out>, slot::out, slot::y>, slots<grad_of<slot::y>>> {
    static constexpr std::string_view name = "div_grad_y";
    static constexpr unsigned row_inputs = 0b111;

    static constexpr VarSpec infer(VarSpec const& out_grad, VarSpec const& out, VarSpec const& y) {
        return spec::elementwise("div_grad_y: y", y, spec::elementwise("div_grad_y: out", out, out_grad));
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out_grad, Tensor<T, D> const& out, Tensor<T, D> const& y) {
        detail::check_same_shape("out", out, out_grad);
        detail::check_same_shape("y", y, out_grad);
        return detail::zip_elements<detail::sum_t<T>>(exec, detail::div_grad_y_formula{}, out_grad, out, y);
    }
};

/// See div. Where the shapes are the same, the gradient of x is a quotient, too: out_grad / y.
struct div_op : broadcast_op<div_op, detail::div_formula> {
    static constexpr Linearity linearity = Linearity::quotient;
    using row_grad =
        grad_rules<grad_rule<div_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                   grad_rule<div_grad_y_op, uses<grad_of<slot::out>, slot::out, slot::y>, makes<grad_of<slot::y>>>>;
};

}  // namespace rowan::inline v0
