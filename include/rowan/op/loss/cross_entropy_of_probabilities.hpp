// rowan/op/loss/cross_entropy_of_probabilities.hpp: cross_entropy_of_probabilities, the loss of probabilities against labels.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/functions.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/class_rows.hpp>
#include <rowan/op/detail/kept_labels.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/loss/loss_options.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// losses[row] = -log(x[row, label[row]]), times the weight of the row if some are weighed
template <class T, class I>
struct LabelLoss {
    T const* x;
    I const* label;
    sum_t<T>* losses;
    std::size_t classes;
    double const* kept;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row) const {
        using S = sum_t<T>;
        T const* const p = x + row * classes + static_cast<std::size_t>(label[row]);
        S loss = constant<S>(0.0);
        if (kept == nullptr || kept[row] != 0) loss = loss - log_of(load<S>(p));
        losses[row] = kept == nullptr ? loss : product(constant<S>(kept[row]), loss);
    }
};

/// Its gradient at the label: -grad / x.
template <class T, class I>
struct LabelLossGrad {
    T const* x;
    I const* label;
    LossGrads<T> grads;
    T* to;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(std::size_t row) const {
        using S = sum_t<T>;
        if (grads.ignores(row)) return;
        std::size_t const at = row * classes + static_cast<std::size_t>(label[row]);
        store(S(constant<S>(0.0) - quotient(grads(row), load<S>(x + at))), to + at);
    }
};

/// Whether x is 0; false for NaN.
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE bool is_zero(S const& x) {
    S const zero = constant<S>(0.0);
    return !(x < zero) && !(x > zero) && !(x != x);
}

/// label · log(x), or 0 where the label is 0.
template <class T>
struct SoftLabelTerm {
    T const* x;
    sum_t<T> const* label;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> operator()(std::size_t at) const {
        using S = sum_t<T>;
        S const share = label[at];
        return is_zero(share) ? constant<S>(0.0) : product(share, log_of(load<S>(x + at)));
    }
};

/// The gradient of the loss, the negative sum of these terms: -grad · label / x, or 0 where the label is 0.
template <class T>
struct SoftLabelGrad {
    T const* x;
    sum_t<T> const* label;
    LossGrads<T> grads;
    T* to;
    std::size_t classes;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD sum_t<T> of_row(std::size_t row) const { return constant<sum_t<T>>(0.0) - grads(row); }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD void operator()(sum_t<T> const& g, std::size_t row, std::size_t column) const {
        using S = sum_t<T>;
        std::size_t const at = row * classes + column;
        S const share = label[at];
        store(is_zero(share) ? constant<S>(0.0) : S(quotient(product(share, g), load<S>(x + at))), to + at);
    }
};

}  // namespace detail

/// -log(x[i, label[i]]) for every row i, or the mean or sum of these, computed in dtype<T>::sum; `log` is std::log or
/// found by ADL. The classes are along options.axis, by default the last one; a row is the elements along it. Rows whose
/// label is options.ignore_index, which may be any number, have a loss and a gradient of 0. With options.weights, a
/// row's loss is multiplied by the weight of its label. The mean divides by the number of rows that count, or by the sum
/// of their weights, as in PyTorch, except that the mean is 0 if this is 0. Sums are formed in blocks of 4096 elements,
/// each in 16 interleaved partial sums, and the block sums are added in the same way. A probability of 0 has an infinite
/// loss; cross_entropy avoids this. The precision on Cuda is that of its `log`. Goodfellow et al.: Deep
/// Learning, 2016, section 6.2.2.
/// shapes   x [n, classes] of probabilities, label [n] of int32 or int64 -> [1], or [n] without reduction; or x [...]
///          with classes along the axis, label [...] without that axis -> [1], or that of label without reduction
/// errors   ShapeError if x has a rank below 2, label has another shape, or there is not one weight for each class;
///          IndexError if the axis is not in [-rank, rank); IndexError if a label is not in [0, classes) and not
///          ignore_index, or if there are rows, but no classes
/// cost     O(n); x is transposed if the axis is not the last one; the same bits for any number of threads
template <class T, id_type I, device D>
Tensor<T, D> cross_entropy_of_probabilities(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                            CrossEntropyOptions const& options = {}) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>,
                  "rowan::cross_entropy_of_probabilities: x must have a floating-point type: convert it");
    detail::ClassRows<T, D> const c("x", x, options.axis.value_or(-1), 2);
    c.check_labels(label);
    detail::check_weights(options, c.classes);
    detail::ElementLoops<D>::check(exec, x, label);
    detail::KeptLabels<I, D> const kept(exec, label, c.classes, options);
    auto const rows = c.rows(exec, x);
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, c.n);
    detail::ElementLoops<D>::each(
        exec, c.n, 1, detail::LabelLoss<T, I>{rows.data(), kept.label(), losses.data(), c.classes, kept.kept()});
    return detail::reduce(exec, options, c, losses, kept.total());
}

