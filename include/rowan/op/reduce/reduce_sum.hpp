// rowan/op/reduce/reduce_sum.hpp: reduce_sum, the sums of a tensor's elements along some axes.
#pragma once

#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/detail/reduce_op.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/reduce/functions.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The rule of reduce_sum, see reduce_op.
struct axis_totals {
    static constexpr Linearity linearity = Linearity::sum_of_rows;
    static constexpr bool reads_out = false;

    template <class T, class D>
    static void of(D const& exec, AxisReduction const& r, T const* x, T* out) {
        fold_axes<sum_t<T>, add_lanes>(exec, r, x, out);
    }

    template <class T, class D>
    static Tensor<T, D> of_none(D const& exec, Tensor<T, D> const&, typename Tensor<T, D>::shape_type const& shape) {
        return Tensor<T, D>::zeros(exec, shape);
    }

    template <class T, class D>
    static Tensor<T, D> grad(D const& exec, Tensor<T, D> const& x, T const*, Tensor<T, D> const& out_grad,
                             std::array<bool, 8> const& reduced) {
        auto x_grad = new_tensor<T>(exec, x.shape());
        repeat_sums(exec, x.shape(), reduced, out_grad.data(), x_grad.data());
        return x_grad;
    }
};

}  // namespace detail

ROWAN_REDUCE_OP(reduce_sum, axis_totals)

/// The gradient of a value that was added to every row, such as a bias: the sum of the rows of out_grad.
struct bias_grad_op : operator_of<slots<grad_of<slot::out>>, slots<grad_of<slot::b>>> {
    static constexpr std::string_view name = "bias_grad";
    static constexpr unsigned row_inputs = 0b1;
    static constexpr bool sums_rows = true;

    static constexpr VarSpec infer(VarSpec const& out_grad) {
        return detail::reduced_spec("reduce_sum: x", out_grad, rows, false);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out_grad) {
        return detail::fold_along<detail::axis_totals>(exec, out_grad, rows, false);
    }

private:
    static constexpr std::array<std::int64_t, 1> rows{0};  // ReduceOptions would allocate
};

}  // namespace rowan::inline v0
