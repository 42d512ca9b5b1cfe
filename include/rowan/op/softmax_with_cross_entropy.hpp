// rowan/op/softmax_with_cross_entropy.hpp: softmax_with_cross_entropy, the cross entropy of logits.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/functions.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/cross_entropy.hpp>
#include <rowan/op/detail/kept_labels.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Writes the loss of a row, given its maximum and the sum of its exponentials; 0 for a row that is not kept.
template <class T, class I>
struct SoftmaxLoss {
    T const* x;
    I const* label;
    sum_t<T>* losses;
    std::size_t classes;
    double const* kept;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row, sum_t<T> const& greatest, sum_t<T> const& total) const {
        if (kept != nullptr && !(kept[row] > 0)) {
            losses[row] = constant<sum_t<T>>(0.0);
            return;
        }
        auto const found = load<sum_t<T>>(x + row * classes + static_cast<std::size_t>(label[row]));
        losses[row] = log_of(total) - (found - greatest);
    }
};

/// Keeps the maximum of a row, and log of the sum of its exponentials.
template <class S>
struct KeepLogTotal {
    S *greatest, *logs;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row, S const& most, S const& total) const {
        greatest[row] = most;
        logs[row] = log_of(total);
    }
};

template <class T, class I, class D>
std::tuple<Tensor<T, D>, Tensor<T, D>> softmax_losses(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                                      Reduction reduction, double const* kept = nullptr) {
    using S = sum_t<T>;
    check_labels(exec, "x", x, label);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    auto softmax = new_tensor<T>(exec, x.shape());
    auto losses = ElementLoops<D>::template scratch<S>(exec, n);
    SoftmaxLoss<T, I> const loss{x.data(), label.data(), losses.data(), classes, kept};
    if (n != 0) MatrixRows<D>::softmax(exec, n, classes, x.data(), softmax.data(), loss);
    return {reduce<T>(exec, reduction, losses, kept == nullptr ? nullptr : kept + n), std::move(softmax)};
}

template <class T, class I, class D>
Tensor<T, D> softmax_losses_grad(D const& exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                                 Tensor<T, D> const& out_grad, Reduction reduction, double const* kept = nullptr) {
    check_labels(exec, "softmax", softmax, label);
    std::size_t const n = softmax.shape(0), classes = softmax.shape(1);
    check_reduced("out_grad", out_grad, reduction, n);
    ElementLoops<D>::check(exec, out_grad);
    auto x_grad = new_tensor<T>(exec, softmax.shape());
    LossGrads<T> const grads{out_grad.data(), reduction, n, kept};
    MatrixRows<D>::label_grad(exec, n, classes, softmax.data(), label.data(), grads, x_grad.data());
    return x_grad;
}

}  // namespace detail

/// log(Σ exp(x - max)) - (x[i, label[i]] - max) for every row i, or the mean or sum of these, and the softmax, which
/// the gradient needs. Rows whose label is ignore_index, which may be any number, have a loss of 0, a gradient of 0
/// if their elements are finite, and do not count in the mean, as in PyTorch, except that the mean of no rows is 0. Computed in dtype<T>::sum; user-defined
/// types need `exp` and `log` that ADL finds. The loss is finite if the differences of the elements of a row are. Row
/// sums are formed in 16 interleaved partial sums, sums of losses as in cross_entropy. The precision of the loss on Cuda
/// is that of its `log`. Goodfellow et al.: Deep Learning, 2016, sections 4.1 and 6.2.2.
/// shapes   x [n, classes], label [n] of int32 or int64 -> the loss [1], or [n] without reduction, and the softmax
///          [n, classes]
/// errors   ShapeError if x is not a matrix or label is not of shape [n]; IndexError if a label is not in [0, classes)
///          and not ignore_index, or if there are rows, but no classes
/// cost     as softmax
template <class T, id_type I, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> softmax_with_cross_entropy(D const& exec, Tensor<T, D> const& x,
                                                                  Tensor<I, D> const& label,
                                                                  Reduction reduction = Reduction::mean,
                                                                  std::optional<std::int64_t> ignore_index = {}) {
    static_assert(floating_element<T>,
                  "rowan::softmax_with_cross_entropy: x must have a floating-point type: convert it");
    if (!ignore_index) return detail::softmax_losses(exec, x, label, reduction);
    detail::KeptLabels<I, D> const rows(exec, label, *ignore_index);
    return detail::softmax_losses(exec, x, rows.label, reduction, rows.kept.data());
}

