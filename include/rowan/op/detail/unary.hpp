// rowan/op/detail/unary.hpp: operators that apply a formula to every element, made from the formula and its gradient.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// A formula has its `value` of x, and the gradient of x from that of the result: `gradient_of_out` of the result, or
/// `gradient_of_x` of x, whichever is cheaper. They are templates over SIMD registers and scalars, and take the options
/// of the operator, if it has some, as the last argument. `check` of the options may refuse them.
template <class Formula, class Options>
inline constexpr bool reads_out = requires(float x) {
    Formula::gradient_of_out(x, x);
}
|| requires(float x, Options const& o) { Formula::gradient_of_out(x, x, o); };

template <class Formula, class Options>
struct UnaryValue {
    Options options;

    ROWAN_FORMULA V operator()(V const& x) const {
        if constexpr (requires { Formula::value(x); }) {
            return Formula::value(x);
        } else {
            return Formula::value(x, options);
        }
    }
};

template <class Formula, class Options>
struct UnaryGradient {
    Options options;

    ROWAN_FORMULA V operator()(V const& saved, V const& g) const {
        if constexpr (requires { Formula::gradient_of_out(saved, g); }) {
            return Formula::gradient_of_out(saved, g);
        } else if constexpr (requires { Formula::gradient_of_out(saved, g, options); }) {
            return Formula::gradient_of_out(saved, g, options);
        } else if constexpr (requires { Formula::gradient_of_x(saved, g); }) {
            return Formula::gradient_of_x(saved, g);
        } else {
            return Formula::gradient_of_x(saved, g, options);
        }
    }
};

/// errors   ValueError if a number among the options is not finite, and as Formula::check
template <class Formula, class Options>
constexpr void check_options(Options const& options) {
    if constexpr (has_fields<Options>) {
        each_field<Options>([&](auto const& field) { check_finite(field.name.data(), options.*field.member); });
    }
    if constexpr (requires { Formula::check(options); }) Formula::check(options);
}

/// The function of an operator that applies a formula to every element.
template <class Formula>
struct unary_function {
    template <class T, class D, class Options>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Options const& options) {
        check_options<Formula>(options);
        return zip_elements<sum_t<T>>(exec, UnaryValue<Formula, Options>{options}, x);
    }
};

}  // namespace detail

/// An operator that applies a formula to every element.
template <class Op, class Formula>
struct unary_op : detail::declared<Op> {
    using formula = Formula;
    using options = typename detail::declared<Op>::attributes;
    static constexpr unsigned row_inputs = 0b1;
    using grad =
        gradient<Op,
                 uses<std::conditional_t<detail::reads_out<Formula, options>, slot::out, slot::x>, grad_of<slot::out>>,
                 makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, options const& given = {}) {
        detail::check_options<Formula>(given);
        return spec::elementwise(detail::joined_name<Op, detail::x_suffix>::value.data(), x);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, options const& given = {}) {
        return detail::unary<Op>(exec, x, given);
    }

    /// The gradient of x from `saved`, which is the result or x, and the gradient of the result.
    /// errors   ShapeError if the shapes differ
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& saved, Tensor<T, D> const& out_grad,
                                 options const& given = {}) {
        detail::check_same_shape("out_grad", out_grad, saved);
        detail::UnaryGradient<Formula, options> const slope{given};
        return detail::zip_elements<detail::sum_t<T>>(exec, slope, saved, out_grad);
    }
};

}  // namespace rowan::inline v0

/// Defines the operator f_op of detail::f_formula, whose function formulas.hpp declares.
#define ROWAN_ELEMENTWISE_OP(f)                                              \
    struct f##_op : unary_op<f##_op, detail::f##_formula> {}; /**< See f. */ \
    template <>                                                              \
    struct detail::function_of<f##_op> : detail::unary_function<detail::f##_formula> {};
