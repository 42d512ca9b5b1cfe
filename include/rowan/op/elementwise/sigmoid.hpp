// rowan/op/elementwise/sigmoid.hpp: sigmoid, the element-wise logistic function.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/op/detail/unary.hpp>

#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// 1 / (1 + exp(-x))
struct sigmoid_formula {
    static constexpr std::string_view name = "sigmoid";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return over_one_plus_exponential(constant<V>(1.0), V(constant<V>(0.0) - x));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g) {
        return product(g, product(y, V(constant<V>(1.0) - y)));
    }
};

}  // namespace detail

/// 1 / (1 + exp(-x)) element-wise, computed in dtype<T>::sum, for float and double within 4 units in the last place.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
template <class T, device D>
Tensor<T, D> sigmoid(D const& exec, Tensor<T, D> const& x) {
    return detail::unary<detail::sigmoid_formula>(exec, x);
}

/// The gradient of x from the result and its gradient: out_grad · out · (1 - out).
/// shapes   both [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> sigmoid_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    return detail::unary_grad<detail::sigmoid_formula>(exec, out, out_grad);
}

template <class T, class Device>
Tensor<T, Device> sigmoid(Tensor<T, Device> const& x) {
    return sigmoid(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> sigmoid_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return sigmoid_grad(out.device(), out, out_grad);
}

using sigmoid_op = unary_op<detail::sigmoid_formula>;            ///< See sigmoid.
using sigmoid_grad_op = unary_grad_op<detail::sigmoid_formula>;  ///< The gradient of sigmoid.

}  // namespace rowan::inline v0
