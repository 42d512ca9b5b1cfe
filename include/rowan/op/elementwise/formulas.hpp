// rowan/op/elementwise/formulas.hpp: functions that apply a formula to every element.
#pragma once

#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/declared.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The function of an operator that applies a formula to every element.
template <class Op, class D, class T>
Tensor<T, D> unary(D const& exec, Tensor<T, D> const& x, attributes_of<Op> const& options = {}) {
    static_assert(floating_element<T> || takes_elements<Op, std::int64_t>,
                  "rowan: this function needs x of a floating-point type: convert it");
    return run_of<Op, Tensor<T, D>>(exec, x, options);
}

}  // namespace detail

/// Declares the function f of elements, with and without an execution; with the type of its options, if it has some.
#define ROWAN_ELEMENTWISE(f, ...)                                                                        \
    template <class T, device D>                                                                         \
    Tensor<T, D> f(D const& exec, Tensor<T, D> const& x __VA_OPT__(, __VA_ARGS__ const& options = {})) { \
        return detail::unary<f##_op>(exec, x __VA_OPT__(, options));                                     \
    }                                                                                                    \
    template <class T, class Device>                                                                     \
    Tensor<T, Device> f(Tensor<T, Device> const& x __VA_OPT__(, __VA_ARGS__ const& options = {})) {      \
        return detail::unary<f##_op>(x.device(), x __VA_OPT__(, options));                               \
    }

/// The same where xtensor has a function of that name, which a tensor would fit as well.
#define ROWAN_ELEMENTWISE_OF_XTENSOR(f)                    \
    template <class T, device D>                           \
    Tensor<T, D> f(D const& exec, Tensor<T, D> const& x) { \
        return detail::unary<f##_op>(exec, x);             \
    }                                                      \
    template <class X>                                     \
    requires detail::tensor_argument<X>                    \
    auto f(X&& x) { return detail::unary<f##_op>(x.device(), x); }

/// max(x, 0) element-wise; NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
ROWAN_ELEMENTWISE(relu)

/// min(max(x, 0), threshold) element-wise; NaN propagates. The gradient at the two bends is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if threshold is not finite or negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(relu6, Relu6Options)

/// x where x > 0, else alpha · x, element-wise.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(leaky_relu, LeakyReluOptions)

/// x where x > threshold, else 0, element-wise; NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(thresholded_relu, ThresholdedReluOptions)

/// x where x > 0, else alpha · (exp(x) - 1), element-wise (Clevert et al. 2015).
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(elu, EluOptions)

/// exp(x) element-wise, computed in dtype<T>::sum, within 1.5 units in the last place for float and double.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(exp)

/// The natural logarithm element-wise, within 1 unit in the last place for float and double; -infinity for 0, NaN for
/// negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(log)

/// x to the power of the exponent, element-wise, within 2 units in the last place for float and double, with the zeros,
/// infinities and NaN of C's pow; the same bits on all machines. The exponent is not rounded to the type of x. The
/// gradient is out_grad · exponent · x^(exponent - 1), within 4 units.
/// shapes   x [...] -> [...]
/// errors   ValueError if the exponent is not finite
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> pow(D exec, Tensor<T, D> const& x, PowOptions options = {}) {
    return detail::unary<pow_op>(exec, x, options);
}
template <class X>
requires detail::changeable_tensor<X>
auto pow(Cpu exec, X&& x, PowOptions options = {}) { return detail::unary<pow_op>(exec, x, options); }
template <class X>
requires detail::tensor_argument<X>
auto pow(X&& x, PowOptions options = {}) { return detail::unary<pow_op>(x.device(), x, options); }

/// The square root element-wise, correctly rounded; NaN for negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(sqrt)

/// 1 / sqrt(x) element-wise; infinity for 0, NaN for negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(rsqrt)

/// x² element-wise; integers wrap around.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(square)

/// 1 / (1 + exp(-x)) element-wise, computed in dtype<T>::sum, for float and double within 4 units in the last place.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
ROWAN_ELEMENTWISE(sigmoid)

/// slope · x + offset, limited to [0, 1], element-wise. The gradient at the two bends is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(hard_sigmoid, HardSigmoidOptions)

/// x / (1 + exp(-beta · x)) element-wise, within 4 + 2 |beta · x| units in the last place; with beta = 1, SiLU.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(swish, SwishOptions)

/// x / (1 + exp(-x)) element-wise: swish with beta = 1.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(silu)

/// x · min(max(x + offset, 0), threshold) / scale element-wise (Howard et al. 2019).
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite, scale is 0, or threshold is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(hard_swish, HardSwishOptions)

/// log(1 + exp(beta · x)) / beta element-wise, within 5 units in the last place; nothing overflows.
/// shapes   x [...] -> [...]
/// errors   ValueError if beta is not finite or not above 0
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(softplus, SoftplusOptions)

/// x · tanh(log(1 + exp(x))) element-wise (Misra 2019), within 5 units in the last place; nothing overflows.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(mish)

/// tanh(x) element-wise, computed in dtype<T>::sum as -t / (t + 2) for t = exp(-2 |x|) - 1, with the sign of x.
/// User-defined types need an `exp` that ADL finds. NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
ROWAN_ELEMENTWISE_OF_XTENSOR(tanh)

/// scale_b · tanh(scale_a · x) element-wise.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite or scale_b is 0
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(stanh, StanhOptions)

/// min(max(x, min), max) element-wise; NaN propagates. The gradient at the two bends is 0; that of clip is out_grad.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite or max < min
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(hardtanh, HardtanhOptions)

/// x / (1 + |x|) element-wise.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(softsign)

/// The sine element-wise, within 1 unit in the last place for all floats and doubles, also huge ones, with the same
/// bits on all machines; NaN for infinities. Those of floats are computed in double.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(sin)

/// The cosine element-wise, as sin.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(cos)

/// x · Φ(x) element-wise, where Φ is the distribution function of the standard normal distribution (Hendrycks and Gimpel
/// 2016), within 7 units in the last place for float and 24 for double, tails included; with `approximate`,
/// x / 2 · (1 + tanh(u)), u = sqrt(2 / π) · (x + 0.044715 x³), within 4 + 6 |u| units. 0 for -infinity.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE(gelu, GeluOptions)

/// |x| element-wise; the gradient at 0 is 0. The smallest integer of a type is its own result.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(abs)

/// 1 for x > 0, -1 for x < 0, 0 for both zeros, NaN for NaN, element-wise, as NumPy; the gradient is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(sign)

/// The greatest integer not above x, element-wise; -0, infinities and NaN remain; the gradient is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(floor)

/// The smallest integer not below x, element-wise; -0, infinities and NaN remain, and numbers between -1 and 0 become
/// -0; the gradient is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(ceil)

/// The nearest integer element-wise, of two the even one, as NumPy; the sign of x remains, also where the result is 0,
/// except for elements of user-defined types; infinities and NaN remain; the gradient is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(round)

}  // namespace rowan::inline v0
