// rowan/op/elementwise/relu.hpp: relu, the element-wise rectified linear unit.
#pragma once

#include <rowan/op/detail/unary.hpp>

#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// max(x, 0)
struct relu_formula {
    static constexpr std::string_view name = "relu";
    static constexpr std::string_view brief = "x where x > 0, else 0.";
    static constexpr bool integers = true;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        V const zero = constant<V>(0.0);
        return choose(x < zero, zero, x);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g) {
        V const zero = constant<V>(0.0);
        return choose(y > zero, g, choose(y < zero, zero, plus(y, zero)));  // NaN where y is
    }
};

}  // namespace detail

/// max(x, 0) element-wise; NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
template <class T, device D>
Tensor<T, D> relu(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::relu_formula>(exec, x);
}

/// The gradient of x from the result and its gradient: out_grad where out > 0, else 0; NaN where out is NaN.
/// shapes   both [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> relu_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    return detail::unary_grad<detail::relu_formula>(exec, out, out_grad);
}

template <class T, class Device>
Tensor<T, Device> relu(Tensor<T, Device> const& x) {
    return relu(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> relu_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return relu_grad(out.device(), out, out_grad);
}

using relu_op = unary_op<detail::relu_formula>;            ///< See relu.
using relu_grad_op = unary_grad_op<detail::relu_formula>;  ///< The gradient of relu.

}  // namespace rowan::inline v0
