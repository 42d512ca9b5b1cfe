// rowan/layer/reshape.hpp: shape, and layers that change it: reshape, squeeze, unsqueeze, transpose, stack; row_dot.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/matrix/row_dot.hpp>
#include <rowan/op/shape/reshape.hpp>
#include <rowan/op/shape/shape.hpp>
#include <rowan/op/shape/stack.hpp>
#include <rowan/op/shape/transpose.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// x with another shape. A dim of 0 stands for that dim of x, and one dim of -1 for what remains.
///     auto flat = layer::reshape(x, {0, -1});     // [n, 3, 4] -> [n, 12], with the levels of x
/// shapes   x [...] -> shape; with the levels of x if the first dim is that of x: it is 0, or the other dims have as
///          many elements as the rows of x
/// errors   ShapeError if the shape does not fit the elements of x, has several -1, or a 0 where x has no dim
/// cost     O(1), when the net runs
template <class T, class Device>
Var<T, Device> reshape(Var<T, Device> const& x, std::vector<std::int64_t> shape) {
    return apply<reshape_op>({.shape = std::move(shape)}, x);
}

/// x without some dims of 1; by default, without all dims that are known to be 1.
/// shapes   x [...] -> the dims of x without those of the axes; with the levels of x unless axis 0 is among them
/// errors   IndexError if an axis is not in [-rank, rank) or occurs twice; ShapeError if its dim is not 1
/// cost     O(1), when the net runs
template <class T, class Device>
Var<T, Device> squeeze(Var<T, Device> const& x, std::vector<std::int64_t> axes = {}) {
    return apply<squeeze_op>({.axes = std::move(axes)}, x);
}

/// x with additional dims of 1: the axes are positions in the result.
///     auto column = layer::unsqueeze(x, {-1});    // [n, m] -> [n, m, 1]
/// shapes   x [...] -> the dims of x, with dims of 1 at the axes; with the levels of x unless axis 0 is among them
/// errors   IndexError if an axis is not in [-rank, rank) of the result or occurs twice; ShapeError if the result's
///          rank exceeds 8
/// cost     O(1), when the net runs
template <class T, class Device>
Var<T, Device> unsqueeze(Var<T, Device> const& x, std::vector<std::int64_t> axes) {
    return apply<unsqueeze_op>({.axes = std::move(axes)}, x);
}

/// x with its dims in another order: dim i of the result is dim perm[i] of x. By default, all dims are reversed.
///     auto columns = layer::transpose(x, {0, 2, 1});
/// shapes   x [...] -> the dims of x in the order of perm; with the levels of x if perm[0] is 0
/// errors   ShapeError if perm does not name each axis of x once
/// cost     as rowan::transpose, when the net runs
template <class T, class Device>
Var<T, Device> transpose(Var<T, Device> const& x, std::vector<std::int64_t> perm = {}) {
    return apply<transpose_op>({.perm = std::move(perm)}, x);
}

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
