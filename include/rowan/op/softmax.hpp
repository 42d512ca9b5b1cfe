// rowan/op/softmax.hpp: softmax, the softmax of each row of a matrix.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// exp(x - max) / Σ exp(x - max), row by row, computed in dtype<T>::sum and narrowed once; user-defined types need an
/// `exp` that ADL finds. Sums are formed in 16 interleaved partial sums. A row is NaN if it contains a NaN or its
/// maximum is infinite. Goodfellow et al.: Deep Learning, 2016, section 4.1.
/// shapes   x [n, classes] -> [n, classes]
/// errors   ShapeError if x is not a matrix
/// cost     two reads of x and one write of the result, temporary memory of one row per thread; the same bits for any
///          number of threads
template <class T, device D>
Tensor<T, D> softmax(D const& exec, Tensor<T, D> const& x) {
    static_assert(floating_element<T>, "rowan::softmax: x must have a floating-point type: convert it");
    detail::check_rank("x", x, 2);
    detail::ElementLoops<D>::check(exec, x);
    auto out = detail::new_tensor<T>(exec, x.shape());
    if (out.size() != 0)
        detail::MatrixRows<D>::softmax(exec, x.shape(0), x.shape(1), x.data(), out.data(), detail::NoRowLoss{});
    return out;
}

/// The gradient of x from the result and its gradient: out · (out_grad - Σ out · out_grad), row by row.
/// shapes   both [n, classes] -> [n, classes]
/// errors   ShapeError if out is not a matrix or the shapes differ
/// cost     two reads of both and one write of the result, temporary memory of one row per thread
template <class T, device D>
Tensor<T, D> softmax_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
    static_assert(floating_element<T>, "rowan::softmax_grad: out must have a floating-point type");
    detail::check_rank("out", out, 2);
    detail::check_same_shape("out_grad", out_grad, out);
    detail::ElementLoops<D>::check(exec, out, out_grad);
    auto x_grad = detail::new_tensor<T>(exec, out.shape());
    if (out.size() != 0)
        detail::MatrixRows<D>::softmax_grad(exec, out.shape(0), out.shape(1), out.data(), out_grad.data(),
                                            x_grad.data());
    return x_grad;
}

template <class T, class Device>
Tensor<T, Device> softmax(Tensor<T, Device> const& x) {
    return softmax(x.device(), x);
}
template <class T, class Device>
Tensor<T, Device> softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad) {
    return softmax_grad(out.device(), out, out_grad);
}

struct softmax_grad_op {
    static constexpr std::string_view name = "softmax_grad";
    using inputs = slots<slot::out, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& out, VarSpec const& out_grad) {
        spec::matrix("softmax_grad: out", out);
        return spec::elementwise("softmax_grad: out@GRAD", out_grad, out);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad) {
        return softmax_grad(exec, out, out_grad);
    }
};

struct softmax_op {
    static constexpr std::string_view name = "softmax";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = grad_rule<softmax_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::matrix("softmax: x", x);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return softmax(exec, x);
    }
};

}  // namespace rowan::inline v0
