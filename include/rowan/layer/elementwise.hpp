// rowan/layer/elementwise.hpp: layers that compute element by element.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/add.hpp>
#include <rowan/op/elementwise_mul.hpp>
#include <rowan/op/relu.hpp>
#include <rowan/op/scale.hpp>
#include <rowan/op/sigmoid.hpp>
#include <rowan/op/sub.hpp>
#include <rowan/op/tanh.hpp>

namespace rowan::inline v0::layer {

template <class T, class Device>
Var<T, Device> sigmoid(Var<T, Device> const& x) {
    return apply<sigmoid_op>({}, x);
}
template <class T, class Device>
Var<T, Device> tanh(Var<T, Device> const& x) {
    return apply<tanh_op>({}, x);
}
template <class T, class Device>
Var<T, Device> relu(Var<T, Device> const& x) {
    return apply<relu_op>({}, x);
}
template <class T, class Device>
Var<T, Device> add(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<rowan::add_op>({}, x, y);
}
template <class T, class Device>
Var<T, Device> sub(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<sub_op>({}, x, y);
}
template <class T, class Device>
Var<T, Device> mul(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<elementwise_mul_op>({}, x, y);
}
template <class T, class Device>
Var<T, Device> scale(Var<T, Device> const& x, double factor) {
    return apply<scale_op>({factor, 0}, x);
}

}  // namespace rowan::inline v0::layer
