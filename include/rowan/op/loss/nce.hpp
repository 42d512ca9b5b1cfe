// rowan/op/loss/nce.hpp: nce, noise-contrastive estimation: labels against sampled classes, one by one.
#pragma once

#include <rowan/op/detail/loss_formulas.hpp>
#include <rowan/op/detail/sampled_scores.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/declared.hpp>

namespace rowan::inline v0 {

namespace detail {

/// The terms of a row of scores, their sum, and their slopes by the scores.
template <class T>
struct NceTerms {
    SampledSizes of;
    NceModel model;
    T const *scores, *label_count, *count;
    sum_t<T>* losses;
    T* slopes;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        using S = sum_t<T>;
        using logistic_loss = binary_cross_entropy_with_logits_formula;
        S const one = constant<S>(1.0), zero = constant<S>(0.0);
        std::size_t const columns = of.labels + of.samples;
        S loss = zero;
        for (std::size_t c = 0; c < columns; ++c) {
            // that of a class that is left out is almost -infinity, which times 0 is no number
            S const s = limited(load<S>(scores + i * columns + c), -3e38, 3e38);
            bool const labelled = c < of.labels;
            // the labels share the probability
            S const y = labelled ? constant<S>(1.0 / static_cast<double>(of.labels)) : zero;
            if (model == NceModel::exponential) {
                loss = plus(loss, logistic_loss::value(s, y, BinaryCrossEntropyOptions{}));
                store(logistic_loss::slope(s, y, BinaryCrossEntropyOptions{}), slopes + i * columns + c);
                continue;
            }
            std::size_t const j = c - of.labels;
            S const b = labelled ? load<S>(label_count + i * of.labels + c)
                                 : load<S>(count + (of.each ? i * of.samples + j : j));
            S const o = logistic(s), rest = logistic(S(zero - s)), both = plus(o, b);
            // -log(o / (o + b)) = log(1 + b · (1 + exp(-s))) and -log(b / (o + b)), with the slope do/ds = o · (1 - o)
            S const t = exponential_of_any(S(zero - size_of(s))), more = plus(one, b);
            S const positive = s < zero ? S(logarithm(plus(product(t, more), b)) - s)
                                        : S(logarithm_of_one_plus(product(b, plus(one, t))));
            S const term = labelled ? positive : logarithm_of_one_plus(quotient(o, b));
            S const slope = product(labelled ? S(zero - quotient(b, both)) : quotient(o, both), rest);
            loss = plus(loss, labelled ? product(y, term) : term);
            store(labelled ? product(y, slope) : slope, slopes + i * columns + c);
        }
        losses[i] = loss;
    }
};

/// grad[k] = the gradient of the loss of the row times slope k
template <class T>
struct NceGrad {
    std::size_t columns;
    LossGrads<T> grads;
    T const* slopes;
    T* to;
    ROWAN_KERNEL void operator()(std::size_t k) const {
        store(product(grads(k / columns), load<sum_t<T>>(slopes + k)), to + k);
    }
};

}  // namespace detail

template <>
struct detail::function_of<nce_op> {
    template <class T, id_type I, id_type J>
    static std::tuple<Tensor<T>, Tensor<T>> run(Cpu const& exec, Tensor<T> const& x, Tensor<T> const& w,
                                                Tensor<T> const& b, Tensor<I> const& label, Tensor<J> const& ids,
                                                Tensor<T> const& label_count, Tensor<T> const& sampled_count,
                                                NceOptions const& options) {
        SampledScores<T> const sampled(exec, x, w, b, ids_of_64_bits(label), ids_of_64_bits(ids));
        bool const logs = options.subtract_log_counts && options.model == NceModel::exponential;
        auto const scores = sampled.scores(label_count, sampled_count, {logs, options.remove_hits});
        auto losses = ElementLoops<Cpu>::template scratch<sum_t<T>>(exec, sampled.of.n);
        auto slopes = Tensor<T>::from_shape(scores.shape());
        NceTerms<T> const terms{sampled.of,           options.model, scores.data(), label_count.data(),
                                sampled_count.data(), losses.data(), slopes.data()};
        ElementLoops<Cpu>::each(exec, sampled.of.n, 16 * sampled.of.columns(), terms);
        return {reduce<T>(exec, options.reduction, losses), std::move(slopes)};
    }
};

template <>
struct detail::function_of<detail::backward_of<nce_op>> {
    template <class T, id_type I, id_type J>
    static std::tuple<Tensor<T>, SelectedRows<T>, SelectedRows<T>> run(
        Cpu const& exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b, Tensor<I> const& label,
        Tensor<J> const& ids, Tensor<T> const& saved, Tensor<T> const& out_grad, NceOptions const& options) {
        SampledScores<T> const sampled(exec, x, w, b, ids_of_64_bits(label), ids_of_64_bits(ids));
        sampled.check_saved(saved);
        check_reduced("out_grad", out_grad, options.reduction, sampled.of.n);
        ElementLoops<Cpu>::check(exec, saved, out_grad);
        auto grad = Tensor<T>::from_shape(saved.shape());
        LossGrads<T> const grads{out_grad.data(), options.reduction, sampled.of.n};
        ElementLoops<Cpu>::each(exec, grad.size(), 1,
                                NceGrad<T>{sampled.of.columns(), grads, saved.data(), grad.data()});
        return sampled.gradients(grad);
    }
};

/// See nce.
struct nce_op : detail::sampled_op<nce_op> {
    template <class T, id_type I, id_type J>
    static std::tuple<Tensor<T>, Tensor<T>> run(Cpu exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b,
                                                Tensor<I> const& label, Tensor<J> const& ids,
                                                Tensor<T> const& label_count, Tensor<T> const& sampled_count,
                                                NceOptions const& a) {
        return nce(exec, x, w, b, label, ids, label_count, sampled_count, a);
    }

    template <class T, id_type I, id_type J>
    static auto backward(Cpu exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b, Tensor<I> const& label,
                         Tensor<J> const& ids, Tensor<T> const& saved, Tensor<T> const& out_grad, NceOptions const& a) {
        return nce_grad(exec, x, w, b, label, ids, saved, out_grad, a);
    }
};

}  // namespace rowan::inline v0
