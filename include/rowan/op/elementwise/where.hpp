// rowan/op/elementwise/where.hpp: where, elements of one tensor or another by a condition.
#pragma once

#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// to[row, column] = condition[row, column] ? x[row, column] : y[row, column], each of one element for a row or all of
/// them. The elements are copied.
template <class T>
struct ChooseStep {
    struct Row {
        bool const* condition;
        T const *x, *y;
        T* to;
    };
    BroadcastRows<3> b;
    bool const* condition;
    T const *x, *y;
    T* to;

    ROWAN_HD Row of_row(std::size_t i) const {
        return {condition + b.offsets[0](i), x + b.offsets[1](i), y + b.offsets[2](i), to + i * b.width};
    }

    ROWAN_FORMULA void at(Row const& row, std::size_t column) const {
        std::size_t const of_condition = b.one[0] ? 0 : column, of_x = b.one[1] ? 0 : column;
        row.to[column] = row.condition[of_condition] ? row.x[of_x] : row.y[b.one[2] ? 0 : column];
    }
};

struct where_grad_x {
    static constexpr std::string_view name = "where_grad_x";
};
struct where_grad_y {
    static constexpr std::string_view name = "where_grad_y";
};

}  // namespace detail

template <>
struct detail::function_of<where_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<bool, D> const& condition, Tensor<T, D> const& x,
                            Tensor<T, D> const& y) {
        auto const both = broadcast_shape("y", x.shape(), y.shape(), -1);
        auto const shape = broadcast_shape("condition", both, condition.shape(), -1);
        ElementLoops<D>::check(exec, condition, x, y);
        auto out = new_tensor<T>(exec, shape);
        if (out.size() == 0) return out;
        auto const b = broadcast_rows<3>(shape, [&](std::size_t k, std::size_t i) {
            auto const& of = k == 0 ? condition.shape() : k == 1 ? x.shape() : y.shape();
            return aligned_dim(of, i, shape.size(), -1);
        });
        ElementLoops<D>::template each_in_rows<bool>(
            exec, b.rows, b.width, ChooseStep<T>{b, condition.data(), x.data(), y.data(), out.data()});
        return out;
    }
};

/// The gradient of x or y of where: that of the result where the element was chosen, else 0, whatever the gradient is
/// there, summed over the elements that were repeated.
template <bool of_y>
struct where_grad_op
    : operator_of<slots<slot::condition, std::conditional_t<of_y, slot::y, slot::x>, grad_of<slot::out>>,
                  slots<grad_of<std::conditional_t<of_y, slot::y, slot::x>>>> {
    static constexpr std::string_view name = std::conditional_t<of_y, detail::where_grad_y, detail::where_grad_x>::name;
    static constexpr unsigned row_inputs = 0b111;

    static constexpr VarSpec infer(VarSpec const&, VarSpec const& x, VarSpec const&) { return x; }

    /// errors   ShapeError if condition or x does not broadcast to the shape of out_grad
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<bool, D> const& condition, Tensor<T, D> const& x,
                            Tensor<T, D> const& out_grad) {
        auto const& shape = out_grad.shape();
        auto const check = [&](char const* field, auto const& of) {
            if (detail::broadcast_shape(field, shape, of.shape(), -1) != shape)
                detail::do_not_broadcast(field, of.shape(), shape);
        };
        check("condition", condition);
        check(of_y ? "y" : "x", x);
        if (out_grad.size() == 0) return Tensor<T, D>::zeros(exec, x.shape());
        auto const zero = Tensor<T, D>::zeros(exec, {});
        auto chosen = of_y ? where(exec, condition, zero, out_grad) : where(exec, condition, out_grad, zero);
        if (x.shape() == shape) return chosen;
        auto out = detail::new_tensor<T>(exec, x.shape());
        detail::fold_axes<detail::sum_t<T>, detail::add_lanes>(exec, detail::reduction_to(x.shape(), shape, -1),
                                                               chosen.data(), out.data());
        return out;
    }
};

/// See where.
struct where_op : detail::declared<where_op> {
    static constexpr unsigned row_inputs = 0b111;
    using grad = grad_rules<grad_rule<where_grad_op<false>>, grad_rule<where_grad_op<true>>>;

    static constexpr VarSpec infer(VarSpec const& condition, VarSpec const& x, VarSpec const& y) {
        spec::same_dtype("where: condition", condition, tensor_spec<bool>({}));
        VarSpec like = condition;
        like.dtype = x.dtype;
        return detail::broadcast_spec("where: condition", detail::broadcast_spec("where: y", x, y, -1), like, -1);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<bool, D> const& condition, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return where(exec, condition, x, y);
    }
};

}  // namespace rowan::inline v0
