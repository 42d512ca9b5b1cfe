// rowan/op/math.hpp: exp, log, sqrt, rsqrt, square, abs and pow, element-wise.
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
