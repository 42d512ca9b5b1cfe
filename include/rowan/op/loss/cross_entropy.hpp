// rowan/op/loss/cross_entropy.hpp: cross_entropy, the cross entropy of logits.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/functions.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/class_rows.hpp>
#include <rowan/op/detail/kept_labels.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>
#include <rowan/op/loss/loss_options.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Writes the loss of a row, given its maximum and the sum of its exponentials, times the weight of the row if some are
/// weighed.
template <class T, class I>
struct SoftmaxLoss {
    T const* x;
    I const* label;
    sum_t<T>* losses;
    std::size_t classes;
    double const* kept;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row, sum_t<T> const& greatest, sum_t<T> const& total) const {
        using S = sum_t<T>;
        if (kept != nullptr && kept[row] == 0) {
            losses[row] = constant<S>(0.0);
            return;
        }
        auto const found = load<S>(x + row * classes + static_cast<std::size_t>(label[row]));
        S const loss = log_of(total) - (found - greatest);
        losses[row] = kept == nullptr ? loss : product(constant<S>(kept[row]), loss);
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

}  // namespace detail

/// log(Σ exp(x - max)) - (x[i, label[i]] - max) for every row i, or the mean or sum of these, and the softmax, which
/// the gradient needs. The axis of the classes, rows to ignore, weights and the mean are those of cross_entropy_of_probabilities; an
/// ignored row has a gradient of 0, whatever its elements are. Computed in dtype<T>::sum; user-defined types need `exp`
/// and `log` that ADL finds. The loss is finite if the differences of the elements of a row are. Row sums are formed in
/// 16 interleaved partial sums, sums of losses as in cross_entropy_of_probabilities. The precision of the loss on Cuda is that of its
/// `log`. Goodfellow et al.: Deep Learning, 2016, sections 4.1 and 6.2.2.
///     auto [loss, saved] = cross_entropy(x, label, {.ignore_index = -100, .weights = {1, 1, 4}});
/// shapes   x [n, classes], label [n] of int32 or int64 -> the loss [1], or [n] without reduction, and the softmax
///          [n, classes]; or x [...] with classes along the axis, label [...] without that axis
/// errors   as cross_entropy_of_probabilities
/// cost     as softmax along the axis
template <class T, id_type I, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> cross_entropy(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                                     CrossEntropyOptions const& options = {}) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>, "rowan::cross_entropy: x must have a floating-point type: convert it");
    detail::ClassRows<T, D> const c("x", x, options.axis.value_or(-1), 2);
    c.check_labels(label);
    detail::check_weights(options, c.classes);
    detail::ElementLoops<D>::check(exec, x, label);
    detail::KeptLabels<I, D> const kept(exec, label, c.classes, options);
    auto const rows = c.rows(exec, x);
    auto softmax = c.template new_rows<T>(exec);
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, c.n);
    detail::SoftmaxLoss<T, I> const loss{rows.data(), kept.label(), losses.data(), c.classes, kept.kept()};
    if (c.n != 0) detail::MatrixRows<D>::softmax(exec, c.n, c.classes, rows.data(), softmax.data(), loss);
    return {detail::reduce(exec, options, c, losses, kept.total()), c.back(exec, std::move(softmax))};
}

/// The loss of logits against labels that are probabilities, and the softmax. The loss of a row is
/// Σ label · (log(Σ exp(x - max)) - (x - max)); a term is 0 where its label is 0. With weights, each term is multiplied
/// by that of its class; the mean divides by the number of rows, as in PyTorch.
/// shapes   x [...] with classes along the axis, label the same -> the loss [1], or [...] without the axis without
///          reduction, and the softmax, like x
/// errors   as cross_entropy_of_probabilities
/// cost     as softmax along the axis, and one more read of x and of label
template <class T, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> cross_entropy(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& label,
                                                     CrossEntropyOptions const& options = {}) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>,
                  "rowan::cross_entropy: x and label must have a floating-point type: convert them");
    detail::ClassRows<T, D> const c("x", x, options.axis.value_or(-1), 2);
    detail::check_soft_labels(x, label, c, options);
    detail::ElementLoops<D>::check(exec, x, label);
    detail::SoftLabels<T, D> const shares(exec, label, c, options);
    auto const rows = c.rows(exec, x);
    auto softmax = c.template new_rows<T>(exec);
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, c.n);
    auto greatest = detail::ElementLoops<D>::template scratch<S>(exec, c.n);
    auto logs = detail::ElementLoops<D>::template scratch<S>(exec, c.n);
    detail::KeepLogTotal<S> const keep{greatest.data(), logs.data()};
    if (x.size() != 0) detail::MatrixRows<D>::softmax(exec, c.n, c.classes, rows.data(), softmax.data(), keep);
    detail::MatrixRows<D>::soft_losses(exec, c.n, c.classes, rows.data(), shares.data(), greatest.data(), logs.data(),
                                       losses.data());
    return {detail::reduce(exec, options, c, losses), c.back(exec, std::move(softmax))};
}

