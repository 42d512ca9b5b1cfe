// rowan/op/norm/log_softmax.hpp: log_softmax, the logarithm of the softmax along an axis of a tensor.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/class_rows.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/norm/softmax.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <string_view>
#include <utility>

namespace rowan::inline v0 {

/// x - max - log(Σ exp(x - max)) along an axis, by default row by row: the logarithm of softmax, finite where the
/// probability underflows. Computed in dtype<T>::sum and narrowed once; user-defined types need `exp` and `log` that ADL
/// finds. Sums are formed in 16 interleaved partial sums. A row is NaN if it contains a NaN or its maximum is infinite.
/// The precision on Cuda is that of its `log`.
/// shapes   x [...] -> [...]
/// errors   ShapeError if x has rank 0; IndexError if the axis is not in [-rank, rank)
/// cost     two reads of x and one write of the result, temporary memory of one row per thread; x and the result are
///          transposed if the axis is not the last one; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> log_softmax(D const& exec, Tensor<T, D> const& x, SoftmaxOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::log_softmax: x must have a floating-point type: convert it");
    detail::ClassRows<T, D> const c("x", x, options.axis, 1);
    detail::ElementLoops<D>::check(exec, x);
    auto const rows = c.rows(exec, x);
    auto out = c.template new_rows<T>(exec);
    if (out.size() != 0) detail::MatrixRows<D>::log_softmax(exec, c.n, c.classes, rows.data(), out.data());
    return c.back(exec, std::move(out));
}

/// The gradient of x from the result and its gradient: out_grad - exp(out) · Σ out_grad along the axis.
/// shapes   both [...] -> [...]
/// errors   ShapeError if out has rank 0 or the shapes differ; IndexError if the axis is not in [-rank, rank)
/// cost     two reads of both and one write of the result, temporary memory of one row per thread; all are transposed
///          if the axis is not the last one
template <class T, device D>
Tensor<T, D> log_softmax_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                              SoftmaxOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::log_softmax_grad: out must have a floating-point type");
    detail::ClassRows<T, D> const c("out", out, options.axis, 1);
    detail::check_same_shape("out_grad", out_grad, out);
    detail::ElementLoops<D>::check(exec, out, out_grad);
    auto const rows = c.rows(exec, out), grads = c.rows(exec, out_grad);
    auto x_grad = c.template new_rows<T>(exec);
    if (out.size() != 0)
        detail::MatrixRows<D>::log_softmax_grad(exec, c.n, c.classes, rows.data(), grads.data(), x_grad.data());
    return c.back(exec, std::move(x_grad));
}

template <class T, class Device>
Tensor<T, Device> log_softmax(Tensor<T, Device> const& x, SoftmaxOptions const& options = {}) {
    return log_softmax(x.device(), x, options);
}
template <class T, class Device>
Tensor<T, Device> log_softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad,
                                   SoftmaxOptions const& options = {}) {
    return log_softmax_grad(out.device(), out, out_grad, options);
}

struct log_softmax_grad_op : operator_of<slots<slot::out, grad_of<slot::out>>, slots<grad_of<slot::x>>> {
    static constexpr std::string_view name = "log_softmax_grad";
    static constexpr unsigned row_inputs = 0b11;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        spec::rows_of_elements("log_softmax_grad: out", out);
        return spec::elementwise("log_softmax_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return log_softmax_grad(exec, out, out_grad);
    }
};

/// log_softmax along the last axis of a tensor of rank 2 or more.
struct log_softmax_op : detail::builtin_op<slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "log_softmax";
    static constexpr std::string_view brief = "The logarithms of softmax, also where its elements underflow.";
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<log_softmax_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::rows_of_elements("log_softmax: x", x);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return log_softmax(exec, x);
    }
};

}  // namespace rowan::inline v0
