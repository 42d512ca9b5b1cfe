// rowan/op/loss/sampled_softmax.hpp: sampled_softmax, the cross entropy of a few sampled classes instead of all.
#pragma once

#include <rowan/op/detail/sampled_scores.hpp>
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

/// cross_entropy over the labels of a row and a few sampled classes, an estimate of that over all classes which costs as
/// many scores as there are samples: scores x · w[c] + b[c] - log(expected count of c); a sampled class that is a label of
/// the row is left out. Several labels share the probability. As TensorFlow's sampled_softmax_loss. Jean et al.: On Using
/// Very Large Target Vocabulary for Neural Machine Translation, 2015.
///     auto const sampler = ClassSampler::log_uniform(w.shape(0));
///     auto const drawn = sample_classes(sampler, 512, step, true);
///     auto const [of_label, of_drawn] = expected_counts<float>(sampler, drawn, label);
///     auto [loss, saved] = sampled_softmax(x, w, b, label, drawn.ids, of_label, of_drawn);
/// Use it in training alone: the loss of a test is cross_entropy of all classes.
/// shapes   x [n, width], w [classes, width], b [classes], label [n] or [n, labels], ids [samples] for all rows or
///          [n, samples], label_count like label, sampled_count like ids -> [1], or [n] without reduction, and the softmax
///          [n, labels + samples]
/// requires counts above 0, if their logarithms are subtracted
/// errors   ShapeError if the shapes do not match; IndexError if a label or an id is not in [0, classes)
/// cost     a matrix product [n, width] · [width, samples], or for ids of each row as many dot products, and cross_entropy
///          of the scores; the rows of labels and samples are copied
template <class T, id_type I, id_type J>
std::tuple<Tensor<T>, Tensor<T>> sampled_softmax(Cpu const& exec, Tensor<T> const& x, Tensor<T> const& w,
                                                 Tensor<T> const& b, Tensor<I> const& label, Tensor<J> const& ids,
                                                 Tensor<T> const& label_count, Tensor<T> const& sampled_count,
                                                 SampledSoftmaxOptions const& options = {}) {
    detail::SampledScores<T, I, J> const sampled(exec, x, w, b, label, ids);
    auto const scores = sampled.scores(label_count, sampled_count, {options.subtract_log_counts, options.remove_hits});
    return detail::with_score_labels<T>(exec, sampled.of, [&](auto const& of_scores) {
        return cross_entropy(exec, scores, of_scores, {.reduction = options.reduction});
    });
}

/// The gradients of x, and of w and b with a row for each label and then for each id.
/// shapes   saved the softmax, out_grad like the loss, the others as in sampled_softmax -> that of x, and SelectedRows of
///          the shapes of w and b
/// errors   as sampled_softmax; ShapeError if saved or out_grad has another shape
/// cost     two matrix products of the size of that of sampled_softmax, and one row of w for each label and each id
template <class T, id_type I, id_type J>
std::tuple<Tensor<T>, SelectedRows<T>, SelectedRows<T>> sampled_softmax_grad(
    Cpu const& exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b, Tensor<I> const& label,
    Tensor<J> const& ids, Tensor<T> const& saved, Tensor<T> const& out_grad,
    SampledSoftmaxOptions const& options = {}) {
    detail::SampledScores<T, I, J> const sampled(exec, x, w, b, label, ids);
    sampled.check_saved(saved);
    return sampled.gradients(detail::with_score_labels<T>(exec, sampled.of, [&](auto const& of_scores) {
        return cross_entropy_grad(exec, saved, of_scores, out_grad, {.reduction = options.reduction});
    }));
}

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
