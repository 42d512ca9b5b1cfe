// rowan/layer/compare.hpp: element-wise comparisons and choices, such as for the condition of a loop.
#pragma once

#include <rowan/layer/operators.hpp>
#include <rowan/op/detail/broadcast_spec.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/elementwise/declared.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::layer {

/// Compares the elements of x and y, or x and a number: layer::less(x, y), layer::greater(x, 0).
/// shapes   x [...], y [...] -> [...], broadcast as by layer::add
/// errors   ShapeError if the shapes do not broadcast; ValueError if the axis is less than -1; when the net runs,
///          ValueError if T is an integer type that cannot represent the number y
/// cost     one read of both and one write of the result, when the net runs; a number is stored once for each element
template <class Op>
struct comparison {
    template <class T, class Device>
    requires(elements_of<Op> != Elements::bools || std::same_as<T, bool>) Var<bool, Device>
    operator()(Var<T, Device> const& x, Var<T, Device> const& y, BroadcastOptions const& options = {}) const {
        SqueezeOptions ones;  // dims of 1, which align y with x at the axis
        if (options.axis != -1) {
            namespace d = rowan::detail;
            Dims const &of_x = x->spec().dims, &of_y = y->spec().dims;
            d::broadcast_dims(d::joined_name<d::declared<Op>, d::y_suffix>::value.data(), of_x, of_y, options.axis);
            for (std::size_t i = of_y.size(); i + static_cast<std::size_t>(options.axis) < of_x.size(); ++i)
                ones.axes.push_back(static_cast<std::int64_t>(i));
        }
        return apply<Op>({}, x, ones.axes.empty() ? y : unsqueeze(y, ones));
    }
    template <class T, class Device>
    requires(elements_of<Op> != Elements::bools) Var<bool, Device>
    operator()(Var<T, Device> const& x, double y) const { return (*this)(x, apply<full_like_op>({y}, x)); }
};

inline constexpr comparison<less_op> less{};                    ///< x < y, element-wise; false if x or y is NaN.
inline constexpr comparison<less_equal_op> less_equal{};        ///< x <= y, as layer::less.
inline constexpr comparison<greater_op> greater{};              ///< x > y, as layer::less.
inline constexpr comparison<greater_equal_op> greater_equal{};  ///< x >= y, as layer::less.
inline constexpr comparison<equal_op> equal{};                  ///< x == y, as layer::less.
inline constexpr comparison<logical_and_op> logical_and{};      ///< x && y, element-wise, of bools.
inline constexpr comparison<logical_or_op> logical_or{};        ///< x || y, element-wise, of bools.

/// The element of x where the condition is true, else that of y, of which one may be a number: see rowan::where.
///     auto const finite = layer::where(layer::isfinite(x), x, 0);
/// shapes   condition [...], x [...], y [...] -> [...], broadcast by NumPy's rules, with the levels of the one that has
///          the rows, as in layer::add
/// errors   ShapeError if the shapes do not broadcast; when the net runs, ValueError if T is an integer type that cannot
///          represent the number
/// cost     as rowan::where, when the net runs; a number is stored once for each element
struct where_layer {
    template <class T, class Device>
    Var<T, Device> operator()(Var<bool, Device> const& condition, Var<T, Device> const& x,
                              Var<T, Device> const& y) const {
        return apply<where_op>({}, condition, x, y);
    }
    template <class T, class Device>
    Var<T, Device> operator()(Var<bool, Device> const& condition, Var<T, Device> const& x, double y) const {
        return (*this)(condition, x, apply<full_like_op>({y}, x));
    }
    template <class T, class Device>
    Var<T, Device> operator()(Var<bool, Device> const& condition, double x, Var<T, Device> const& y) const {
        return (*this)(condition, apply<full_like_op>({x}, y), y);
    }
};

/// The gradient goes to the element that was chosen; a NaN that was not chosen has no effect.
inline constexpr where_layer where{};

}  // namespace rowan::inline v0::layer
