// rowan/layer/concat.hpp: layer::concat, values put together along one axis.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/concat.hpp>

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// The values one after the other along an axis; axis -1 is the last one.
///     auto both = layer::concat({a, b}, 1);
/// shapes   x[k] [..., d_k, ...] -> [..., Σ d_k, ...]; with the levels of the first, but along axis 0 without
/// errors   ShapeError if there are none, or ranks or dims other than that of the axis differ; ValueError if there is no such axis
/// cost     as rowan::concat, when the net runs
template <class T, class Device>
Var<T, Device> concat(std::vector<Var<T, Device>> const& x, std::int64_t axis = 0) {
    std::vector<Variable*> inputs;
    for (auto const& part : x) inputs.push_back(&*part);
    return Var<T, Device>(*default_scope().new_op<concat_op, Device, T>(std::move(inputs), {.axis = axis}).outputs[0]);
}
template <class T, class Device>
Var<T, Device> concat(std::initializer_list<Var<T, Device>> x, std::int64_t axis = 0) {
    return concat(std::vector<Var<T, Device>>(x), axis);
}

}  // namespace rowan::inline v0::layer
