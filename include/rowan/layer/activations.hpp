// rowan/layer/activations.hpp: activation functions, element-wise.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/elementwise/activations.hpp>

namespace rowan::inline v0::layer {

/// min(max(x, 0), options.threshold), element-wise, as rowan::relu6.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if threshold is not finite or negative
/// cost     as rowan::relu6, when the net runs
template <class T, class Device>
Var<T, Device> relu6(Var<T, Device> const& x, Relu6Options const& options = {}) {
    rowan::detail::check_options<rowan::detail::relu6_formula>(options);
    return apply<relu6_op>(options, x);
}
/// min(max(x, options.min), options.max), element-wise, as rowan::hardtanh.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if an option is not finite or max < min
/// cost     as rowan::hardtanh, when the net runs
template <class T, class Device>
Var<T, Device> hardtanh(Var<T, Device> const& x, HardtanhOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::hardtanh_formula>(options);
    return apply<hardtanh_op>(options, x);
}
/// x where x > 0, else options.alpha · x, element-wise, as rowan::leaky_relu.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if an option is not finite
/// cost     as rowan::leaky_relu, when the net runs
template <class T, class Device>
Var<T, Device> leaky_relu(Var<T, Device> const& x, LeakyReluOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::leaky_relu_formula>(options);
    return apply<leaky_relu_op>(options, x);
}
/// x where x > 0, else options.alpha · (exp(x) - 1), element-wise, as rowan::elu.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if an option is not finite
/// cost     as rowan::elu, when the net runs
template <class T, class Device>
Var<T, Device> elu(Var<T, Device> const& x, EluOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::elu_formula>(options);
    return apply<elu_op>(options, x);
}
/// x · Φ(x), element-wise, as rowan::gelu.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::gelu, when the net runs
template <class T, class Device>
Var<T, Device> gelu(Var<T, Device> const& x, GeluOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::gelu_formula>(options);
    return apply<gelu_op>(options, x);
}
/// x / (1 + exp(-options.beta · x)), element-wise, as rowan::swish.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if an option is not finite
/// cost     as rowan::swish, when the net runs
template <class T, class Device>
Var<T, Device> swish(Var<T, Device> const& x, SwishOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::swish_formula>(options);
    return apply<swish_op>(options, x);
}
/// log(1 + exp(options.beta · x)) / options.beta, element-wise, as rowan::softplus.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if beta is not finite or not above 0
/// cost     as rowan::softplus, when the net runs
template <class T, class Device>
Var<T, Device> softplus(Var<T, Device> const& x, SoftplusOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::softplus_formula>(options);
    return apply<softplus_op>(options, x);
}
/// x / (1 + |x|), element-wise, as rowan::softsign.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::softsign, when the net runs
template <class T, class Device>
Var<T, Device> softsign(Var<T, Device> const& x) {
    return apply<softsign_op>({}, x);
}
/// options.slope · x + options.offset, limited to [0, 1], element-wise, as rowan::hard_sigmoid.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if an option is not finite
/// cost     as rowan::hard_sigmoid, when the net runs
template <class T, class Device>
Var<T, Device> hard_sigmoid(Var<T, Device> const& x, HardSigmoidOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::hard_sigmoid_formula>(options);
    return apply<hard_sigmoid_op>(options, x);
}
/// x · min(max(x + 3, 0), 6) / 6 with the default options, element-wise, as rowan::hard_swish.
/// shapes   x [...] -> [...], with the levels of x
/// errors   as rowan::hard_swish
/// cost     as rowan::hard_swish, when the net runs
template <class T, class Device>
Var<T, Device> hard_swish(Var<T, Device> const& x, HardSwishOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::hard_swish_formula>(options);
    return apply<hard_swish_op>(options, x);
}
/// options.scale_b · tanh(options.scale_a · x), element-wise, as rowan::stanh.
/// shapes   x [...] -> [...], with the levels of x
/// errors   as rowan::stanh
/// cost     as rowan::stanh, when the net runs
template <class T, class Device>
Var<T, Device> stanh(Var<T, Device> const& x, StanhOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::stanh_formula>(options);
    return apply<stanh_op>(options, x);
}
/// x where x > options.threshold, else 0, element-wise, as rowan::thresholded_relu.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if an option is not finite
/// cost     as rowan::thresholded_relu, when the net runs
template <class T, class Device>
Var<T, Device> thresholded_relu(Var<T, Device> const& x, ThresholdedReluOptions const& options = {}) {
    rowan::detail::check_options<rowan::detail::thresholded_relu_formula>(options);
    return apply<thresholded_relu_op>(options, x);
}

}  // namespace rowan::inline v0::layer
