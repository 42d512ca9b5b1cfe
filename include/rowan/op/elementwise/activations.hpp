// rowan/op/elementwise/activations.hpp: activation functions, element-wise.
#pragma once

#include <rowan/op/detail/activation_formulas.hpp>
#include <rowan/op/detail/unary.hpp>

namespace rowan::inline v0 {

// Each activation and its slope is right for every number: finite where the formula is, its limit for infinite x, and
// NaN for NaN. Slopes are within 4 epsilons of the element type.

/// min(max(x, 0), threshold) element-wise; NaN propagates. The gradient at the two bends is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if threshold is not finite or negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> relu6(D const& exec, Tensor<T, D> const& x, Relu6Options const& options = {}) {
    return detail::unary<detail::relu6_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> relu6(Tensor<T, Device> const& x, Relu6Options const& options = {}) {
    return relu6(x.device(), x, options);
}

using relu6_op = unary_op<detail::relu6_formula>;            ///< See relu6.
using relu6_grad_op = unary_grad_op<detail::relu6_formula>;  ///< The gradient of relu6.

/// min(max(x, min), max) element-wise; NaN propagates. The gradient at the two bends is 0; that of clip is out_grad.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite or max < min
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> hardtanh(D const& exec, Tensor<T, D> const& x, HardtanhOptions const& options = {}) {
    return detail::unary<detail::hardtanh_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> hardtanh(Tensor<T, Device> const& x, HardtanhOptions const& options = {}) {
    return hardtanh(x.device(), x, options);
}

using hardtanh_op = unary_op<detail::hardtanh_formula>;            ///< See hardtanh.
using hardtanh_grad_op = unary_grad_op<detail::hardtanh_formula>;  ///< The gradient of hardtanh.

/// x where x > 0, else alpha · x, element-wise.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> leaky_relu(D const& exec, Tensor<T, D> const& x, LeakyReluOptions const& options = {}) {
    return detail::unary<detail::leaky_relu_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> leaky_relu(Tensor<T, Device> const& x, LeakyReluOptions const& options = {}) {
    return leaky_relu(x.device(), x, options);
}

using leaky_relu_op = unary_op<detail::leaky_relu_formula>;            ///< See leaky_relu.
using leaky_relu_grad_op = unary_grad_op<detail::leaky_relu_formula>;  ///< The gradient of leaky_relu.

/// x where x > 0, else alpha · (exp(x) - 1), element-wise (Clevert et al. 2015).
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> elu(D const& exec, Tensor<T, D> const& x, EluOptions const& options = {}) {
    return detail::unary<detail::elu_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> elu(Tensor<T, Device> const& x, EluOptions const& options = {}) {
    return elu(x.device(), x, options);
}

using elu_op = unary_op<detail::elu_formula>;            ///< See elu.
using elu_grad_op = unary_grad_op<detail::elu_formula>;  ///< The gradient of elu.

/// x · Φ(x) element-wise, where Φ is the distribution function of the standard normal distribution (Hendrycks and Gimpel
/// 2016), within 12 units in the last place, or 24 where the result is subnormal; with `approximate`,
/// x / 2 · (1 + tanh(u)), u = sqrt(2 / π) · (x + 0.044715 x³), within 4 + 6 |u| units. 0 for -infinity.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> gelu(D const& exec, Tensor<T, D> const& x, GeluOptions const& options = {}) {
    return detail::unary<detail::gelu_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> gelu(Tensor<T, Device> const& x, GeluOptions const& options = {}) {
    return gelu(x.device(), x, options);
}

using gelu_op = unary_op<detail::gelu_formula>;            ///< See gelu.
using gelu_grad_op = unary_grad_op<detail::gelu_formula>;  ///< The gradient of gelu.

/// x / (1 + exp(-beta · x)) element-wise, within 4 + 2 |beta · x| units in the last place; with beta = 1, SiLU.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> swish(D const& exec, Tensor<T, D> const& x, SwishOptions const& options = {}) {
    return detail::unary<detail::swish_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> swish(Tensor<T, Device> const& x, SwishOptions const& options = {}) {
    return swish(x.device(), x, options);
}

/// x / (1 + exp(-x)) element-wise: swish with beta = 1.
/// shapes   x [...] -> [...]
/// errors   none
/// cost     as swish
template <class T, device D>
Tensor<T, D> silu(D const& exec, Tensor<T, D> const& x) {
    return swish(exec, x);
}
template <class T, class Device>
Tensor<T, Device> silu(Tensor<T, Device> const& x) {
    return swish(x);
}

using swish_op = unary_op<detail::swish_formula>;            ///< See swish.
using swish_grad_op = unary_grad_op<detail::swish_formula>;  ///< The gradient of swish.

/// log(1 + exp(beta · x)) / beta element-wise, within 5 units in the last place; nothing overflows.
/// shapes   x [...] -> [...]
/// errors   ValueError if beta is not finite or not above 0
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> softplus(D const& exec, Tensor<T, D> const& x, SoftplusOptions const& options = {}) {
    return detail::unary<detail::softplus_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> softplus(Tensor<T, Device> const& x, SoftplusOptions const& options = {}) {
    return softplus(x.device(), x, options);
}

using softplus_op = unary_op<detail::softplus_formula>;            ///< See softplus.
using softplus_grad_op = unary_grad_op<detail::softplus_formula>;  ///< The gradient of softplus.

/// x / (1 + |x|) element-wise.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> softsign(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::softsign_formula>(exec, x);
}
template <class T, class Device>
Tensor<T, Device> softsign(Tensor<T, Device> const& x) {
    return softsign(x.device(), x);
}

using softsign_op = unary_op<detail::softsign_formula>;            ///< See softsign.
using softsign_grad_op = unary_grad_op<detail::softsign_formula>;  ///< The gradient of softsign.

/// slope · x + offset, limited to [0, 1], element-wise. The gradient at the two bends is 0.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> hard_sigmoid(D const& exec, Tensor<T, D> const& x, HardSigmoidOptions const& options = {}) {
    return detail::unary<detail::hard_sigmoid_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> hard_sigmoid(Tensor<T, Device> const& x, HardSigmoidOptions const& options = {}) {
    return hard_sigmoid(x.device(), x, options);
}

using hard_sigmoid_op = unary_op<detail::hard_sigmoid_formula>;            ///< See hard_sigmoid.
using hard_sigmoid_grad_op = unary_grad_op<detail::hard_sigmoid_formula>;  ///< The gradient of hard_sigmoid.

/// x · min(max(x + offset, 0), threshold) / scale element-wise (Howard et al. 2019).
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite, scale is 0, or threshold is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> hard_swish(D const& exec, Tensor<T, D> const& x, HardSwishOptions const& options = {}) {
    return detail::unary<detail::hard_swish_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> hard_swish(Tensor<T, Device> const& x, HardSwishOptions const& options = {}) {
    return hard_swish(x.device(), x, options);
}

using hard_swish_op = unary_op<detail::hard_swish_formula>;            ///< See hard_swish.
using hard_swish_grad_op = unary_grad_op<detail::hard_swish_formula>;  ///< The gradient of hard_swish.

/// scale_b · tanh(scale_a · x) element-wise.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite or scale_b is 0
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> stanh(D const& exec, Tensor<T, D> const& x, StanhOptions const& options = {}) {
    return detail::unary<detail::stanh_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> stanh(Tensor<T, Device> const& x, StanhOptions const& options = {}) {
    return stanh(x.device(), x, options);
}

using stanh_op = unary_op<detail::stanh_formula>;            ///< See stanh.
using stanh_grad_op = unary_grad_op<detail::stanh_formula>;  ///< The gradient of stanh.

/// x where x > threshold, else 0, element-wise; NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if an option is not finite
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> thresholded_relu(D const& exec, Tensor<T, D> const& x, ThresholdedReluOptions const& options = {}) {
    return detail::unary<detail::thresholded_relu_formula>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> thresholded_relu(Tensor<T, Device> const& x, ThresholdedReluOptions const& options = {}) {
    return thresholded_relu(x.device(), x, options);
}

using thresholded_relu_op = unary_op<detail::thresholded_relu_formula>;  ///< See thresholded_relu.
using thresholded_relu_grad_op =
    unary_grad_op<detail::thresholded_relu_formula>;  ///< The gradient of thresholded_relu.

}  // namespace rowan::inline v0
