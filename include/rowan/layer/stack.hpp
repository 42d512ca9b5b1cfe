// rowan/layer/stack.hpp: layer::stack, values of one shape joined along a new axis.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/shape/stack.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// Joins values of one shape along a new axis; a negative axis counts from the end of the result.
///     auto pairs = layer::stack({a, b}, {.axis = 1});       // [n, 3] and [n, 3] -> [n, 2, 3]
/// shapes   n values x[k] [...] -> [...] with a dim of n at the axis; with the levels of the first unless it is axis 0
/// errors   ShapeError if x is empty, shapes differ, or the rank is 8; IndexError if there is no such axis
/// cost     as rowan::stack, when the net runs
template <class T, class Device>
Var<T, Device> stack(std::vector<Var<T, Device>> const& x, StackOptions const& options = {}) {
    std::vector<Variable*> inputs;
    for (auto const& part : x) inputs.push_back(&*part);
    return Var<T, Device>(*default_scope().new_op<stack_op, Device, T>(std::move(inputs), options).outputs[0]);
}
template <class T, class Device>
Var<T, Device> stack(std::initializer_list<Var<T, Device>> x, StackOptions const& options = {}) {
    return stack(std::vector<Var<T, Device>>(x), options);
}
template <class T, class Device>
Var<T, Device> stack(std::vector<Var<T, Device>> const& x, std::int64_t axis) {
    return stack(x, StackOptions{.axis = axis});
}
template <class T, class Device>
Var<T, Device> stack(std::initializer_list<Var<T, Device>> x, std::int64_t axis) {
    return stack(x, StackOptions{.axis = axis});
}

}  // namespace rowan::inline v0::layer