/// The gradient of x from the softmax: (softmax - 1) · out_grad at the label, softmax · out_grad elsewhere, times the
/// weight; divided as the mean is; 0 in rows that are ignored.
/// shapes   softmax and label as in cross_entropy, out_grad like the loss -> that of softmax
/// errors   as cross_entropy_of_probabilities; ShapeError if out_grad has another shape
/// cost     one read of the softmax and one write of the result; transposes if the axis is not the last one
template <class T, id_type I, device D>
Tensor<T, D> cross_entropy_grad(D const& exec, Tensor<T, D> const& softmax, Tensor<I, D> const& label,
                                Tensor<T, D> const& out_grad, CrossEntropyOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cross_entropy_grad: softmax must have a floating-point type");
    detail::ClassRows<T, D> const c("softmax", softmax, options.axis.value_or(-1), 2);
    c.check_labels(label);
    detail::check_weights(options, c.classes);
    detail::ElementLoops<D>::check(exec, softmax, label, out_grad);
    detail::KeptLabels<I, D> const kept(exec, label, c.classes, options);
    detail::check_reduced("out_grad", out_grad, options.reduction, c);
    auto const rows = c.rows(exec, softmax);
    auto x_grad = c.template new_rows<T>(exec);
    detail::LossGrads<T> const grads{out_grad.data(), options.reduction, c.n, kept.kept()};
    detail::MatrixRows<D>::label_grad(exec, c.n, c.classes, rows.data(), kept.label(), grads, x_grad.data());
    return c.back(exec, std::move(x_grad));
}

/// The gradient of x: (softmax · Σ label - label) · out_grad, where the labels are multiplied by the weights; divided by
/// the number of rows for Reduction::mean. The labels have no gradient, as in Paddle.
/// shapes   softmax and label as in cross_entropy, out_grad like the loss -> that of softmax
/// errors   as cross_entropy_of_probabilities; ShapeError if out_grad has another shape
/// cost     one read of the softmax, two of label, and one write of the result; transposes if the axis is not the last
///          one
template <class T, device D>
Tensor<T, D> cross_entropy_grad(D const& exec, Tensor<T, D> const& softmax, Tensor<T, D> const& label,
                                Tensor<T, D> const& out_grad, CrossEntropyOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cross_entropy_grad: softmax must have a floating-point type");
    detail::ClassRows<T, D> const c("softmax", softmax, options.axis.value_or(-1), 2);
    detail::check_soft_labels(softmax, label, c, options);
    detail::check_reduced("out_grad", out_grad, options.reduction, c);
    detail::ElementLoops<D>::check(exec, softmax, label, out_grad);
    detail::SoftLabels<T, D> const shares(exec, label, c, options);
    auto const rows = c.rows(exec, softmax);
    auto x_grad = c.template new_rows<T>(exec);
    detail::LossGrads<T> const grads{out_grad.data(), options.reduction, c.n};
    detail::MatrixRows<D>::soft_label_grad(exec, c.n, c.classes, rows.data(), shares.data(), grads, x_grad.data());
    return c.back(exec, std::move(x_grad));
}

template <class T, class L, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> cross_entropy(Tensor<T, Device> const& x,
                                                               Tensor<L, Device> const& label,
                                                               CrossEntropyOptions const& options = {}) {
    return cross_entropy(x.device(), x, label, options);
}
template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_grad(Tensor<T, Device> const& softmax, Tensor<L, Device> const& label,
                                     Tensor<T, Device> const& out_grad, CrossEntropyOptions const& options = {}) {
    return cross_entropy_grad(softmax.device(), softmax, label, out_grad, options);
}

struct cross_entropy_grad_op;

/// See cross_entropy. Labels are class indices without the axis of the classes, or probabilities of the
/// shape of x. The slot `saved` holds the softmax.
struct cross_entropy_op
    : detail::builtin_op<slots<slot::x, slot::target>, slots<slot::out, slot::saved>, CrossEntropyOptions> {
    static constexpr std::string_view name = "cross_entropy";
    static constexpr std::string_view brief =
        "-log(probability of the label), from scores; labels may be probabilities.";
    using grad =
        grad_rule<cross_entropy_grad_op, uses<slot::saved, slot::target, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        constexpr detail::LabelFields names{"cross_entropy: x", "cross_entropy: label", "cross_entropy: ignore_index"};
        auto const made = detail::label_dims(names, x, label, a);
        VarSpec softmax = x;
        softmax.dims = made.x;
        return {VarSpec{.type = VarType::LOD_TENSOR, .dtype = x.dtype, .dims = made.losses, .lod_level = 0}, softmax};
    }

    template <class T, class L, class D>
    requires(id_type<L> || std::same_as<L, T>) static std::tuple<Tensor<T, D>, Tensor<T, D>> run(
        D exec, Tensor<T, D> const& x, Tensor<L, D> const& label, attributes const& a) {
        return cross_entropy(exec, x, label, a);
    }
};

struct cross_entropy_grad_op
    : operator_of<slots<slot::saved, slot::target, grad_of<slot::out>>, slots<grad_of<slot::x>>, CrossEntropyOptions> {
    static constexpr std::string_view name = "cross_entropy_grad";

    static constexpr VarSpec infer(VarSpec const& softmax, VarSpec const& label, VarSpec const& out_grad,
                                   attributes const& a) {
        auto const forward = cross_entropy_op::infer(softmax, label, a);
        spec::elementwise("cross_entropy_grad: out@GRAD", out_grad, forward[0]);
        return forward[1];
    }

    template <class T, class L, class D>
    requires(id_type<L> ||
             std::same_as<L, T>) static Tensor<T, D> run(D exec, Tensor<T, D> const& softmax, Tensor<L, D> const& label,
                                                         Tensor<T, D> const& out_grad, attributes const& a) {
        return cross_entropy_grad(exec, softmax, label, out_grad, a);
    }
};

}  // namespace rowan::inline v0