/// The loss of probabilities against labels that are probabilities: -Σ label · log(x) for every row; a term is 0 where
/// its label is 0. With weights, each term is multiplied by that of its class; the mean divides by the number of rows,
/// as in PyTorch.
/// shapes   x [...] with classes along the axis, label the same -> [1], or [...] without the axis without reduction
/// errors   ShapeError if x has a rank below 2, label has another shape, or there is not one weight for each class;
///          IndexError if the axis is not in [-rank, rank), or there is an ignore_index
/// cost     one read of both, which are transposed if the axis is not the last one; the same bits for any number of
///          threads
template <class T, device D>
Tensor<T, D> cross_entropy_of_probabilities(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& label,
                                            CrossEntropyOptions const& options = {}) {
    using S = detail::sum_t<T>;
    static_assert(floating_element<T>,
                  "rowan::cross_entropy_of_probabilities: x and label must have a floating-point type: convert them");
    detail::ClassRows<T, D> const c("x", x, options.axis.value_or(-1), 2);
    detail::check_soft_labels(x, label, c, options);
    detail::ElementLoops<D>::check(exec, x, label);
    detail::SoftLabels<T, D> const shares(exec, label, c, options);
    auto const rows = c.rows(exec, x);
    auto losses = detail::ElementLoops<D>::template scratch<S>(exec, c.n);
    detail::SoftLabelTerm<T> const term{rows.data(), shares.data()};
    detail::MatrixRows<D>::template negative_sums<S>(exec, c.n, c.classes, term, losses.data());
    return detail::reduce(exec, options, c, losses);
}

/// The gradient of x: -out_grad / x at the label, times the weight, and 0 elsewhere; divided as the mean is.
/// shapes   x and label as in cross_entropy_of_probabilities, out_grad like its result -> that of x
/// errors   as cross_entropy_of_probabilities; ShapeError if out_grad has another shape
/// cost     one write of the result; transposes as in cross_entropy_of_probabilities
template <class T, id_type I, device D>
Tensor<T, D> cross_entropy_of_probabilities_grad(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label,
                                                 Tensor<T, D> const& out_grad,
                                                 CrossEntropyOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cross_entropy_of_probabilities_grad: x must have a floating-point type");
    detail::ClassRows<T, D> const c("x", x, options.axis.value_or(-1), 2);
    c.check_labels(label);
    detail::check_weights(options, c.classes);
    detail::ElementLoops<D>::check(exec, x, label, out_grad);
    detail::KeptLabels<I, D> const kept(exec, label, c.classes, options);
    detail::check_reduced("out_grad", out_grad, options.reduction, c);
    auto const rows = c.rows(exec, x);
    auto x_grad = c.template new_rows<T>(exec);
    detail::LossGrads<T> const grads{out_grad.data(), options.reduction, c.n, kept.kept()};
    detail::LabelLossGrad<T, I> const at_label{rows.data(), kept.label(), grads, x_grad.data(), c.classes};
    detail::ElementLoops<D>::zero_rows(exec, c.n, c.classes, x_grad.data(), at_label);
    return c.back(exec, std::move(x_grad));
}

