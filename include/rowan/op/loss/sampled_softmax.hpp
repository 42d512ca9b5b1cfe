// rowan/op/loss/sampled_softmax.hpp: sampled_softmax, the cross entropy of a few sampled classes instead of all.
#pragma once

#include <rowan/op/detail/sampled_scores.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/cross_entropy.hpp>
#include <rowan/op/loss/declared.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Writes 1 / labels to the columns of labels, 0 to others.
template <class T>
struct EvenLabels {
    std::size_t labels, columns;
    double share;
    T* to;
    ROWAN_KERNEL void operator()(std::size_t k) const {
        using S = sum_t<T>;
        store(k % columns < labels ? constant<S>(share) : constant<S>(0.0), to + k);
    }
};

/// Calls f(label) with the labels of scores: column 0, or the same share of the first columns.
template <class T, class F>
auto with_score_labels(Cpu const& exec, SampledSizes const& of, F const& f) {
    if (of.labels == 1) return f(Tensor<std::int64_t>::zeros({of.n}));
    auto label = Tensor<T>::from_shape({of.n, of.columns()});
    ElementLoops<Cpu>::each(exec, label.size(), 1,
                            EvenLabels<T>{of.labels, of.columns(), 1.0 / static_cast<double>(of.labels), label.data()});
    return f(label);
}

}  // namespace detail

template <>
struct detail::function_of<sampled_softmax_op> {
    template <class T, id_type I, id_type J>
    static std::tuple<Tensor<T>, Tensor<T>> run(Cpu const& exec, Tensor<T> const& x, Tensor<T> const& w,
                                                Tensor<T> const& b, Tensor<I> const& label, Tensor<J> const& ids,
                                                Tensor<T> const& label_count, Tensor<T> const& sampled_count,
                                                SampledSoftmaxOptions const& options) {
        SampledScores<T> const sampled(exec, x, w, b, ids_of_64_bits(label), ids_of_64_bits(ids));
        auto const scores =
            sampled.scores(label_count, sampled_count, {options.subtract_log_counts, options.remove_hits});
        return with_score_labels<T>(exec, sampled.of, [&](auto const& of_scores) {
            return cross_entropy(exec, scores, of_scores, {.reduction = options.reduction});
        });
    }
};

template <>
struct detail::function_of<detail::backward_of<sampled_softmax_op>> {
    template <class T, id_type I, id_type J>
    static std::tuple<Tensor<T>, SelectedRows<T>, SelectedRows<T>> run(
        Cpu const& exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b, Tensor<I> const& label,
        Tensor<J> const& ids, Tensor<T> const& saved, Tensor<T> const& out_grad, SampledSoftmaxOptions const& options) {
        SampledScores<T> const sampled(exec, x, w, b, ids_of_64_bits(label), ids_of_64_bits(ids));
        sampled.check_saved(saved);
        return sampled.gradients(with_score_labels<T>(exec, sampled.of, [&](auto const& of_scores) {
            return cross_entropy_grad(exec, saved, of_scores, out_grad, {.reduction = options.reduction});
        }));
    }
};

/// See sampled_softmax.
struct sampled_softmax_op : detail::sampled_op<sampled_softmax_op> {
    template <class T, id_type I, id_type J>
    static std::tuple<Tensor<T>, Tensor<T>> run(Cpu exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b,
                                                Tensor<I> const& label, Tensor<J> const& ids,
                                                Tensor<T> const& label_count, Tensor<T> const& sampled_count,
                                                SampledSoftmaxOptions const& a) {
        return sampled_softmax(exec, x, w, b, label, ids, label_count, sampled_count, a);
    }

    template <class T, id_type I, id_type J>
    static auto backward(Cpu exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b, Tensor<I> const& label,
                         Tensor<J> const& ids, Tensor<T> const& saved, Tensor<T> const& out_grad,
                         SampledSoftmaxOptions const& a) {
        return sampled_softmax_grad(exec, x, w, b, label, ids, saved, out_grad, a);
    }
};

}  // namespace rowan::inline v0
