// rowan/op/detail/reduce_op.hpp: operators that reduce a tensor along some axes, made from their rules.
#pragma once

#include <rowan/op/detail/axis.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/reduce/functions.hpp>

#include <algorithm>
#include <span>

namespace rowan::inline v0 {

namespace detail {

// A rule has a linearity. `of` writes the results, `of_none` returns those of a tensor without elements, and `grad` the
// gradient of the elements, which reads the results if `reads_out`.

/// The reduction of x by a rule along these axes.
template <class Rule, class T, class D>
Tensor<T, D> fold_along(D const& exec, Tensor<T, D> const& x, std::span<std::int64_t const> axes, bool keep_dims) {
    ElementLoops<D>::check(exec, x);
    auto const reduced = checked_axes(axes, x.dimension());
    auto const shape = reduced_shape(x.shape(), reduced, keep_dims);
    if (x.size() == 0) return Rule::of_none(exec, x, shape);
    auto out = new_tensor<T>(exec, shape);
    Rule::of(exec, reduction_of(x.shape(), reduced), x.data(), out.data());
    return out;
}
template <class Rule, class T, class D>
Tensor<T, D> fold_along(D const& exec, Tensor<T, D> const& x, ReduceOptions const& options) {
    return fold_along<Rule>(exec, x, options.axes, options.keep_dims);
}

/// The function of a reduce_op.
template <class Rule>
struct reduce_function {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, ReduceOptions const& options) {
        return fold_along<Rule>(exec, x, options);
    }
};

/// Its gradient; `out`, the result, is used if Rule::reads_out.
template <class Rule, class T, class D>
Tensor<T, D> fold_along_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& out,
                             Tensor<T, D> const& out_grad, ReduceOptions const& options) {
    ElementLoops<D>::check(exec, x, out, out_grad);
    auto const reduced = checked_axes(options.axes, x.dimension());
    auto const shape = reduced_shape(x.shape(), reduced, options.keep_dims);
    auto const check = [&](char const* field, Tensor<T, D> const& of) {
        if (of.shape() != shape) throw ShapeError(field, shape_text(of.shape()), shape_text(shape));
    };
    check("out_grad.shape()", out_grad);
    if (Rule::reads_out) check("out.shape()", out);
    if (x.size() == 0) return Tensor<T, D>::zeros(exec, x.shape());
    return Rule::grad(exec, x, out.data(), out_grad, reduced);
}

/// The spec of a reduction: the levels of x if axis 0 is kept.
constexpr VarSpec reduced_spec(char const* field, VarSpec const& x, std::span<std::int64_t const> axes,
                               bool keep_dims) {
    spec::dense(field, x);
    auto const reduced = checked_axes(axes, x.dims.size());
    return spec::with_dims(x, reduced_shape(x.dims, reduced, keep_dims),
                           reduced[0] || x.dims.empty() ? 0 : x.lod_level);
}

}  // namespace detail

/// A reduction along axes.
template <class Op, class Rule>
struct reduce_op : detail::declared<Op> {
    static constexpr Linearity linearity = Rule::linearity;
    static constexpr ReduceOptions normal(VarSpec const& x, ReduceOptions const& options) {
        return detail::axes_from_first(x.dims.size(), options);
    }
    static constexpr bool row_output_backward = true;
    using grad = gradient<Op,
                          std::conditional_t<Rule::reads_out, uses<slot::x, slot::out, grad_of<slot::out>>,
                                             uses<slot::x, grad_of<slot::out>>>,
                          makes<grad_of<slot::x>>>;

    /// Negative axes may be the first one: their number depends on the rank.
    static constexpr bool row_wise(ReduceOptions const& options) {
        return !options.axes.empty() && std::ranges::all_of(options.axes, [](std::int64_t axis) { return axis > 0; });
    }
    static constexpr bool row_output(ReduceOptions const& options) { return row_wise(options); }

    static constexpr VarSpec infer(VarSpec const& x, ReduceOptions const& options = {}) {
        char const* const field = detail::joined_name<detail::declared<Op>, detail::x_suffix>::value.data();
        return detail::reduced_spec(field, x, options.axes, options.keep_dims);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, ReduceOptions const& options = {}) {
        return detail::run_of<Op, Tensor<T, D>>(exec, x, options);
    }

    /// The gradient of x. Of a sum: each element gets the gradient of its sum; of a mean: its share. Of a
    /// maximum or minimum: the elements that equal the result get equal shares (those that are NaN if it is NaN), as in
    /// PyTorch's amax. Of a product: each element gets the product of the others, also if elements are zero or infinite: the
    /// product of all, divided by the element. It is right also where the product of all is not a number of T.
    template <class T, class D>
    requires(Rule::reads_out) static Tensor<T, D> backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& out,
                                                           Tensor<T, D> const& out_grad,
                                                           ReduceOptions const& options = {}) {
        return detail::fold_along_grad<Rule>(exec, x, out, out_grad, options);
    }
    template <class T, class D>
    requires(!Rule::reads_out) static Tensor<T, D> backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& out_grad,
                                                            ReduceOptions const& options = {}) {
        return detail::fold_along_grad<Rule>(exec, x, out_grad, out_grad, options);
    }
};

}  // namespace rowan::inline v0

/// Defines the operator f_op from a rule in detail, whose function functions.hpp declares.
#define ROWAN_REDUCE_OP(f, rule)                                       \
    struct f##_op : reduce_op<f##_op, detail::rule> {}; /**< See f. */ \
    template <>                                                        \
    struct detail::function_of<f##_op> : detail::reduce_function<detail::rule> {};
