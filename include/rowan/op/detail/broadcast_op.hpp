// rowan/op/detail/broadcast_op.hpp: operators on the elements of two tensors, made from their formulas.
#pragma once

#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

// A formula has the value of x and y as its operator(), and `gradient_x` and `gradient_y`, which compute the
// gradients from x, y and the gradient g of the result.

/// g
struct same_gradient {
    ROWAN_FORMULA V operator()(V const&, V const&, V const& g) const { return g; }
};

/// The function of a broadcast_op.
template <class Formula>
struct broadcast_function {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                            BroadcastOptions const& options) {
        return zip_broadcast(exec, Formula{}, x, y, options.axis);
    }
};

struct broadcast_grad_x_suffix {
    static constexpr std::string_view name = "_broadcast_grad_x";
};
struct broadcast_grad_y_suffix {
    static constexpr std::string_view name = "_broadcast_grad_y";
};

}  // namespace detail

/// The gradient of x or y of a broadcast_op, from both and the gradient of the result.
template <class Op, class Formula, bool of_y>
struct broadcast_grad_op : operator_of<slots<slot::x, slot::y, grad_of<slot::out>>,
                                       slots<grad_of<std::conditional_t<of_y, slot::y, slot::x>>>, BroadcastOptions> {
    static constexpr std::string_view name =
        detail::joined_name<detail::declared<Op>, std::conditional_t<of_y, detail::broadcast_grad_y_suffix,
                                                                     detail::broadcast_grad_x_suffix>>::value;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const&, BroadcastOptions const& = {}) {
        return of_y ? y : x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& out_grad,
                            BroadcastOptions const& options = {}) {
        using Map = std::conditional_t<of_y, typename Formula::gradient_y, typename Formula::gradient_x>;
        return detail::zip_broadcast_grad<of_y>(exec, Map{}, x, y, out_grad, options.axis);
    }
};

/// An operator on the elements of two tensors whose shapes are broadcast by NumPy's rules: the last dims are aligned, a
/// dim of 1 is repeated, and so are the dims that one of them lacks.
template <class Op, class Formula>
struct broadcast_op : detail::declared<Op> {
    using grad =
        grad_rules<grad_rule<broadcast_grad_op<Op, Formula, false>>, grad_rule<broadcast_grad_op<Op, Formula, true>>>;

    /// Both, if the specs let their shapes be the same.
    static constexpr unsigned row_inputs(VarSpec const& x, VarSpec const& y, BroadcastOptions const& options = {}) {
        return options.axis != -1 || detail::may_broadcast(x, y) ? 0 : 0b11;
    }

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, BroadcastOptions const& options = {}) {
        char const* const field = detail::joined_name<detail::declared<Op>, detail::y_suffix>::value.data();
        return detail::broadcast_spec(field, x, y, options.axis);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                            BroadcastOptions const& options = {}) {
        return detail::run_of<Op, Tensor<T, D>>(exec, x, y, options);
    }
};

}  // namespace rowan::inline v0
