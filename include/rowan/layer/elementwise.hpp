// rowan/layer/elementwise.hpp: element-wise layers.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/add.hpp>
#include <rowan/op/clip.hpp>
#include <rowan/op/elementwise_mul.hpp>
#include <rowan/op/relu.hpp>
#include <rowan/op/scale.hpp>
#include <rowan/op/sigmoid.hpp>
#include <rowan/op/sub.hpp>
#include <rowan/op/sum.hpp>
#include <rowan/op/tanh.hpp>

#include <initializer_list>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// 1 / (1 + exp(-x)), element-wise, as rowan::sigmoid.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::sigmoid, when the net runs
template <class T, class Device>
Var<T, Device> sigmoid(Var<T, Device> const& x) {
    return apply<sigmoid_op>({}, x);
}
/// tanh(x), element-wise, as rowan::tanh.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::tanh, when the net runs
template <class T, class Device>
Var<T, Device> tanh(Var<T, Device> const& x) {
    return apply<tanh_op>({}, x);
}
/// x where x > 0, else 0, element-wise, as rowan::relu.
/// shapes   x [...] -> [...], with the levels of x
/// errors   none
/// cost     as rowan::relu, when the net runs
template <class T, class Device>
Var<T, Device> relu(Var<T, Device> const& x) {
    return apply<relu_op>({}, x);
}
/// x + y, element-wise, as rowan::add.
/// shapes   x [...], y [...] -> [...], with the levels of x
/// errors   ShapeError if the shapes differ
/// cost     as rowan::add, when the net runs
template <class T, class Device>
Var<T, Device> add(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<rowan::add_op>({}, x, y);
}
/// x - y, element-wise, as rowan::sub.
/// shapes   x [...], y [...] -> [...], with the levels of x
/// errors   as layer::add
/// cost     as rowan::sub, when the net runs
template <class T, class Device>
Var<T, Device> sub(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<sub_op>({}, x, y);
}
/// x · y, element-wise, as rowan::elementwise_mul.
/// shapes   x [...], y [...] -> [...], with the levels of x
/// errors   as layer::add
/// cost     as rowan::elementwise_mul, when the net runs
template <class T, class Device>
Var<T, Device> mul(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<elementwise_mul_op>({}, x, y);
}

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
/// shapes   x [...] -> [...], with the levels of x
/// errors   when the net runs, as rowan::scale
/// cost     as rowan::scale, when the net runs
template <class T, class Device>
Var<T, Device> scale(Var<T, Device> const& x, double factor, double bias = 0) {
    return apply<scale_op>({factor, bias}, x);
}

/// Clips every element to [min, max]; the gradient of a clipped element is 0. NaN is preserved.
/// shapes   x [...] -> [...], with the levels of x
/// errors   ValueError if a bound is not finite or max < min
/// cost     as rowan::clip, when the net runs
template <class T, class Device>
Var<T, Device> clip(Var<T, Device> const& x, double min, double max) {
    rowan::detail::check_clip({min, max});
    return apply<clip_op>({min, max}, x);
}

ROWAN_TEMPLATE(Var<float> sigmoid(Var<float> const&))
ROWAN_TEMPLATE(Var<float> tanh(Var<float> const&))
ROWAN_TEMPLATE(Var<float> relu(Var<float> const&))
ROWAN_TEMPLATE(Var<float> add(Var<float> const&, Var<float> const&))
ROWAN_TEMPLATE(Var<float> sub(Var<float> const&, Var<float> const&))
ROWAN_TEMPLATE(Var<float> mul(Var<float> const&, Var<float> const&))
ROWAN_TEMPLATE(Var<float> sum(std::vector<Var<float>> const&))
ROWAN_TEMPLATE(Var<float> scale(Var<float> const&, double, double))
ROWAN_TEMPLATE(Var<float> clip(Var<float> const&, double, double))
ROWAN_TEMPLATE(Var<double> sigmoid(Var<double> const&))
ROWAN_TEMPLATE(Var<double> tanh(Var<double> const&))
ROWAN_TEMPLATE(Var<double> relu(Var<double> const&))
ROWAN_TEMPLATE(Var<double> add(Var<double> const&, Var<double> const&))
ROWAN_TEMPLATE(Var<double> sub(Var<double> const&, Var<double> const&))
ROWAN_TEMPLATE(Var<double> mul(Var<double> const&, Var<double> const&))
ROWAN_TEMPLATE(Var<double> sum(std::vector<Var<double>> const&))
ROWAN_TEMPLATE(Var<double> scale(Var<double> const&, double, double))
ROWAN_TEMPLATE(Var<double> clip(Var<double> const&, double, double))

}  // namespace rowan::inline v0::layer