/// The same for labels that are probabilities: Σ label · (log(Σ exp(x - max)) - (x - max)) for every row; a term is 0
/// where its label is 0.
/// shapes   x [n, classes], label the same -> the loss [1], or [n] without reduction, and the softmax [n, classes]
/// errors   ShapeError if x is not a matrix or label has another shape
/// cost     as softmax, and one more read of x and of label
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> softmax_with_cross_entropy(D const& exec, Tensor<T, D> const& x,
                                                                  Tensor<T, D> const& label,
                                                                  Reduction reduction = Reduction::mean) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>,
                  "rowan::softmax_with_cross_entropy: x and label must have a floating-point type: convert them");
    detail::check_soft_labels(x, label);
    detail::ElementLoops<D>::check(exec, x, label);
    std::size_t const n = x.shape(0), classes = x.shape(1);
    auto softmax = detail::new_tensor<T>(exec, x.shape());
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, n);
    auto greatest = detail::ElementLoops<D>::template scratch<S>(exec, n);
    auto logs = detail::ElementLoops<D>::template scratch<S>(exec, n);
    detail::KeepLogTotal<S> const keep{greatest.data(), logs.data()};
    if (x.size() != 0) detail::MatrixRows<D>::softmax(exec, n, classes, x.data(), softmax.data(), keep);
    detail::MatrixRows<D>::soft_losses(exec, n, classes, x.data(), label.data(), greatest.data(), logs.data(),
                                       losses.data());
    return {detail::reduce<T>(exec, reduction, losses), std::move(softmax)};
}

/// The gradient of x from the softmax: (softmax - 1) · out_grad at the label, softmax · out_grad elsewhere; divided by
/// the number of rows that count for Reduction::mean; 0 in rows that do not.
/// shapes   softmax [n, classes], label [n], out_grad [1], or [n] without reduction -> [n, classes]
/// errors   as softmax_with_cross_entropy; ShapeError if out_grad has another shape
/// cost     one read of the softmax and one write of the result
template <class T, id_type I, device D>
Tensor<T, D> softmax_with_cross_entropy_grad(D const& exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                                             Tensor<T, D> const& out_grad, Reduction reduction = Reduction::mean,
                                             std::optional<std::int64_t> ignore_index = {}) {
    static_assert(floating_element<T>,
                  "rowan::softmax_with_cross_entropy_grad: softmax must have a floating-point type");
    if (!ignore_index) return detail::softmax_losses_grad(exec, softmax, label, out_grad, reduction);
    detail::KeptLabels<I, D> const rows(exec, label, *ignore_index);
    return detail::softmax_losses_grad(exec, softmax, rows.label, out_grad, reduction, rows.kept.data());
}

/// The gradient of x: (softmax · Σ label - label) · out_grad, divided by n for Reduction::mean. The labels have no
/// gradient, as in Paddle.
/// shapes   softmax [n, classes], label the same, out_grad [1], or [n] without reduction -> [n, classes]
/// errors   ShapeError if softmax is not a matrix or the shapes do not match
/// cost     one read of the softmax, two of label, and one write of the result
template <class T, device D>
Tensor<T, D> softmax_with_cross_entropy_grad(D const& exec, Tensor<T, D> const& softmax, Tensor<T, D> const& label,
                                             Tensor<T, D> const& out_grad, Reduction reduction = Reduction::mean) {
    static_assert(floating_element<T>,
                  "rowan::softmax_with_cross_entropy_grad: softmax must have a floating-point type");
    detail::check_soft_labels(softmax, label);
    std::size_t const n = softmax.shape(0), classes = softmax.shape(1);
    detail::check_reduced("out_grad", out_grad, reduction, n);
    detail::ElementLoops<D>::check(exec, softmax, label, out_grad);
    auto x_grad = detail::new_tensor<T>(exec, softmax.shape());
    detail::LossGrads<T> const grads{out_grad.data(), reduction, n};
    detail::MatrixRows<D>::soft_label_grad(exec, n, classes, softmax.data(), label.data(), grads, x_grad.data());
    return x_grad;
}

