// rowan/op/elementwise/tanh.hpp: tanh, the element-wise hyperbolic tangent.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>

#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// tanh(x)
struct tanh_formula {
    static constexpr std::string_view name = "tanh";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return hyperbolic_tangent(x);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g) {
        return product(g, V(constant<V>(1.0) - product(y, y)));
    }
};

}  // namespace detail

/// tanh(x) element-wise, computed in dtype<T>::sum as -t / (t + 2) for t = exp(-2 |x|) - 1, with the sign of x.
/// User-defined types need an `exp` that ADL finds. NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
template <class T, device D>
Tensor<T, D> tanh(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::tanh_formula>(exec, x);
}

/// The gradient of x from the result and its gradient: out_grad · (1 - out²).
/// shapes   both [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> tanh_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    return detail::unary_grad<detail::tanh_formula>(exec, out, out_grad);
}

template <class X>
requires detail::tensor_argument<X>
auto tanh(X&& x) { return detail::unary<detail::tanh_formula>(x.device(), x); }
template <class T, class Device>
Tensor<T, Device> tanh_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return tanh_grad(out.device(), out, out_grad);
}

using tanh_op = unary_op<detail::tanh_formula>;            ///< See tanh.
using tanh_grad_op = unary_grad_op<detail::tanh_formula>;  ///< The gradient of tanh.

}  // namespace rowan::inline v0
