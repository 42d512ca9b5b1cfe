// rowan/op/loss/cross_entropy_of_probabilities.hpp: cross_entropy_of_probabilities, the loss of probabilities against labels.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/class_labels.hpp>
#include <rowan/op/detail/matrix_rows.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// losses[row] = x[row, label[row]], or 1 if the row does not count
template <class T, class I>
struct ProbabilityOfLabel {
    T const* x;
    I const* label;
    double const* kept;
    sum_t<T>* losses;
    std::size_t classes;

    ROWAN_KERNEL void operator()(std::size_t row) const {
        using S = sum_t<T>;
        bool const counts = kept == nullptr || kept[row] != 0;
        losses[row] = counts ? load<S>(x + row * classes + static_cast<std::size_t>(label[row])) : constant<S>(1.0);
    }
};

/// -log(p), or that times a weight
struct negative_logarithm {
    ROWAN_FORMULA V operator()(V const& p) const { return constant<V>(0.0) - logarithm(p); }
    ROWAN_FORMULA V operator()(V const& p, V const& weight) const {
        return product(weight, V(constant<V>(0.0) - logarithm(p)));
    }
};

/// The gradient of a loss, at the label: -grad / x.
template <class T, class I>
struct LabelLossGrad {
    T const* x;
    I const* label;
    LossGrads<T> grads;
    T* to;
    std::size_t classes;

    ROWAN_KERNEL void operator()(std::size_t row) const {
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

/// The gradient of the loss, the negative sum of weighed_logarithm: -grad · label / x, or 0 where the label is 0.
template <class T>
struct SoftLabelGrad {
    T const* x;
    sum_t<T> const* label;
    LossGrads<T> grads;
    T* to;
    std::size_t classes;

    ROWAN_KERNEL sum_t<T> of_row(std::size_t row) const { return constant<sum_t<T>>(0.0) - grads(row); }

    ROWAN_KERNEL void operator()(sum_t<T> const& g, std::size_t row, std::size_t column) const {
        using S = sum_t<T>;
        std::size_t const at = row * classes + column;
        S const share = label[at];
        store(is_zero(share) ? constant<S>(0.0) : S(quotient(product(share, g), load<S>(x + at))), to + at);
    }
};

/// Losses of n rows of probabilities, and their gradients, for labels that are numbers or probabilities.
struct of_probabilities {
    template <class T, id_type I, class D>
    static void losses(D const& exec, LabelledRows<T, I, D> const& r, sum_t<T>* to) {
        using S = sum_t<T>;
        double const* const kept = r.labels.kept();
        std::size_t const n = r.c.n;
        ElementLoops<D>::each(exec, n, 1, ProbabilityOfLabel<T, I>{r.data(), r.labels.data(), kept, to, r.c.classes});
        S const* const p = to;
        kept == nullptr ? ElementLoops<D>::template zip<S>(exec, n, negative_logarithm{}, to, p)
                        : ElementLoops<D>::template zip<S>(exec, n, negative_logarithm{}, to, p, kept);
    }
    template <class T, class D>
    static void losses(D const& exec, LabelledRows<T, T, D> const& r, sum_t<T>* to) {
        MatrixRows<D>::soft_probability_losses(exec, r.c.n, r.c.classes, r.data(), r.labels.data(), to);
    }

    template <class T, id_type I, class D>
    static void gradient(D const& exec, std::size_t n, std::size_t classes, T const* x, I const* label,
                         LossGrads<T> const& grads, T* to) {
        ElementLoops<D>::zero_rows(exec, n, classes, to, LabelLossGrad<T, I>{x, label, grads, to, classes});
    }
    template <class T, class D>
    static void gradient(D const& exec, std::size_t n, std::size_t classes, T const* x, sum_t<T> const* label,
                         LossGrads<T> const& grads, T* to) {
        ElementLoops<D>::each_element(exec, n, classes, SoftLabelGrad<T>{x, label, grads, to, classes});
    }
};

}  // namespace detail

template <>
struct detail::function_of<cross_entropy_of_probabilities_op> {
    template <class T, detail::label_of<T> L, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<L, D> const& label,
                            CrossEntropyOptions const& options) {
        LabelledRows<T, L, D> const r(exec, "x", x, label, options);
        auto losses = ElementLoops<D>::template scratch<sum_t<T>>(exec, r.c.n);
        of_probabilities::losses(exec, r, losses.data());
        return r.reduced(exec, options.reduction, losses);
    }
};

template <>
struct detail::function_of<detail::backward_of<cross_entropy_of_probabilities_op>> {
    template <class T, detail::label_of<T> L, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<L, D> const& label,
                            Tensor<T, D> const& out_grad, CrossEntropyOptions const& options) {
        return label_gradient<of_probabilities>(exec, "x", x, label, out_grad, options);
    }
};

/// See cross_entropy_of_probabilities. Labels are class indices without the axis of the classes, or probabilities of the shape of x.
struct cross_entropy_of_probabilities_op : detail::declared<cross_entropy_of_probabilities_op> {
    using grad = gradient<cross_entropy_of_probabilities_op, uses<slot::x, slot::target, grad_of<slot::out>>,
                          makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& label, attributes const& a) {
        constexpr detail::LabelFields names{"cross_entropy_of_probabilities: x",
                                            "cross_entropy_of_probabilities: label",
                                            "cross_entropy_of_probabilities: ignore_index"};
        return spec::with_dims(x, detail::label_dims(names, x, label, a).losses);
    }

    template <class T, detail::label_of<T> L, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<L, D> const& label, attributes const& a) {
        return cross_entropy_of_probabilities(exec, x, label, a);
    }

    template <class T, detail::label_of<T> L, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& x, Tensor<L, D> const& label, Tensor<T, D> const& out_grad,
                                 attributes const& a) {
        return cross_entropy_of_probabilities_grad(exec, x, label, out_grad, a);
    }
};

}  // namespace rowan::inline v0
