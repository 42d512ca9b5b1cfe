// rowan/op/softmax_with_cross_entropy.hpp: softmax_with_cross_entropy, the cross entropy of logits.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/functions.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/cross_entropy.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Writes the loss of a row, given its maximum and the sum of its exponentials.
template <class T, class I>
struct SoftmaxLoss {
    T const* x;
    I const* label;
    sum_t<T>* losses;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row, sum_t<T> const& greatest, sum_t<T> const& total) const {
        auto const found = load<sum_t<T>>(x + row * classes + static_cast<std::size_t>(label[row]));
        losses[row] = log_of(total) - (found - greatest);
    }
};

}  // namespace detail

/// log(Σ exp(x - max)) - (x[i, label[i]] - max) for every row i, or the mean or sum of these, and the softmax, which
/// the gradient needs. Computed in dtype<T>::sum; user-defined types need `exp` and `log` that ADL finds. The loss is
/// finite if the differences of the elements of a row are. Row sums are formed in 16 interleaved partial sums, sums of
/// losses as in cross_entropy. The precision of the loss on Cuda is that of its `log`. Goodfellow et al.: Deep
/// Learning, 2016, sections 4.1 and 6.2.2.
/// shapes   x [n, classes], label [n] of int32 or int64 -> the loss [1], or [n] without reduction, and the softmax
///          [n, classes]
/// errors   ShapeError if x is not a matrix or label is not of shape [n]; IndexError if a label is not in [0, classes)
/// cost     as softmax
template <class T, id_type I, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> softmax_with_cross_entropy(D const& exec, Tensor<T, D> const& x,
                                                                  Tensor<I, D> const& label,
                                                                  Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>,
                  "rowan::softmax_with_cross_entropy: x must have a floating-point type: convert it");
    detail::check_labels(exec, "x", x, label);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    auto softmax = detail::new_tensor<T>(exec, x.shape());
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, n);
    detail::SoftmaxLoss<T, I> const loss{x.data(), label.data(), losses.data(), classes};
    if (n != 0) detail::MatrixRows<D>::softmax(exec, n, classes, x.data(), softmax.data(), loss);
    return {detail::reduce<T>(exec, reduction, losses), std::move(softmax)};
}

/// The gradient of x from the softmax: (softmax - 1) · out_grad at the label, softmax · out_grad elsewhere; divided by
/// n for Reduction::mean.
/// shapes   softmax [n, classes], label [n], out_grad [1], or [n] without reduction -> [n, classes]
/// errors   as softmax_with_cross_entropy; ShapeError if out_grad has another shape
/// cost     one read of the softmax and one write of the result
template <class T, id_type I, device D>
Tensor<T, D> softmax_with_cross_entropy_grad(D const& exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                                             Tensor<T, D> const& out_grad, Reduction reduction = Reduction::mean) {
    static_assert(floating_element<T>,
                  "rowan::softmax_with_cross_entropy_grad: softmax must have a floating-point type");
    detail::check_labels(exec, "softmax", softmax, label);
    std::size_t const n = softmax.shape(0), classes = softmax.shape(1);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    detail::ElementLoops<D>::check(exec, out_grad);
    auto x_grad = detail::new_tensor<T>(exec, softmax.shape());
    detail::LossGrads<T> const grads{out_grad.data(), reduction, n};
    detail::MatrixRows<D>::label_grad(exec, n, classes, softmax.data(), label.data(), grads, x_grad.data());
    return x_grad;
}

template <class T, class I, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> softmax_with_cross_entropy(Tensor<T, Device> const& x,
                                                                            Tensor<I, Device> const& label,
                                                                            Reduction reduction = Reduction::mean) {
    return softmax_with_cross_entropy(x.device(), x, label, reduction);
}
template <class T, class I, class Device>
Tensor<T, Device> softmax_with_cross_entropy_grad(Tensor<T, Device> const& softmax, Tensor<I, Device> const& label,
                                                  Tensor<T, Device> const& out_grad,
                                                  Reduction reduction = Reduction::mean) {
    return softmax_with_cross_entropy_grad(softmax.device(), softmax, label, out_grad, reduction);
}

struct softmax_with_cross_entropy_grad_op;

/// See softmax_with_cross_entropy. The slot `saved` holds the softmax.
struct softmax_with_cross_entropy_op {
    static constexpr std::string_view name = "softmax_with_cross_entropy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out, slot::saved>;
    using grad = grad_rule<softmax_with_cross_entropy_grad_op, uses<slot::saved, slot::label, grad_of<slot::out>>,
                           makes<grad_of<slot::x>>>;
    using attributes = cross_entropy_op::attributes;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        spec::matrix("softmax_with_cross_entropy: x", x);
        spec::dense("softmax_with_cross_entropy: label", label);
        spec::rank("softmax_with_cross_entropy: label", label, 1, "1");
        spec::ids("softmax_with_cross_entropy: label", label);
        VarSpec softmax = x;
        softmax.dims[0] = spec::same_dim("softmax_with_cross_entropy: label.shape(0)", label.dims[0], softmax.dims[0]);
        return {VarSpec{.type = VarType::LOD_TENSOR,
                        .dtype = x.dtype,
                        .dims = detail::reduced_dims(a.reduction, softmax.dims[0]),
                        .lod_level = 0},
                softmax};
    }

    template <class T, class I, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                                      attributes const& a) {
        return softmax_with_cross_entropy(exec, x, label, a.reduction);
    }
};

struct softmax_with_cross_entropy_grad_op {
    static constexpr std::string_view name = "softmax_with_cross_entropy_grad";
    using inputs = slots<slot::saved, slot::label, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = cross_entropy_op::attributes;

    static constexpr VarSpec infer(VarSpec const& softmax, VarSpec const& label, VarSpec const& out_grad,
                                   attributes const& a) {
        auto const forward = softmax_with_cross_entropy_op::infer(softmax, label, a);
        spec::elementwise("softmax_with_cross_entropy_grad: out@GRAD", out_grad, forward[0]);
        return forward[1];
    }

    template <class T, class I, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                            Tensor<T, D> const& out_grad, attributes const& a) {
        return softmax_with_cross_entropy_grad(exec, softmax, label, out_grad, a.reduction);
    }
};

}  // namespace rowan::inline v0
