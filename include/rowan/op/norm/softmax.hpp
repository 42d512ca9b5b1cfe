// rowan/op/norm/softmax.hpp: softmax, the softmax along an axis of a tensor.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/class_rows.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace rowan::inline v0 {

/// The settings of softmax and log_softmax.
struct SoftmaxOptions {
    std::int64_t axis = -1;  ///< the axis of the classes; a negative one counts from the end
};

/// exp(x - max) / Σ exp(x - max) along an axis, by default row by row, computed in dtype<T>::sum and narrowed once;
/// user-defined types need an `exp` that ADL finds. Sums are formed in 16 interleaved partial sums. A row is NaN if it
/// contains a NaN or its maximum is infinite. Goodfellow et al.: Deep Learning, 2016, section 4.1.
/// shapes   x [...] -> [...]
/// errors   ShapeError if x has rank 0; IndexError if the axis is not in [-rank, rank)
/// cost     two reads of x and one write of the result, temporary memory of one row per thread, or of 80 rows; x and the
///          result may be transposed if the axis is not the last one; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> softmax(D const& exec, Tensor<T, D> const& x, SoftmaxOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::softmax: x must have a floating-point type: convert it");
    detail::ClassRows<T, D> const c("x", x, options.axis, 1);
    detail::ElementLoops<D>::check(exec, x);
    if constexpr (std::same_as<D, Cpu>) {
        if (std::size_t const inner = detail::product_from(x.shape(), c.axis + 1); inner >= 16) {
            auto out = detail::new_tensor<T>(exec, x.shape());
            if (out.size() != 0)
                detail::MatrixRows<D>::softmax_apart(exec, c.n / inner, c.classes, inner, x.data(), out.data());
            return out;
        }
    }
    auto const rows = c.rows(exec, x);
    auto out = c.template new_rows<T>(exec);
    if (out.size() != 0)
        detail::MatrixRows<D>::softmax(exec, c.n, c.classes, rows.data(), out.data(), detail::NoRowLoss{});
    return c.back(exec, std::move(out));
}

/// The gradient of x from the result and its gradient: out · (out_grad - Σ out · out_grad) along the axis.
/// shapes   both [...] -> [...]
/// errors   ShapeError if out has rank 0 or the shapes differ; IndexError if the axis is not in [-rank, rank)
/// cost     two reads of both and one write of the result, temporary memory of one row per thread; all are transposed
///          if the axis is not the last one
template <class T, device D>
Tensor<T, D> softmax_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                          SoftmaxOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::softmax_grad: out must have a floating-point type");
    detail::ClassRows<T, D> const c("out", out, options.axis, 1);
    detail::check_same_shape("out_grad", out_grad, out);
    detail::ElementLoops<D>::check(exec, out, out_grad);
    auto const rows = c.rows(exec, out), grads = c.rows(exec, out_grad);
    auto x_grad = c.template new_rows<T>(exec);
    if (out.size() != 0)
        detail::MatrixRows<D>::softmax_grad(exec, c.n, c.classes, rows.data(), grads.data(), x_grad.data());
    return c.back(exec, std::move(x_grad));
}

template <class T, class Device>
Tensor<T, Device> softmax(Tensor<T, Device> const& x, SoftmaxOptions const& options = {}) {
    return softmax(x.device(), x, options);
}
template <class T, class Device>
Tensor<T, Device> softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad,
                               SoftmaxOptions const& options = {}) {
    return softmax_grad(out.device(), out, out_grad, options);
}

struct softmax_grad_op : operator_of<slots<slot::out, grad_of<slot::out>>, slots<grad_of<slot::x>>> {
    static constexpr std::string_view name = "softmax_grad";
    static constexpr unsigned row_inputs = 0b11;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        spec::rows_of_elements("softmax_grad: out", out);
        return spec::elementwise("softmax_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return softmax_grad(exec, out, out_grad);
    }
};

/// The softmax along the last axis of a tensor of rank 2 or more, see softmax.
struct softmax_op : detail::builtin_op<slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "softmax";
    static constexpr std::string_view brief = "exp(x) / the sum of exp of the row, or along an axis.";
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<softmax_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::rows_of_elements("softmax: x", x);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return softmax(exec, x);
    }
};

}  // namespace rowan::inline v0
