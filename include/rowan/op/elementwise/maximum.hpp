// rowan/op/elementwise/maximum.hpp: maximum and minimum, the greater and the smaller elements of two tensors.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/broadcast_op.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The greater one of x and y, and its gradient: of x where both are the same. NaN propagates.
struct maximum_formula {
    ROWAN_FORMULA V operator()(V const& x, V const& y) const { return choose(x >= y, x, choose(x < y, y, plus(x, y))); }
    struct gradient_x {
        ROWAN_FORMULA V operator()(V const& x, V const& y, V const& g) const {
            return choose(x >= y, g, constant<V>(0.0));
        }
    };
    struct gradient_y {
        ROWAN_FORMULA V operator()(V const& x, V const& y, V const& g) const {
            return choose(x < y, g, constant<V>(0.0));
        }
    };
};

/// The smaller one of x and y, and its gradient: of x where both are the same. NaN propagates.
struct minimum_formula {
    ROWAN_FORMULA V operator()(V const& x, V const& y) const { return choose(x <= y, x, choose(x > y, y, plus(x, y))); }
    struct gradient_x {
        ROWAN_FORMULA V operator()(V const& x, V const& y, V const& g) const {
            return choose(x <= y, g, constant<V>(0.0));
        }
    };
    struct gradient_y {
        ROWAN_FORMULA V operator()(V const& x, V const& y, V const& g) const {
            return choose(x > y, g, constant<V>(0.0));
        }
    };
};

}  // namespace detail

struct maximum_op : broadcast_op<maximum_op, detail::maximum_formula> {};  ///< See maximum.
struct minimum_op : broadcast_op<minimum_op, detail::minimum_formula> {};  ///< See minimum.

template <>
struct detail::function_of<maximum_op> : detail::broadcast_function<detail::maximum_formula> {};

template <>
struct detail::function_of<minimum_op> : detail::broadcast_function<detail::minimum_formula> {};

}  // namespace rowan::inline v0
