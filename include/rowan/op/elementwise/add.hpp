// rowan/op/elementwise/add.hpp: add, the sum of two tensors, dense or row-sparse.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/broadcast_op.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/elementwise/identity.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sparse/add.hpp>
#include <rowan/sparse/selected_rows.hpp>

namespace rowan::inline v0 {

namespace detail {

struct add_formula {
    using gradient_x = same_gradient;
    using gradient_y = same_gradient;

    ROWAN_FORMULA V operator()(V const& x, V const& y) const { return plus(x, y); }
};

}  // namespace detail

template <>
struct detail::function_of<add_op> : detail::broadcast_function<detail::add_formula> {};

/// Adds two tensors, two SelectedRows, or one of each; the result is dense if either input is dense. Where the shapes
/// are the same, the gradient of both inputs is an alias of the gradient of the result.
struct add_op : broadcast_op<add_op, detail::add_formula> {
    static constexpr Linearity linearity = Linearity::sum;
    using row_grad = grad_rules<grad_rule<identity_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                                grad_rule<identity_op, uses<grad_of<slot::out>>, makes<grad_of<slot::y>>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, BroadcastOptions const& options = {}) {
        if (x.type != VarType::SELECTED_ROWS) spec::dense("add: x", x);
        if (y.type != VarType::SELECTED_ROWS) spec::dense("add: y", y);
        if (x.type == VarType::LOD_TENSOR && y.type == VarType::LOD_TENSOR) return broadcast_op::infer(x, y, options);
        spec::same_dtype("add: y", y, x);
        VarSpec const& kind = x.type == VarType::SELECTED_ROWS ? y : x;
        return {
            .type = kind.type, .dtype = x.dtype, .dims = spec::same_dims("add: y", y, x), .lod_level = kind.lod_level};
    }

    using broadcast_op::run;
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, SelectedRows<T, D> const& y) {
        return add(exec, x, y);
    }
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, SelectedRows<T, D> const& y) {
        return add(exec, x, y);
    }
    template <class T, class D>
    static Tensor<T, D> run(D exec, SelectedRows<T, D> const& x, Tensor<T, D> const& y) {
        return add(exec, x, y);
    }
};

/// Adds to a memory of a recurrent layer; the sum is the memory's value in the next step. The first input is the memory.
struct add_to_op : detail::declared<add_to_op> {
    using in_step = add_op;  ///< the operator in the built step, and so in files

    /// Both have the same shape, so the memory's width follows from that of y.
    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, BroadcastOptions const& = {}) {
        return spec::elementwise("add: y", y, x);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, BroadcastOptions const& = {}) {
        return add(exec, x, y);
    }
};

}  // namespace rowan::inline v0
