// rowan/layer/elementwise.hpp: + - * / of Vars and numbers.
#pragma once

#include <rowan/layer/operators.hpp>

#include <concepts>
#include <type_traits>

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
    auto const shifted = [](auto const& a, double s) { return scale(a, 1, s); };
    return rowan::detail::combine(x, y, add, shifted, [&](double s, auto const& b) { return shifted(b, s); });
}
template <class A, class B>
requires rowan::detail::has_var<A, B>
auto operator-(A&& x, B&& y) {
    return rowan::detail::combine(
        x, y, sub, [](auto const& a, double s) { return scale(a, 1, -s); },
        [](double s, auto const& b) { return scale(b, -1, s); });
}
template <class A, class B>
requires rowan::detail::has_var<A, B>
auto operator*(A&& x, B&& y) {
    return rowan::detail::combine(x, y, mul, scale, [](double s, auto const& b) { return scale(b, s); });
}
template <class A, class B>
requires rowan::detail::has_var<A, B>
auto operator/(A&& x, B&& y) {
    static_assert(rowan::detail::divides<std::remove_cvref_t<A>> && rowan::detail::divides<std::remove_cvref_t<B>>,
                  "rowan::layer: / needs Vars of a floating-point type: convert with layer::cast");
    return rowan::detail::combine(
        x, y, div, [](auto const& a, double s) { return scale(a, 1 / s); },
        [](double s, auto const& b) { return div(apply<full_like_op>({s}, b), b); });
}

}  // namespace rowan::inline v0::layer
