// rowan/op/elementwise/maximum.hpp: maximum and minimum, the greater and the smaller elements of two tensors.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/broadcast_op.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/declared.hpp>
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

/// The greater one of x and y, element-wise; NaN where either is NaN.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> maximum(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::zip_broadcast(exec, detail::maximum_formula{}, x, y);
}
template <detail::tensor_argument X, detail::tensor_argument Y>
auto maximum(X&& x, Y&& y) {
    return detail::zip_broadcast(x.device(), detail::maximum_formula{}, x, y);
}

/// The smaller one of x and y, element-wise; NaN where either is NaN.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> minimum(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::zip_broadcast(exec, detail::minimum_formula{}, x, y);
}
template <detail::tensor_argument X, detail::tensor_argument Y>
auto minimum(X&& x, Y&& y) {
    return detail::zip_broadcast(x.device(), detail::minimum_formula{}, x, y);
}

}  // namespace rowan::inline v0
