// rowan/op/tanh.hpp: tanh, the element-wise hyperbolic tangent.
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

/// tanh(x)
struct tanh_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return hyperbolic_tangent(x);
    }
};

/// g · (1 - y²)
struct tanh_grad_formula {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& y, V const& g) const {
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
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>, "rowan::tanh: x must have a floating-point type: convert it");
    return detail::zip_elements<S>(exec, detail::tanh_formula{}, x);
}

/// The gradient of x from the result and its gradient: out_grad · (1 - out²).
/// shapes   both [...] -> [...]
/// errors   ShapeError if the shapes differ
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> tanh_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    detail::check_same_shape("out_grad", out_grad, out);
    return detail::zip_elements<detail::sum_t<T>>(exec, detail::tanh_grad_formula{}, out, out_grad);
}

template <class T, class Device>
Tensor<T, Device> tanh(Tensor<T, Device> const& x) {
    return tanh(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> tanh_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return tanh_grad(out.device(), out, out_grad);
}

struct tanh_grad_op {
    static constexpr std::string_view name = "tanh_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        return spec::elementwise("tanh_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return tanh_grad(exec, out, out_grad);
    }
};

struct tanh_op {
    static constexpr std::string_view name = "tanh";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<tanh_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("tanh: x", x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return tanh(exec, x);
    }
};

}  // namespace rowan::inline v0
