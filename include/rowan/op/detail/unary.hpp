// rowan/op/detail/unary.hpp: operators that apply a formula to every element, made from the formula and its gradient.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// A formula has a `name`, its `value` of x, and the gradient of x from that of the result: `gradient_of_out` of the
/// result, or `gradient_of_x` of x, whichever is cheaper. They are templates over SIMD registers and scalars. A formula
/// with settings has a type `options` and takes them as the last argument; one that is also for integers has
/// `integers = true`.
template <class Formula>
struct formula_options {
    using type = no_attributes;
};
template <class Formula>
requires requires { typename Formula::options; }
struct formula_options<Formula> {
    using type = typename Formula::options;
};
template <class Formula>
using options_of = typename formula_options<Formula>::type;

template <class Formula>
inline constexpr bool for_integers = requires {
    Formula::integers;
};
template <class Formula>
inline constexpr bool reads_out = requires(float x) {
    Formula::gradient_of_out(x, x);
}
|| requires(float x, options_of<Formula> const& o) { Formula::gradient_of_out(x, x, o); };

template <class Formula>
struct UnaryValue {
    options_of<Formula> options;

    ROWAN_FORMULA V operator()(V const& x) const {
        if constexpr (requires { Formula::value(x); }) {
            return Formula::value(x);
        } else {
            return Formula::value(x, options);
        }
    }
};

template <class Formula>
struct UnaryGradient {
    options_of<Formula> options;

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
template <class Formula>
constexpr void check_options(options_of<Formula> const& options) {
    if constexpr (has_fields<options_of<Formula>>) {
        each_field<options_of<Formula>>(
            [&](auto const& field) { check_finite(field.name.data(), options.*field.member); });
    }
    if constexpr (requires { Formula::check(options); }) Formula::check(options);
}

/// The formula applied to every element.
template <class Formula, class D, class T>
Tensor<T, D> unary(D const& exec, Tensor<T, D> const& x, options_of<Formula> const& options = {}) {
    static_assert(floating_element<T> || for_integers<Formula>,
                  "rowan: this function needs x of a floating-point type: convert it");
    check_options<Formula>(options);
    return zip_elements<sum_t<T>>(exec, UnaryValue<Formula>{options}, x);
}

}  // namespace detail

/// An operator that applies a formula to every element.
template <class Formula>
struct unary_op : detail::builtin_op<unary_op<Formula>, slots<slot::x>, slots<slot::out>, detail::options_of<Formula>> {
    static constexpr std::string_view name = Formula::name, brief = Formula::brief;
    static constexpr Elements elements = detail::for_integers<Formula> ? Elements::numbers : Elements::floats;
    static constexpr unsigned row_inputs = 0b1;
    using grad =
        gradient<unary_op, uses<std::conditional_t<detail::reads_out<Formula>, slot::out, slot::x>, grad_of<slot::out>>,
                 makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, detail::options_of<Formula> const& options = {}) {
        detail::check_options<Formula>(options);
        return spec::elementwise(detail::joined_name<Formula, detail::x_suffix>::value.data(), x);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, detail::options_of<Formula> const& options = {}) {
        return detail::unary<Formula>(exec, x, options);
    }

    /// The gradient of x from `saved`, which is the result or x, and the gradient of the result.
    /// errors   ShapeError if the shapes differ
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& saved, Tensor<T, D> const& out_grad,
                                 detail::options_of<Formula> const& options = {}) {
        detail::check_same_shape("out_grad", out_grad, saved);
        return detail::zip_elements<detail::sum_t<T>>(exec, detail::UnaryGradient<Formula>{options}, saved, out_grad);
    }
};

}  // namespace rowan::inline v0

/// Defines the function f of elements, with and without an execution, and its operator f_op, from
/// detail::f_formula; with the type of its options, if it has some.
#define ROWAN_ELEMENTWISE(f, ...)                                                                        \
    template <class T, device D>                                                                         \
    Tensor<T, D> f(D const& exec, Tensor<T, D> const& x __VA_OPT__(, __VA_ARGS__ const& options = {})) { \
        return detail::unary<detail::f##_formula>(exec, x __VA_OPT__(, options));                        \
    }                                                                                                    \
    template <class T, class Device>                                                                     \
    Tensor<T, Device> f(Tensor<T, Device> const& x __VA_OPT__(, __VA_ARGS__ const& options = {})) {      \
        return detail::unary<detail::f##_formula>(x.device(), x __VA_OPT__(, options));                  \
    }                                                                                                    \
    using f##_op = unary_op<detail::f##_formula>; /**< See f. */

/// The same where xtensor has a function of that name, which a tensor would fit as well.
#define ROWAN_ELEMENTWISE_OF_XTENSOR(f)                                         \
    template <class T, device D>                                                \
    Tensor<T, D> f(D const& exec, Tensor<T, D> const& x) {                      \
        return detail::unary<detail::f##_formula>(exec, x);                     \
    }                                                                           \
    template <class X>                                                          \
    requires detail::tensor_argument<X>                                         \
    auto f(X&& x) { return detail::unary<detail::f##_formula>(x.device(), x); } \
    using f##_op = unary_op<detail::f##_formula>; /**< See f. */
