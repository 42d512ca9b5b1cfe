// rowan/op/shape/stack.hpp: stack, tensors of one shape joined along a new axis.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/op/shape/functions.hpp>

#include <span>

namespace rowan::inline v0 {

namespace detail {

/// The shape with a dim of n at the axis.
template <class Shape>
constexpr Shape stacked_shape(Shape const& shape, std::size_t n, std::size_t axis) {
    if (shape.size() == max_tensor_rank) spec::the_rank_does_not_fit("x[0]", shape.size(), "at most 7");
    Shape result;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i == axis) result.push_back(static_cast<std::remove_cvref_t<decltype(shape[0])>>(n));
        result.push_back(shape[i]);
    }
    if (axis == shape.size()) result.push_back(static_cast<std::remove_cvref_t<decltype(result[0])>>(n));
    return result;
}

}  // namespace detail

template <>
struct detail::function_of<stack_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, std::vector<Tensor<T, D>> const& x, StackOptions const& options) {
        ElementLoops<D>::check(exec);
        check_some(x.size());
        std::size_t const axis = checked_axis(options.axis, x[0].dimension() + 1);
        auto const shape = stacked_shape(x[0].shape(), 1, axis);
        std::vector<Tensor<T, D>> parts;
        for (std::size_t k = 0; k < x.size(); ++k) {
            if (x[k].shape() != x[0].shape())
                throw ShapeError(part_name("x", k).append(".shape()"), shape_text(x[k].shape()),
                                 shape_text(x[0].shape()).append(", that of x[0]"));
            parts.push_back(x[k].reshaped(shape));
        }
        return concat(exec, parts, static_cast<std::int64_t>(axis));
    }
};

/// See stack. The slot `x` holds all tensors as a std::vector.
struct stack_op : detail::declared<stack_op> {
    static constexpr StackOptions normal(VarSpec const& x, StackOptions const& options) {
        return detail::axes_from_first(x.dims.size() + 1, options);
    }
    static constexpr Linearity linearity = Linearity::sum;
    using grad = gradient<stack_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr bool row_wise(StackOptions const& options) { return options.axis > 0; }
    static constexpr bool row_output(StackOptions const& options) { return options.axis > 0; }
    static constexpr bool row_output_backward = true;

    static constexpr VarSpec infer(std::span<VarSpec const> x, StackOptions const& options) {
        detail::check_some(x.size());
        spec::dense("stack: x", x[0]);
        VarSpec out = x[0];
        for (std::size_t k = 1; k < x.size(); ++k) {
            detail::with_part_name("stack: x", k, [&](char const* name) {
                spec::dense(name, x[k]);
                spec::same_dtype(name, x[k], out);
                out.dims = spec::same_dims(name, x[k], out);
            });
        }
        std::size_t const axis = detail::checked_axis(options.axis, out.dims.size() + 1);
        out.dims = detail::stacked_shape(out.dims, x.size(), axis);
        if (axis == 0) out.lod_level = 0;
        return out;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& x, StackOptions const& options) {
        return stack(exec, x, options);
    }

    /// Cuts the gradient of the result into the gradients of the inputs.
    /// errors   ShapeError if x is empty or out_grad does not have the shape of the result; IndexError if the axis is
    ///          out of range
    template <class T, class D>
    static std::vector<Tensor<T, D>> backward(D exec, std::vector<Tensor<T, D>> const& x, Tensor<T, D> const& out_grad,
                                              StackOptions const& options) {
        detail::ElementLoops<D>::check(exec, out_grad);
        detail::check_some(x.size());
        std::size_t const axis = detail::checked_axis(options.axis, x[0].dimension() + 1);
        auto const shape = detail::stacked_shape(x[0].shape(), x.size(), axis);
        if (out_grad.shape() != shape)
            throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(shape));
        auto parts = detail::cut_along(exec, out_grad, axis, std::vector<std::int64_t>(x.size(), 1));
        for (auto& part : parts) part = part.reshaped(x[0].shape());
        return parts;
    }
};

}  // namespace rowan::inline v0