template <class T, class L, class Device, class... Options>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> softmax_with_cross_entropy(Tensor<T, Device> const& x,
                                                                            Tensor<L, Device> const& label,
                                                                            Reduction reduction = Reduction::mean,
                                                                            Options const&... ignore_index) {
    return softmax_with_cross_entropy(x.device(), x, label, reduction, ignore_index...);
}
template <class T, class L, class Device, class... Options>
Tensor<T, Device> softmax_with_cross_entropy_grad(Tensor<T, Device> const& softmax, Tensor<L, Device> const& label,
                                                  Tensor<T, Device> const& out_grad,
                                                  Reduction reduction = Reduction::mean,
                                                  Options const&... ignore_index) {
    return softmax_with_cross_entropy_grad(softmax.device(), softmax, label, out_grad, reduction, ignore_index...);
}

/// The attributes of softmax_with_cross_entropy_op.
struct SoftmaxLossOptions {
    Reduction reduction = Reduction::mean;          ///< applied to the losses of the rows
    std::optional<std::int64_t> ignore_index = {};  ///< rows with this label do not count

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"reduction", &SoftmaxLossOptions::reduction},
                     field{"ignore_index", &SoftmaxLossOptions::ignore_index});
    }
};

struct softmax_with_cross_entropy_grad_op;

/// See softmax_with_cross_entropy. Labels are class indices of rank 1, or probabilities of the shape of x. The slot
/// `saved` holds the softmax.
struct softmax_with_cross_entropy_op {
    static constexpr std::string_view name = "softmax_with_cross_entropy";
    using inputs = slots<slot::x, slot::label>;
    using outputs = slots<slot::out, slot::saved>;
    using grad = grad_rule<softmax_with_cross_entropy_grad_op, uses<slot::saved, slot::label, grad_of<slot::out>>,
                           makes<grad_of<slot::x>>>;
    using attributes = SoftmaxLossOptions;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        spec::matrix("softmax_with_cross_entropy: x", x);
        spec::dense("softmax_with_cross_entropy: label", label);
        VarSpec softmax = x;
        if (label.dims.size() == 2) {
            if (a.ignore_index)
                throw ValueError("softmax_with_cross_entropy: ignore_index", static_cast<double>(*a.ignore_index),
                                 "none for labels that are probabilities");
            softmax.dims = spec::elementwise("softmax_with_cross_entropy: label", label, x).dims;
        } else {
            spec::rank("softmax_with_cross_entropy: label", label, 1, "1 for class ids or 2 for probabilities");
            spec::ids("softmax_with_cross_entropy: label", label);
            softmax.dims[0] =
                spec::same_dim("softmax_with_cross_entropy: label.shape(0)", label.dims[0], softmax.dims[0]);
        }
        return {VarSpec{.type = VarType::LOD_TENSOR,
                        .dtype = x.dtype,
                        .dims = detail::reduced_dims(a.reduction, softmax.dims[0]),
                        .lod_level = 0},
                softmax};
    }

    template <class T, id_type I, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                                      attributes const& a) {
        return softmax_with_cross_entropy(exec, x, label, a.reduction, a.ignore_index);
    }
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& label,
                                                      attributes const& a) {
        return softmax_with_cross_entropy(exec, x, label, a.reduction);
    }
};

struct softmax_with_cross_entropy_grad_op {
    static constexpr std::string_view name = "softmax_with_cross_entropy_grad";
    using inputs = slots<slot::saved, slot::label, grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    using attributes = SoftmaxLossOptions;

    static constexpr VarSpec infer(VarSpec const& softmax, VarSpec const& label, VarSpec const& out_grad,
                                   attributes const& a) {
        auto const forward = softmax_with_cross_entropy_op::infer(softmax, label, a);
        spec::elementwise("softmax_with_cross_entropy_grad: out@GRAD", out_grad, forward[0]);
        return forward[1];
    }

    template <class T, id_type I, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                            Tensor<T, D> const& out_grad, attributes const& a) {
        return softmax_with_cross_entropy_grad(exec, softmax, label, out_grad, a.reduction, a.ignore_index);
    }
    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& softmax, Tensor<T, D> const& label,
                            Tensor<T, D> const& out_grad, attributes const& a) {
        return softmax_with_cross_entropy_grad(exec, softmax, label, out_grad, a.reduction);
    }
};

}  // namespace rowan::inline v0
