// rowan/op/relu.hpp: relu, the element-wise rectified linear unit.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// max(x, 0)
struct relu_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        V const zero = constant<V>(0.0);
        return choose(x < zero, zero, x);
    }
};

/// g where y is positive, else 0
struct relu_grad_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& y, V const& g) const {
        V const zero = constant<V>(0.0);
        return choose(y > zero, g, zero);
    }
};

}  // namespace detail

/// max(x, 0) element-wise; NaN propagates.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
template <class T, device D>
Tensor<T, D> relu(D const& exec, Tensor<T, D> const& x) {
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::relu_formula{}, x);
}

/// The gradient of x from the result and its gradient: out_grad where out > 0, else 0.
/// shapes   both [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> relu_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    detail::check_same_shape("out_grad", out_grad, out);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::relu_grad_formula{}, out, out_grad);
}

template <class T, class Device>
Tensor<T, Device> relu(Tensor<T, Device> const& x) {
    return relu(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> relu_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return relu_grad(out.device(), out, out_grad);
}

struct relu_grad_op {
    static constexpr std::string_view name = "relu_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        return spec::elementwise("relu_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return relu_grad(exec, out, out_grad);
    }
};

struct relu_op {
    static constexpr std::string_view name = "relu";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<relu_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("relu: x", x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return relu(exec, x);
    }
};

}  // namespace rowan::inline v0
