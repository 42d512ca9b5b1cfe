// rowan/op/detail/softmax_rows.hpp: softmax and log_softmax along an axis, from their rules of rows, and their operators.
#pragma once

#include <rowan/op/detail/class_rows.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/detail/softmax_formulas.hpp>
#include <rowan/op/norm/declared.hpp>
#include <rowan/op/operator.hpp>

#include <optional>

namespace rowan::inline v0 {

namespace detail {

/// The results of a rule of rows, such as softmax_rule, along an axis of x.
template <class Rule, class T, class D>
Tensor<T, D> softmax_rows(D const& exec, Tensor<T, D> const& x, SoftmaxOptions const& options) {
    Rule::template check_type<T>();
    ClassRows<T, D> const c("x", x, options.axis.value_or(-1), 1);
    ElementLoops<D>::check(exec, x);
    return MatrixRows<D>::template along<Rule>(exec, c, x);
}

/// The gradient of x from the results and their gradients.
template <class Rule, class T, class D>
Tensor<T, D> softmax_rows_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                               SoftmaxOptions const& options) {
    Rule::template check_type<T>();
    ClassRows<T, D> const c("out", out, options.axis.value_or(-1), 1);
    check_same_shape("out_grad", out_grad, out);
    ElementLoops<D>::check(exec, out, out_grad);
    auto const write = [&](T const* y, T const* g, T* to) {
        MatrixRows<D>::template slopes<Rule>(exec, c.n, c.classes, y, g, to);
    };
    return c.map(exec, write, out, out_grad);
}

/// The axis of a tensor in a net. A tensor of rank 1 needs one.
/// errors   ShapeError if x has a rank below 2, or with an axis below 1; IndexError if the axis is not in [-rank, rank)
constexpr std::size_t softmax_axis(char const* field, VarSpec const& x, SoftmaxOptions const& options) {
    spec::dense(field, x);
    options.axis ? spec::has_rows(field, x) : spec::rows_of_elements(field, x);
    return checked_axis(options.axis.value_or(-1), x.dims.size());
}

struct out_suffix {
    static constexpr std::string_view name = ": out";
};

/// The gradient operator of a softmax_rows_op.
template <class Op, class Rule>
struct softmax_rows_grad_op
    : operator_of<slots<slot::out, grad_of<slot::out>>, slots<grad_of<slot::x>>, SoftmaxOptions> {
    static constexpr std::string_view name = joined_name<declared<Op>, grad_op_suffix>::value;

    static constexpr unsigned row_inputs(VarSpec const& out, VarSpec const&, SoftmaxOptions const& options = {}) {
        return softmax_axis("out", out, options) == 0 ? 0 : 0b11;
    }

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad, SoftmaxOptions const& options = {}) {
        softmax_axis(joined_name<softmax_rows_grad_op, out_suffix>::value.data(), out, options);
        return spec::elementwise(joined_name<softmax_rows_grad_op, out_grad_suffix>::value.data(), out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                            SoftmaxOptions const& options = {}) {
        return run_of<backward_of<Op>, Tensor<T, D>>(exec, out, out_grad, options);
    }
};

/// The operator of a rule of rows along an axis.
template <class Op, class Rule, class Gradient>
struct softmax_rows_op : declared<Op> {
    using grad = grad_rule<Gradient>;

    static constexpr unsigned row_inputs(VarSpec const& x, SoftmaxOptions const& options = {}) {
        return softmax_axis("x", x, options) == 0 ? 0 : 0b1;
    }

    static constexpr VarSpec infer(VarSpec const& x, SoftmaxOptions const& options = {}) {
        softmax_axis(joined_name<declared<Op>, x_suffix>::value.data(), x, options);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, SoftmaxOptions const& options = {}) {
        return run_of<Op, Tensor<T, D>>(exec, x, options);
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
