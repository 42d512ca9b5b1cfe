// rowan/layer/compare.hpp: layers that compare element by element, such as the condition of a loop.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/compare.hpp>
#include <rowan/op/full_like.hpp>

namespace rowan::inline v0::layer {

/// x < y and so on, element by element; false beside a NaN.
/// shapes   x [...], y [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result, when the net runs
template <class T, class Device>
Var<bool, Device> less(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<less_op>({}, x, y);
}
/// x <= y, as layer::less.
template <class T, class Device>
Var<bool, Device> less_equal(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<less_equal_op>({}, x, y);
}
/// x > y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater(Var<T, Device> const& x, Var<T, Device> const& y) {
    return less(y, x);
}
/// x >= y, as layer::less.
template <class T, class Device>
Var<bool, Device> greater_equal(Var<T, Device> const& x, Var<T, Device> const& y) {
    return less_equal(y, x);
}
/// x == y, as layer::less.
template <class T, class Device>
Var<bool, Device> equal(Var<T, Device> const& x, Var<T, Device> const& y) {
    return apply<equal_op>({}, x, y);
}

/// The same with one number for all elements.
/// shapes   x [...] -> [...]
/// errors   ValueError when the net runs if T is an integer type and y no number that it holds
/// cost     as with two values, and one write of a value like x
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

/// Are both true? As layer::less, of truth values.
template <class Device>
Var<bool, Device> logical_and(Var<bool, Device> const& x, Var<bool, Device> const& y) {
    return apply<logical_and_op>({}, x, y);
}
/// Is one of both true? As layer::less, of truth values.
template <class Device>
Var<bool, Device> logical_or(Var<bool, Device> const& x, Var<bool, Device> const& y) {
    return apply<logical_or_op>({}, x, y);
}
/// Is it false? As layer::less, of truth values.
template <class Device>
Var<bool, Device> logical_not(Var<bool, Device> const& x) {
    return apply<logical_not_op>({}, x);
}

/// Is any element true?
/// shapes   x [...] -> [1]
/// errors   none
/// cost     at most one read of x, when the net runs
template <class Device>
Var<bool, Device> any(Var<bool, Device> const& x) {
    return apply<any_op>({}, x);
}

}  // namespace rowan::inline v0::layer
