// rowan/layer/compare.hpp: element-wise comparisons, tests and choices, such as for the condition of a loop.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/elementwise/broadcast_options.hpp>
#include <rowan/op/elementwise/compare.hpp>
#include <rowan/op/elementwise/full_like.hpp>
#include <rowan/op/elementwise/where.hpp>
#include <rowan/op/shape/reshape.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Compares x with y, which gets the dims of 1 that align it with x at the axis.
template <class Op, class T, class Device>
layer::Var<bool, Device> compare(layer::Var<T, Device> const& x, layer::Var<T, Device> const& y,
                                 BroadcastOptions const& options) {
    if (options.axis == -1) return layer::apply<Op>({}, x, y);
    Dims const &of_x = x->spec().dims, &of_y = y->spec().dims;
    broadcast_dims(joined_name<Op, y_suffix>::value.data(), of_x, of_y, options.axis);
    SqueezeOptions ones;
    for (std::size_t i = of_y.size(); i + static_cast<std::size_t>(options.axis) < of_x.size(); ++i)
        ones.axes.push_back(static_cast<std::int64_t>(i));
    return layer::apply<Op>({}, x, ones.axes.empty() ? y : layer::apply<unsqueeze_op>(ones, y));
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// x < y, element-wise; false if x or y is NaN.
/// shapes   x [...], y [...] -> [...], broadcast as by layer::add
/// errors   ShapeError if the shapes do not broadcast; ValueError if the axis is less than -1
/// cost     one read of both and one write of the result, when the net runs
template <class T, class Device>
Var<bool, Device> less(Var<T, Device> const& x, Var<T, Device> const& y, BroadcastOptions const& options = {}) {
    return rowan::detail::compare<less_op>(x, y, options);
}
/// x <= y, as layer::less.
template <class T, class Device>
Var<bool, Device> less_equal(Var<T, Device> const& x, Var<T, Device> const& y, BroadcastOptions const& options = {}) {
    return rowan::detail::compare<less_equal_op>(x, y, options);
}
/// x > y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater(Var<T, Device> const& x, Var<T, Device> const& y, BroadcastOptions const& options = {}) {
    return rowan::detail::compare<greater_op>(x, y, options);
}
/// x >= y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater_equal(Var<T, Device> const& x, Var<T, Device> const& y,
                                BroadcastOptions const& options = {}) {
    return rowan::detail::compare<greater_equal_op>(x, y, options);
}
/// x == y, as layer::less.
template <class T, class Device>
Var<bool, Device> equal(Var<T, Device> const& x, Var<T, Device> const& y, BroadcastOptions const& options = {}) {
    return rowan::detail::compare<equal_op>(x, y, options);
}

/// x < y for a number y, element-wise; false if x or y is NaN.
/// shapes   x [...] -> [...]
/// errors   when the net runs, ValueError if T is an integer type that cannot represent y
/// cost     two writes of a tensor of the shape of x, and two reads, when the net runs
template <class T, class Device>
Var<bool, Device> less(Var<T, Device> const& x, double y) {
    return less(x, apply<full_like_op>({y}, x));
}
/// x <= y, as layer::less.
template <class T, class Device>
Var<bool, Device> less_equal(Var<T, Device> const& x, double y) {
    return less_equal(x, apply<full_like_op>({y}, x));
}
/// x > y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater(Var<T, Device> const& x, double y) {
    return greater(x, apply<full_like_op>({y}, x));
}
/// x >= y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater_equal(Var<T, Device> const& x, double y) {
    return greater_equal(x, apply<full_like_op>({y}, x));
}
/// x == y, as layer::less.
template <class T, class Device>
Var<bool, Device> equal(Var<T, Device> const& x, double y) {
    return equal(x, apply<full_like_op>({y}, x));
}

/// x && y, element-wise, as layer::less.
template <class Device>
Var<bool, Device> logical_and(Var<bool, Device> const& x, Var<bool, Device> const& y,
                              BroadcastOptions const& options = {}) {
    return rowan::detail::compare<logical_and_op>(x, y, options);
}
/// x || y, element-wise, as layer::less.
template <class Device>
Var<bool, Device> logical_or(Var<bool, Device> const& x, Var<bool, Device> const& y,
                             BroadcastOptions const& options = {}) {
    return rowan::detail::compare<logical_or_op>(x, y, options);
}
/// The element of x where the condition is true, else that of y, see rowan::where. The gradient goes to the element
/// that was chosen; a NaN that was not chosen has no effect.
///     auto const finite = layer::where(layer::isfinite(x), x, y);
/// shapes   condition [...], x [...], y [...] -> [...], broadcast by NumPy's rules, with the levels of the one that has
///          the rows, as in layer::add
/// errors   ShapeError if the shapes do not broadcast
/// cost     as rowan::where, when the net runs
template <class T, class Device>
Var<T, Device> where(Var<bool, Device> const& condition, Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<where_op>({}, condition, x, y);
}
/// The element of x where the condition is true, else the number y.
///     auto const kept = layer::where(layer::isfinite(x), x, 0);
/// shapes   condition [...], x [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast; when the net runs, ValueError if T is an integer type that
///          cannot represent y
/// cost     as rowan::where, and one write of a tensor of the shape of x, when the net runs
template <class T, class Device>
Var<T, Device> where(Var<bool, Device> const& condition, Var<T, Device> const& x, double y) {
    return where(condition, x, apply<full_like_op>({y}, x));
}
/// The number x where the condition is true, else the element of y.
/// shapes   condition [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast; when the net runs, ValueError if T is an integer type that
///          cannot represent x
/// cost     as rowan::where, and one write of a tensor of the shape of y, when the net runs
template <class T, class Device>
Var<T, Device> where(Var<bool, Device> const& condition, double x, Var<T, Device> const& y) {
    return where(condition, apply<full_like_op>({x}, y), y);
}

}  // namespace rowan::inline v0::layer
