// rowan/layer/full.hpp: layer::full, a constant.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/full.hpp>

namespace rowan::inline v0::layer {

/// A constant of these dims, all of its elements alike. It is no parameter: training leaves it alone.
///     auto margin = layer::full<double>({1}, 0.5);
/// shapes   [dims...]
/// errors   ShapeError if a dim is UNK; when the net runs, ValueError if the elements are integers and do not hold the value
/// cost     one write of the elements, every time that the net runs
template <class T = float, class Device = Cpu>
Var<T, Device> full(Dims const& dims, double value) {
    return Var<T, Device>(*default_scope().new_op<full_op<T>, Device>({}, {dims, value}).outputs[0]);
}

}  // namespace rowan::inline v0::layer
