// rowan/op/loss/cross_entropy.hpp: cross_entropy, the cross entropy of logits.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/class_labels.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>

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

    ROWAN_KERNEL void operator()(std::size_t row, sum_t<T> const& greatest, sum_t<T> const& total) const {
        using S = sum_t<T>;
        if (kept != nullptr && kept[row] == 0) {
            losses[row] = constant<S>(0.0);
            return;
        }
        auto const found = load<S>(x + row * classes + static_cast<std::size_t>(label[row]));
        S const loss = logarithm(total) - (found - greatest);
        losses[row] = kept == nullptr ? loss : product(constant<S>(kept[row]), loss);
    }
};

/// Keeps the maximum of a row, and log of the sum of its exponentials.
template <class S>
struct KeepLogTotal {
    S *greatest, *logs;

    ROWAN_KERNEL void operator()(std::size_t row, S const& most, S const& total) const {
        greatest[row] = most;
        logs[row] = logarithm(total);
    }
};

/// Losses of n rows of logits with their softmax, and their gradients, for labels that are numbers or probabilities.
struct of_logits {
    template <class T, id_type I, class D>
    static void losses(D const& exec, LabelledRows<T, I, D> const& r, T* softmax, sum_t<T>* to) {
        SoftmaxLoss<T, I> const loss{r.data(), r.labels.data(), to, r.c.classes, r.labels.kept()};
        if (r.c.n != 0)
            MatrixRows<D>::template results<softmax_rule>(exec, r.c.n, r.c.classes, r.data(), softmax, loss);
    }
    template <class T, class D>
    static void losses(D const& exec, LabelledRows<T, T, D> const& r, T* softmax, sum_t<T>* to) {
        using S = sum_t<T>;
        std::size_t const n = r.c.n, classes = r.c.classes;
        auto greatest = ElementLoops<D>::template scratch<S>(exec, n),
             logs = ElementLoops<D>::template scratch<S>(exec, n);
        KeepLogTotal<S> const keep{greatest.data(), logs.data()};
        if (n * classes != 0) MatrixRows<D>::template results<softmax_rule>(exec, n, classes, r.data(), softmax, keep);
        MatrixRows<D>::soft_losses(exec, n, classes, r.data(), r.labels.data(), greatest.data(), logs.data(), to);
    }

    template <class T, id_type I, class D>
    static void gradient(D const& exec, std::size_t n, std::size_t classes, T const* softmax, I const* label,
                         LossGrads<T> const& grads, T* to) {
        MatrixRows<D>::label_grad(exec, n, classes, softmax, label, grads, to);
    }
    template <class T, class D>
    static void gradient(D const& exec, std::size_t n, std::size_t classes, T const* softmax, sum_t<T> const* label,
                         LossGrads<T> const& grads, T* to) {
        MatrixRows<D>::soft_label_grad(exec, n, classes, softmax, label, grads, to);
    }
};

}  // namespace detail

template <>
struct detail::function_of<cross_entropy_op> {
    template <class T, detail::label_of<T> L, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D const& exec, Tensor<T, D> const& x, Tensor<L, D> const& label,
                                                      CrossEntropyOptions const& options) {
        LabelledRows<T, L, D> const r(exec, "x", x, label, options);
        auto softmax = r.c.template new_rows<T>(exec);
        auto losses = ElementLoops<D>::template scratch<sum_t<T>>(exec, r.c.n);
        of_logits::losses(exec, r, softmax.data(), losses.data());
        return {r.reduced(exec, options.reduction, losses), r.c.back(exec, std::move(softmax))};
    }
};

template <>
struct detail::function_of<detail::backward_of<cross_entropy_op>> {
    template <class T, detail::label_of<T> L, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& softmax, Tensor<L, D> const& label,
                            Tensor<T, D> const& out_grad, CrossEntropyOptions const& options) {
        return label_gradient<of_logits>(exec, "softmax", softmax, label, out_grad, options);
    }
};

/// See cross_entropy. Labels are class indices without the axis of the classes, or probabilities of the
/// shape of x. The slot `saved` holds the softmax.
struct cross_entropy_op : detail::declared<cross_entropy_op> {
    using grad =
        gradient<cross_entropy_op, uses<slot::saved, slot::target, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr std::array<VarSpec, 2> infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        constexpr detail::LabelFields names{"cross_entropy: x", "cross_entropy: label", "cross_entropy: ignore_index"};
        auto const made = detail::label_dims(names, x, label, a);
        VarSpec softmax = x;
        softmax.dims = made.x;
        return {spec::with_dims(x, made.losses), softmax};
    }

    template <class T, detail::label_of<T> L, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> run(D exec, Tensor<T, D> const& x, Tensor<L, D> const& label,
                                                      attributes const& a) {
        return cross_entropy(exec, x, label, a);
    }

    static constexpr VarSpec infer_backward(VarSpec const& softmax, VarSpec const&, VarSpec const&, attributes const&) {
        return softmax;
    }

    template <class T, detail::label_of<T> L, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& softmax, Tensor<L, D> const& label,
                                 Tensor<T, D> const& out_grad, attributes const& a) {
        return cross_entropy_grad(exec, softmax, label, out_grad, a);
    }
};

}  // namespace rowan::inline v0
