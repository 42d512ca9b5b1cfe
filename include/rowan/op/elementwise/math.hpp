// rowan/op/elementwise/math.hpp: exp, log, sin, cos, sqrt, rsqrt, square, abs, sign, floor, ceil, round and pow, element-wise.
#pragma once

#include <rowan/op/detail/math_formulas.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>

namespace rowan::inline v0 {

/// exp(x) element-wise, computed in dtype<T>::sum, within 1.5 units in the last place for float and double.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> exp(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::exp_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto exp(X&& x) { return detail::unary<detail::exp_formula>(x.device(), x); }

using exp_op = unary_op<detail::exp_formula>;            ///< See exp.
using exp_grad_op = unary_grad_op<detail::exp_formula>;  ///< The gradient of exp.

/// The natural logarithm element-wise, within 1 unit in the last place for float and double; -infinity for 0, NaN for
/// negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> log(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::log_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto log(X&& x) { return detail::unary<detail::log_formula>(x.device(), x); }

using log_op = unary_op<detail::log_formula>;            ///< See log.
using log_grad_op = unary_grad_op<detail::log_formula>;  ///< The gradient of log.

/// The sine element-wise, within 1 unit in the last place for all floats and doubles, also huge ones, with the same
/// bits on all machines; NaN for infinities. Those of floats are computed in double.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> sin(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::sin_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto sin(X&& x) { return detail::unary<detail::sin_formula>(x.device(), x); }

using sin_op = unary_op<detail::sin_formula>;            ///< See sin.
using sin_grad_op = unary_grad_op<detail::sin_formula>;  ///< The gradient of sin.

/// The cosine element-wise, as sin.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> cos(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::cos_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto cos(X&& x) { return detail::unary<detail::cos_formula>(x.device(), x); }

using cos_op = unary_op<detail::cos_formula>;            ///< See cos.
using cos_grad_op = unary_grad_op<detail::cos_formula>;  ///< The gradient of cos.

/// The square root element-wise, correctly rounded; NaN for negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> sqrt(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::sqrt_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto sqrt(X&& x) { return detail::unary<detail::sqrt_formula>(x.device(), x); }

using sqrt_op = unary_op<detail::sqrt_formula>;            ///< See sqrt.
using sqrt_grad_op = unary_grad_op<detail::sqrt_formula>;  ///< The gradient of sqrt.

/// 1 / sqrt(x) element-wise; infinity for 0, NaN for negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> rsqrt(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::rsqrt_formula>(exec, x);
}
template <class T, class Device>
Tensor<T, Device> rsqrt(Tensor<T, Device> const& x) {
    return rsqrt(x.device(), x);
}

using rsqrt_op = unary_op<detail::rsqrt_formula>;            ///< See rsqrt.
using rsqrt_grad_op = unary_grad_op<detail::rsqrt_formula>;  ///< The gradient of rsqrt.

/// x² element-wise; integers wrap around.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> square(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::square_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto square(X&& x) { return detail::unary<detail::square_formula>(x.device(), x); }

using square_op = unary_op<detail::square_formula>;            ///< See square.
using square_grad_op = unary_grad_op<detail::square_formula>;  ///< The gradient of square.

/// |x| element-wise; the gradient at 0 is 0. The smallest integer of a type is its own result.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> abs(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::abs_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto abs(X&& x) { return detail::unary<detail::abs_formula>(x.device(), x); }

using abs_op = unary_op<detail::abs_formula>;            ///< See abs.
using abs_grad_op = unary_grad_op<detail::abs_formula>;  ///< The gradient of abs.

/// 1 for x > 0, -1 for x < 0, 0 for both zeros, NaN for NaN, element-wise, as NumPy; the gradient is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> sign(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::sign_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto sign(X&& x) { return detail::unary<detail::sign_formula>(x.device(), x); }

using sign_op = unary_op<detail::sign_formula>;            ///< See sign.
using sign_grad_op = unary_grad_op<detail::sign_formula>;  ///< The gradient of sign.

/// The greatest integer not above x, element-wise; -0, infinities and NaN remain; the gradient is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> floor(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::floor_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto floor(X&& x) { return detail::unary<detail::floor_formula>(x.device(), x); }

using floor_op = unary_op<detail::floor_formula>;            ///< See floor.
using floor_grad_op = unary_grad_op<detail::floor_formula>;  ///< The gradient of floor.

/// The smallest integer not below x, element-wise; -0, infinities and NaN remain, and numbers between -1 and 0 become
/// -0; the gradient is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> ceil(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::ceil_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto ceil(X&& x) { return detail::unary<detail::ceil_formula>(x.device(), x); }

using ceil_op = unary_op<detail::ceil_formula>;            ///< See ceil.
using ceil_grad_op = unary_grad_op<detail::ceil_formula>;  ///< The gradient of ceil.

/// The nearest integer element-wise, of two the even one, as NumPy; the sign of x remains, also where the result is 0,
/// except for elements of user-defined types; infinities and NaN remain; the gradient is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> round(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::round_formula>(exec, x);
}
template <class X>
requires detail::tensor_argument<X>
auto round(X&& x) { return detail::unary<detail::round_formula>(x.device(), x); }

using round_op = unary_op<detail::round_formula>;            ///< See round.
using round_grad_op = unary_grad_op<detail::round_formula>;  ///< The gradient of round.

/// x to the power of the exponent, element-wise, within 2 units in the last place for float and double, with the zeros,
/// infinities and NaN of C's pow; the same bits on all machines. The exponent is not rounded to the type of x. The
/// gradient is out_grad · exponent · x^(exponent - 1), within 4 units.
/// shapes   x [...] -> [...]
/// errors   ValueError if the exponent is not finite
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> pow(D exec, Tensor<T, D> const& x, PowOptions options = {}) {
    return detail::unary<detail::pow_formula>(exec, x, options);
}
template <class X>
requires detail::changeable_tensor<X>
auto pow(Cpu exec, X&& x, PowOptions options = {}) { return detail::unary<detail::pow_formula>(exec, x, options); }
template <class X>
requires detail::tensor_argument<X>
auto pow(X&& x, PowOptions options = {}) { return detail::unary<detail::pow_formula>(x.device(), x, options); }

using pow_op = unary_op<detail::pow_formula>;            ///< See pow.
using pow_grad_op = unary_grad_op<detail::pow_formula>;  ///< The gradient of pow.

}  // namespace rowan::inline v0
