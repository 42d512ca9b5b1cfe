// rowan/layer/math.hpp: exp, log, sin, cos, sqrt, rsqrt, square, abs, sign, floor, ceil, round and pow, element-wise.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/elementwise/math.hpp>

namespace rowan::inline v0::layer {

/// exp(x), element-wise, as rowan::exp.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::exp, when the net runs
template <class T, class Device>
Var<T, Device> exp(Var<T, Device> const& x) {
    return apply<exp_op>({}, x);
}
/// The natural logarithm, element-wise, as rowan::log.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::log, when the net runs
template <class T, class Device>
Var<T, Device> log(Var<T, Device> const& x) {
    return apply<log_op>({}, x);
}
/// The sine, element-wise, as rowan::sin.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::sin, when the net runs
template <class T, class Device>
Var<T, Device> sin(Var<T, Device> const& x) {
    return apply<sin_op>({}, x);
}
/// The cosine, element-wise, as rowan::cos.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::cos, when the net runs
template <class T, class Device>
Var<T, Device> cos(Var<T, Device> const& x) {
    return apply<cos_op>({}, x);
}
/// The square root, element-wise, as rowan::sqrt.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::sqrt, when the net runs
template <class T, class Device>
Var<T, Device> sqrt(Var<T, Device> const& x) {
    return apply<sqrt_op>({}, x);
}
/// 1 / sqrt(x), element-wise, as rowan::rsqrt.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::rsqrt, when the net runs
template <class T, class Device>
Var<T, Device> rsqrt(Var<T, Device> const& x) {
    return apply<rsqrt_op>({}, x);
}
/// x², element-wise, as rowan::square.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::square, when the net runs
template <class T, class Device>
Var<T, Device> square(Var<T, Device> const& x) {
    return apply<square_op>({}, x);
}
/// |x|, element-wise, as rowan::abs.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::abs, when the net runs
template <class T, class Device>
Var<T, Device> abs(Var<T, Device> const& x) {
    return apply<abs_op>({}, x);
}
/// -1, 0 or 1, the sign of x, element-wise, as rowan::sign.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::sign, when the net runs
template <class T, class Device>
Var<T, Device> sign(Var<T, Device> const& x) {
    return apply<sign_op>({}, x);
}
/// The greatest integer not above x, element-wise, as rowan::floor.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::floor, when the net runs
template <class T, class Device>
Var<T, Device> floor(Var<T, Device> const& x) {
    return apply<floor_op>({}, x);
}
/// The smallest integer not below x, element-wise, as rowan::ceil.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::ceil, when the net runs
template <class T, class Device>
Var<T, Device> ceil(Var<T, Device> const& x) {
    return apply<ceil_op>({}, x);
}
/// The nearest integer, of two the even one, element-wise, as rowan::round.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::round, when the net runs
template <class T, class Device>
Var<T, Device> round(Var<T, Device> const& x) {
    return apply<round_op>({}, x);
}
/// x to the power of options.exponent, element-wise, as rowan::pow.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if the exponent is not finite
/// cost     as rowan::pow, when the net runs
template <class T, class Device>
Var<T, Device> pow(Var<T, Device> const& x, PowOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::pow_formula>(options);
    return apply<pow_op>(options, x);
}

}  // namespace rowan::inline v0::layer
