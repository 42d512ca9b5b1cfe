// rowan/layer/full.hpp: layer::full, a constant tensor.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/elementwise/declared.hpp>

namespace rowan::inline v0::layer {

/// A tensor of these dims filled with `value`. It is not a parameter: training does not change it.
///     auto margin = layer::full<double>({1}, 0.5);
/// shapes   [dims...]
/// errors   ShapeError if a dim is UNK; when the net runs, ValueError if T is an integer type that cannot represent
///          value
/// cost     one write of the elements on every run of the net
template <class T = float, class Device = Cpu>
Var<T, Device> full(Dims const& dims, double value) {
    return Var<T, Device>(*default_scope().new_op<full_op<T>, Device>({}, {dims, value}).outputs[0]);
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/elementwise/full.hpp>
#endif
