// rowan/layer/concat.hpp: layer::concat, concatenation along an axis.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/shape/concat.hpp>

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// Concatenates values along an axis; a negative axis counts from the end.
///     auto both = layer::concat({a, b}, {.axis = 1});
/// Along axis 0, batches with as many levels are joined: the sequences of the first, then those of the second, and so
/// on.
/// shapes   x[k] [..., d_k, ...] -> [..., Σ d_k, ...]; with the levels of the first; along axis 0 with joined levels,
///          or without levels if the numbers of levels differ
/// errors   ShapeError if x is empty, or ranks or dims other than that of the axis differ; IndexError if there is no
///          such axis
/// cost     as rowan::concat, when the net runs
template <class T, class Device>
Var<T, Device> concat(std::vector<Var<T, Device>> const& x, ConcatOptions const& options = {}) {
    std::vector<Variable*> inputs;
    for (auto const& part : x) inputs.push_back(&*part);
    return Var<T, Device>(*default_scope().new_op<concat_op, Device, T>(std::move(inputs), options).outputs[0]);
}
template <class T, class Device>
Var<T, Device> concat(std::initializer_list<Var<T, Device>> x, ConcatOptions const& options = {}) {
    return concat(std::vector<Var<T, Device>>(x), options);
}
template <class T, class Device>
Var<T, Device> concat(std::vector<Var<T, Device>> const& x, std::int64_t axis) {
    return concat(x, {.axis = axis});
}
template <class T, class Device>
Var<T, Device> concat(std::initializer_list<Var<T, Device>> x, std::int64_t axis) {
    return concat(x, {.axis = axis});
}

}  // namespace rowan::inline v0::layer
