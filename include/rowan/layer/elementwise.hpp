// rowan/layer/elementwise.hpp: element-wise layers.
#pragma once

#include <rowan/layer/operators.hpp>
#include <rowan/layer/var.hpp>

#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class V>
inline constexpr bool divides = true;
template <class T, class Device>
inline constexpr bool divides<layer::Var<T, Device>> = floating_element<T>;

/// Whether x or y of an operator is a Var, and the other one is a Var, a number or a tensor, which is an error.
template <class X>
concept operand = is_var<X> || std::is_arithmetic_v<X> || xt::is_xexpression<X>::value;
template <class A, class B>
concept has_var = (is_var<std::remove_cvref_t<A>> ||
                   is_var<std::remove_cvref_t<B>>)&&operand<std::remove_cvref_t<A>>&& operand<std::remove_cvref_t<B>>;

/// Calls the function for two Vars, for a Var and a number, or for a number and a Var.
template <class A, class B, class Both, class Right, class Left>
auto combine(A const& x, B const& y, Both const& both, Right const& right, Left const& left) {
    constexpr bool first = is_var<A> && std::is_arithmetic_v<B>, second = is_var<B> && std::is_arithmetic_v<A>;
    static_assert(std::same_as<A, B> || first || second,
                  "rowan::layer: + - * / take two Vars of one element type and device, or a Var and a number: convert "
                  "with layer::cast, or feed a tensor as layer::data");
    if constexpr (std::same_as<A, B>) {
        return both(x, y);
    } else if constexpr (first) {
        return right(x, static_cast<double>(y));
    } else if constexpr (second) {
        return left(static_cast<double>(x), y);
    } else if constexpr (is_var<A>) {
        return x;  // after the static_assert
    } else {
        return y;
    }
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// The element-wise sum of one or more values of the same shape.
/// shapes   one or more x, each [...] -> [...]
/// errors   ShapeError if x is empty or shapes differ
/// cost     as rowan::sum, when the net runs
template <class T, class Device>
Var<T, Device> sum(std::vector<Var<T, Device>> const& x) {
    std::vector<Variable*> inputs;
    for (auto const& summand : x) inputs.push_back(&*summand);
    return Var<T, Device>(*default_scope().new_op<sum_op, Device, T>(std::move(inputs)).outputs[0]);
}
template <class T, class Device>
Var<T, Device> sum(std::initializer_list<Var<T, Device>> x) {
    return sum(std::vector<Var<T, Device>>(x));
}

/// factor · x + bias, element-wise.
///     auto next = layer::scale(x, {.factor = 2, .bias = 1});       // or layer::scale(x, 2, 1)
/// shapes   x [...] -> [...], with the levels of x
/// errors   when the net runs, as rowan::scale
/// cost     as rowan::scale, when the net runs
template <class T, class Device>
Var<T, Device> scale(Var<T, Device> const& x, ScaleOptions const& options) {
    return apply<scale_op>(options, x);
}
template <class T, class Device>
Var<T, Device> scale(Var<T, Device> const& x, double factor, double bias = 0) {
    return scale(x, {.factor = factor, .bias = bias});
}

/// Clips every element to [min, max]; the gradient of a clipped element is 0. NaN is preserved.
///     auto between = layer::clip(x, {.min = 0, .max = 6});         // or layer::clip(x, 0, 6)
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if a bound is not finite or max < min
/// cost     as rowan::clip, when the net runs
template <class T, class Device>
Var<T, Device> clip(Var<T, Device> const& x, ClipOptions const& options) {
    return apply<clip_op>(options, x);
}
template <class T, class Device>
Var<T, Device> clip(Var<T, Device> const& x, double min, double max) {
    return clip(x, {.min = min, .max = max});
}

/// -x, element-wise.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::negate, when the net runs
template <class T, class Device>
Var<T, Device> operator-(Var<T, Device> const& x) {
    return negate(x);
}

/// Two Vars of one element type and device, or a Var and a number, which stands for a tensor of the Var's shape.
///     auto mean = (x + y) / 2, gate = 1 - layer::sigmoid(z);
/// A number is multiplied or added as by layer::scale; x / s is x · (1 / s).
/// shapes   two Vars as layer::add; x [...] and a number -> [...], with the levels of x
/// errors   as layer::add; when the net runs, as rowan::scale
/// cost     as rowan::add, sub, mul, div or scale, when the net runs; a number divided by x is stored once
///          for each element
template <class A, class B>
requires rowan::detail::has_var<A, B>
auto operator+(A&& x, B&& y) {
    return rowan::detail::combine(
        x, y, [](auto const& a, auto const& b) { return add(a, b); },
        [](auto const& a, double s) { return scale(a, 1, s); }, [](double s, auto const& b) { return scale(b, 1, s); });
}
template <class A, class B>
requires rowan::detail::has_var<A, B>
auto operator-(A&& x, B&& y) {
    return rowan::detail::combine(
        x, y, [](auto const& a, auto const& b) { return sub(a, b); },
        [](auto const& a, double s) { return scale(a, 1, -s); },
        [](double s, auto const& b) { return scale(b, -1, s); });
}
template <class A, class B>
requires rowan::detail::has_var<A, B>
auto operator*(A&& x, B&& y) {
    return rowan::detail::combine(
        x, y, [](auto const& a, auto const& b) { return mul(a, b); },
        [](auto const& a, double s) { return scale(a, s); }, [](double s, auto const& b) { return scale(b, s); });
}
template <class A, class B>
requires rowan::detail::has_var<A, B>
auto operator/(A&& x, B&& y) {
    static_assert(rowan::detail::divides<std::remove_cvref_t<A>> && rowan::detail::divides<std::remove_cvref_t<B>>,
                  "rowan::layer: / needs Vars of a floating-point type: convert with layer::cast");
    return rowan::detail::combine(
        x, y, [](auto const& a, auto const& b) { return div(a, b); },
        [](auto const& a, double s) { return scale(a, 1 / s); },
        [](double s, auto const& b) { return div(apply<full_like_op>({s}, b), b); });
}

ROWAN_TEMPLATE(Var<float> sum(std::vector<Var<float>> const&))
ROWAN_TEMPLATE(Var<float> scale(Var<float> const&, double, double))
ROWAN_TEMPLATE(Var<float> clip(Var<float> const&, double, double))
ROWAN_TEMPLATE(Var<double> sum(std::vector<Var<double>> const&))
ROWAN_TEMPLATE(Var<double> scale(Var<double> const&, double, double))
ROWAN_TEMPLATE(Var<double> clip(Var<double> const&, double, double))

}  // namespace rowan::inline v0::layer