/// The gradient of x: -out_grad · label / x, times the weights, or 0 where the label is 0; divided by the number of rows
/// for Reduction::mean. The labels have no gradient.
/// shapes   x and label as in cross_entropy_of_probabilities, out_grad like its result -> that of x
/// errors   as cross_entropy_of_probabilities; ShapeError if out_grad has another shape
/// cost     one read of both and one write of the result; transposes as in cross_entropy_of_probabilities
template <class T, device D>
Tensor<T, D> cross_entropy_of_probabilities_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& label,
                                                 Tensor<T, D> const& out_grad,
                                                 CrossEntropyOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cross_entropy_of_probabilities_grad: x must have a floating-point type");
    detail::ClassRows<T, D> const c("x", x, options.axis.value_or(-1), 2);
    detail::check_soft_labels(x, label, c, options);
    detail::check_reduced("out_grad", out_grad, options.reduction, c);
    detail::ElementLoops<D>::check(exec, x, label, out_grad);
    detail::SoftLabels<T, D> const shares(exec, label, c, options);
    auto const rows = c.rows(exec, x);
    auto x_grad = c.template new_rows<T>(exec);
    detail::LossGrads<T> const grads{out_grad.data(), options.reduction, c.n};
    detail::ElementLoops<D>::each_element(
        exec, c.n, c.classes, detail::SoftLabelGrad<T>{rows.data(), shares.data(), grads, x_grad.data(), c.classes});
    return c.back(exec, std::move(x_grad));
}

template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_of_probabilities(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                                 CrossEntropyOptions const& options = {}) {
    return cross_entropy_of_probabilities(x.device(), x, label, options);
}
template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_of_probabilities_grad(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                                      Tensor<T, Device> const& out_grad,
                                                      CrossEntropyOptions const& options = {}) {
    return cross_entropy_of_probabilities_grad(x.device(), x, label, out_grad, options);
}

struct cross_entropy_of_probabilities_grad_op;

/// See cross_entropy_of_probabilities. Labels are class indices without the axis of the classes, or probabilities of the shape of x.
struct cross_entropy_of_probabilities_op
    : detail::builtin_op<slots<slot::x, slot::target>, slots<slot::out>, CrossEntropyOptions> {
    static constexpr std::string_view name = "cross_entropy_of_probabilities";
    static constexpr std::string_view brief =
        "-log(probability of the label), from probabilities; classes are along an axis, and may have weights.";
    using grad = grad_rule<cross_entropy_of_probabilities_grad_op, uses<slot::x, slot::target, grad_of<slot::out>>,
                           makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        constexpr detail::LabelFields names{"cross_entropy_of_probabilities: x",
                                            "cross_entropy_of_probabilities: label",
                                            "cross_entropy_of_probabilities: ignore_index"};
        return {.type = VarType::LOD_TENSOR,
                .dtype = x.dtype,
                .dims = detail::label_dims(names, x, label, a).losses,
                .lod_level = 0};
    }

    template <class T, class L, class D>
    requires(id_type<L> || std::same_as<L, T>) static Tensor<T, D> run(D exec, Tensor<T, D> const& x,
                                                                       Tensor<L, D> const& label, attributes const& a) {
        return cross_entropy_of_probabilities(exec, x, label, a);
    }
};

struct cross_entropy_of_probabilities_grad_op
    : operator_of<slots<slot::x, slot::target, grad_of<slot::out>>, slots<grad_of<slot::x>>, CrossEntropyOptions> {
    static constexpr std::string_view name = "cross_entropy_of_probabilities_grad";

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, VarSpec const& out_grad,
                                   attributes const& a) {
        spec::elementwise("cross_entropy_of_probabilities_grad: out@GRAD", out_grad,
                          cross_entropy_of_probabilities_op::infer(x, label, a));
        return x;
    }

    template <class T, class L, class D>
    requires(id_type<L> ||
             std::same_as<L, T>) static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<L, D> const& label,
                                                         Tensor<T, D> const& out_grad, attributes const& a) {
        return cross_entropy_of_probabilities_grad(exec, x, label, out_grad, a);
    }
};

}  // namespace rowan::inline v0
