// rowan/op/sigmoid.hpp: sigmoid, the element-wise logistic function.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/detail/exponential.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// 1 / (1 + exp(-x))
struct sigmoid_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return logistic(x);
    }
};

/// g · y · (1 - y)
struct sigmoid_grad_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& y, V const& g) const {
        return product(g, product(y, V(constant<V>(1.0) - y)));
    }
};

}  // namespace detail

/// 1 / (1 + exp(-x)) element-wise, computed in dtype<T>::sum.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result; the same bits with any instruction set
template <class T, device D>
Tensor<T, D> sigmoid(D const& exec, Tensor<T, D> const& x) {
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::sigmoid_formula{}, x);
}

/// The gradient of x from the result and its gradient: out_grad · out · (1 - out).
/// shapes   out [...], out_grad the same -> the same
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> sigmoid_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    detail::check_same_shape("out_grad", out_grad, out);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::sigmoid_grad_formula{}, out, out_grad);
}

template <class T, class Device>
Tensor<T, Device> sigmoid(Tensor<T, Device> const& x) {
    return sigmoid(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> sigmoid_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return sigmoid_grad(out.device(), out, out_grad);
}

struct sigmoid_grad_op {
    static constexpr std::string_view name = "sigmoid_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        return spec::elementwise("sigmoid_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return sigmoid_grad(exec, out, out_grad);
    }
};

struct sigmoid_op {
    static constexpr std::string_view name = "sigmoid";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<sigmoid_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("sigmoid: x", x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return sigmoid(exec, x);
    }
};

}  // namespace rowan::inline v0
