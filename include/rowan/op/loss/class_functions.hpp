// rowan/op/loss/class_functions.hpp: losses of classes and of sequences of labels.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/loss/declared.hpp>

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

class HuffmanTree;

namespace detail {

/// An element type of labels: that of class numbers, or that of probabilities, which is T.
template <class L, class T>
concept label_of = id_type<L> || std::same_as<L, T>;

/// hierarchical_softmax and its gradient, beside negative_sampling.
struct tree_loss;
template <>
struct operator_named<tree_loss> {
    using type = negative_sampling_op;
};

}  // namespace detail

/// log(Σ exp(x - max)) - (x[i, label[i]] - max) for every row i, or the mean or sum of these, and the softmax, which
/// the gradient needs. The axis of the classes, rows to ignore, weights and the mean are those of
/// cross_entropy_of_probabilities; an ignored row has a gradient of 0, whatever its elements are. Labels that are
/// probabilities make it Σ label · (log(Σ exp(x - max)) - (x - max)); a term is 0 where its label is 0. Computed in
/// dtype<T>::sum; user-defined types need `exp` and `log` that ADL finds. The loss is finite if the differences of the
/// elements of a row are. Row sums are formed in 16 interleaved partial sums, sums of losses as in
/// cross_entropy_of_probabilities. Goodfellow et al.: Deep Learning, 2016, sections 4.1 and 6.2.2.
///     auto [loss, saved] = cross_entropy(x, label, {.ignore_index = -100, .weights = {1, 1, 4}});
/// shapes   x [...] with classes along the axis, such as [n, classes]; label of int32 or int64 [...] without that axis,
///          or the same as x -> the loss [1], or [...] without the axis without reduction, and the softmax, like x
/// errors   as cross_entropy_of_probabilities
/// cost     as softmax along the axis; of probabilities one more read of x and of label
template <class T, detail::label_of<T> L, device D>
std::tuple<Tensor<T, D>, Tensor<T, D>> cross_entropy(D const& exec, Tensor<T, D> const& x, Tensor<L, D> const& label,
                                                     CrossEntropyOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cross_entropy: x must have a floating-point type: convert it");
    return detail::run_of<cross_entropy_op, std::tuple<Tensor<T, D>, Tensor<T, D>>>(exec, x, label, options);
}
template <class T, class L, class Device>
std::tuple<Tensor<T, Device>, Tensor<T, Device>> cross_entropy(Tensor<T, Device> const& x,
                                                               Tensor<L, Device> const& label,
                                                               CrossEntropyOptions const& options = {}) {
    return cross_entropy(x.device(), x, label, options);
}

/// The gradient of x from the softmax: (softmax - 1) · out_grad at the label, softmax · out_grad elsewhere, times the
/// weight, and 0 in rows that are ignored; or (softmax · Σ label - label) · out_grad, where the labels are multiplied by
/// the weights. Divided as the mean is. The labels have no gradient, as in Paddle.
/// shapes   softmax and label as in cross_entropy, out_grad like the loss -> that of softmax
/// errors   as cross_entropy_of_probabilities; ShapeError if out_grad has another shape
/// cost     one read of the softmax, two of labels that are probabilities, and one write of the result; transposes if the
///          axis is not the last one
template <class T, detail::label_of<T> L, device D>
Tensor<T, D> cross_entropy_grad(D const& exec, Tensor<T, D> const& softmax, Tensor<L, D> const& label,
                                Tensor<T, D> const& out_grad, CrossEntropyOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cross_entropy_grad: softmax must have a floating-point type");
    return detail::run_of<detail::backward_of<cross_entropy_op>, Tensor<T, D>>(exec, softmax, label, out_grad, options);
}
template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_grad(Tensor<T, Device> const& softmax, Tensor<L, Device> const& label,
                                     Tensor<T, Device> const& out_grad, CrossEntropyOptions const& options = {}) {
    return cross_entropy_grad(softmax.device(), softmax, label, out_grad, options);
}

/// -log(x[i, label[i]]) for every row i, or the mean or sum of these, computed in dtype<T>::sum; user-defined types
/// need a `log` that ADL finds. The classes are along options.axis, by default the last one; a row is the elements along it. Rows whose
/// label is options.ignore_index, which may be any number, have a loss and a gradient of 0. With options.weights, a
/// row's loss is multiplied by the weight of its label. The mean divides by the number of rows that count, or by the sum
/// of their weights, as in PyTorch, except that the mean is 0 if this is 0. Sums are formed in blocks of 4096 elements,
/// each in 16 interleaved partial sums, and the block sums are added in the same way. A probability of 0 has an infinite
/// loss; cross_entropy avoids this. Goodfellow et al.: Deep
/// Learning, 2016, section 6.2.2.
/// Labels that are probabilities make it -Σ label · log(x) for every row; a term is 0 where its label is 0. With weights,
/// each term is then multiplied by that of its class, and the mean divides by the number of rows, as in PyTorch.
/// shapes   x [...] of probabilities with classes along the axis, such as [n, classes]; label of int32 or int64 [...]
///          without that axis, or the same as x -> [1], or [...] without the axis without reduction
/// errors   ShapeError if x has a rank below 2, label has another shape, or there is not one weight for each class;
///          IndexError if the axis is not in [-rank, rank), a label is not in [0, classes) and not ignore_index, or there
///          are rows, but no classes; ValueError if there are probabilities and an ignore_index
/// cost     O(n), or one read of both; x is transposed if the axis is not the last one; the same bits for any number of
///          threads
template <class T, detail::label_of<T> L, device D>
Tensor<T, D> cross_entropy_of_probabilities(D const& exec, Tensor<T, D> const& x, Tensor<L, D> const& label,
                                            CrossEntropyOptions const& options = {}) {
    static_assert(floating_element<T>,
                  "rowan::cross_entropy_of_probabilities: x must have a floating-point type: convert it");
    return detail::run_of<cross_entropy_of_probabilities_op, Tensor<T, D>>(exec, x, label, options);
}
template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_of_probabilities(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                                 CrossEntropyOptions const& options = {}) {
    return cross_entropy_of_probabilities(x.device(), x, label, options);
}

/// The gradient of x: -out_grad / x at the label and 0 elsewhere, or -out_grad · label / x, 0 where the label is 0; times
/// the weights; divided as the mean is. The labels have no gradient.
/// shapes   x and label as in cross_entropy_of_probabilities, out_grad like its result -> that of x
/// errors   as cross_entropy_of_probabilities; ShapeError if out_grad has another shape
/// cost     one write of the result; transposes as in cross_entropy_of_probabilities
template <class T, detail::label_of<T> L, device D>
Tensor<T, D> cross_entropy_of_probabilities_grad(D const& exec, Tensor<T, D> const& x, Tensor<L, D> const& label,
                                                 Tensor<T, D> const& out_grad,
                                                 CrossEntropyOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::cross_entropy_of_probabilities_grad: x must have a floating-point type");
    return detail::run_of<detail::backward_of<cross_entropy_of_probabilities_op>, Tensor<T, D>>(exec, x, label,
                                                                                                out_grad, options);
}
template <class T, class L, class Device>
Tensor<T, Device> cross_entropy_of_probabilities_grad(Tensor<T, Device> const& x, Tensor<L, Device> const& label,
                                                      Tensor<T, Device> const& out_grad,
                                                      CrossEntropyOptions const& options = {}) {
    return cross_entropy_of_probabilities_grad(x.device(), x, label, out_grad, options);
}

/// The fraction of the rows of x whose argmax, or one of whose k largest elements, is at the label; ties go to the first
/// of equal elements. 0 if x has no rows. A row that contains a NaN counts as wrong.
/// shapes   x [n, classes], label [n] of int32 or int64 -> [1]
/// errors   ShapeError if x is not a matrix or label is not of shape [n]; IndexError if a label is not in [0, classes);
///          ValueError if k < 1
/// cost     at most one read of x
template <class T, id_type I, device D>
Tensor<double, D> accuracy(D const& exec, Tensor<T, D> const& x, Tensor<I, D> const& label, std::int64_t k = 1) {
    return detail::run_of<accuracy_op, Tensor<double, D>>(exec, x, label, k);
}
template <class T, class I, class Device>
Tensor<double, Device> accuracy(Tensor<T, Device> const& x, Tensor<I, Device> const& label, std::int64_t k = 1) {
    return accuracy(x.device(), x, label, k);
}

/// The negative log-likelihood of the labels of each sequence of the last level, in a conditional random field: log of
/// the sum of exp(score) over all paths of tags, less the score of the labels, and 0 for an empty sequence. The score of
/// a path is the sum of its emissions, of transition[0, first tag], transition[1, last tag], and of transition[2 + from,
/// to] for adjacent tags. This is Paddle's linear_chain_crf, a cost to minimise, which Paddle calls LogLikelihood.
/// Computed in dtype<T>::sum from logarithms, relative to the largest score of each row. A transition may be -infinity,
/// an emission may not; without any path, the result is NaN. Lafferty et al. 2001.
/// shapes   emission [rows, tags] with levels, transition [tags + 2, tags], label [rows] or [rows, 1] -> [sequences, 1],
///          with the levels of emission above the last one
/// errors   ShapeError if the shapes do not fit or there are no tags or levels; IndexError if a label is not in
///          [0, tags)
/// cost     O(rows · tags²) and temporary memory for rows · tags numbers; the same bits for any number of threads and on
///          devices
template <class T, id_type I, device D>
LoDTensor<T, D> linear_chain_crf(D const& exec, LoDTensor<T, D> const& emission, Tensor<T, D> const& transition,
                                 Tensor<I, D> const& label) {
    return detail::run_of<linear_chain_crf_op, LoDTensor<T, D>>(exec, emission, transition, label);
}
template <class T, class I, class Device>
LoDTensor<T, Device> linear_chain_crf(LoDTensor<T, Device> const& emission, Tensor<T, Device> const& transition,
                                      Tensor<I, Device> const& label) {
    return linear_chain_crf(emission.device(), emission, transition, label);
}

/// The gradients of emission and transition: the expected number of times that each is in a path, less that in the path
/// of the labels, times out_grad. The gradient of transition is summed in 16 interleaved partial sums of sequences.
/// shapes   emission [rows, tags] with levels, transition [tags + 2, tags], label [rows] or [rows, 1], out_grad
///          [sequences, 1] -> [rows, tags] and [tags + 2, tags]
/// errors   as linear_chain_crf; ShapeError if out_grad has another shape
/// cost     O(rows · tags²) and temporary memory for 2 · rows · tags + 16 · tags² numbers; the same bits for any number
///          of threads and on devices
template <class T, id_type I, device D>
std::tuple<LoDTensor<T, D>, Tensor<T, D>> linear_chain_crf_grad(D const& exec, LoDTensor<T, D> const& emission,
                                                                Tensor<T, D> const& transition,
                                                                Tensor<I, D> const& label,
                                                                Tensor<T, D> const& out_grad) {
    return detail::run_of<detail::backward_of<linear_chain_crf_op>, std::tuple<LoDTensor<T, D>, Tensor<T, D>>>(
        exec, emission, transition, label, out_grad);
}
template <class T, class I, class Device>
std::tuple<LoDTensor<T, Device>, Tensor<T, Device>> linear_chain_crf_grad(LoDTensor<T, Device> const& emission,
                                                                          Tensor<T, Device> const& transition,
                                                                          Tensor<I, Device> const& label,
                                                                          Tensor<T, Device> const& out_grad) {
    return linear_chain_crf_grad(emission.device(), emission, transition, label, out_grad);
}

/// The tags of the path with the largest score for each sequence of the last level, as linear_chain_crf computes scores:
/// the Viterbi algorithm. Of equal scores, the first tag is taken, from the end of the sequence. If the emissions of a
/// sequence, or the transitions, have a NaN, no path is the best one: all its tags are -1. Computed in dtype<T>::sum.
/// shapes   emission [rows, tags] with levels, transition [tags + 2, tags] -> [rows, 1], with the levels of emission
/// errors   ShapeError if the shapes do not fit or there are no tags or levels
/// cost     O(rows · tags²) and temporary memory for rows · tags numbers; the same bits for any number of threads and on
///          devices
template <class T, device D>
LoDTensor<std::int64_t, D> crf_decoding(D const& exec, LoDTensor<T, D> const& emission,
                                        Tensor<T, D> const& transition) {
    return detail::run_of<crf_decoding_op, LoDTensor<std::int64_t, D>>(exec, emission, transition);
}

/// 1 where the best path has the label, else 0, also if there is no best path because of a NaN.
/// shapes   emission [rows, tags] with levels, transition [tags + 2, tags], label [rows] or [rows, 1] -> [rows, 1], with
///          the levels of emission
/// errors   as linear_chain_crf
/// cost     as crf_decoding
template <class T, id_type I, device D>
LoDTensor<std::int64_t, D> crf_decoding(D const& exec, LoDTensor<T, D> const& emission, Tensor<T, D> const& transition,
                                        Tensor<I, D> const& label) {
    return detail::run_of<crf_decoding_op, LoDTensor<std::int64_t, D>>(exec, emission, transition, label);
}
template <class T, class Device, class... Label>
LoDTensor<std::int64_t, Device> crf_decoding(LoDTensor<T, Device> const& emission, Tensor<T, Device> const& transition,
                                             Label const&... label) {
    return crf_decoding(emission.device(), emission, transition, label...);
}

/// Noise-contrastive estimation: whether a class is a label of the row or was sampled, for each label and each sample by
/// itself. With the score s = x · w[c] + b[c] and the expected count q of c, for NceModel::exponential the sum over the
/// labels of -log(σ(s - log q)) / labels - (1 - 1 / labels) · log(1 - σ(s - log q)), and over the samples of
/// -log(1 - σ(s - log q)), where σ(x) = 1 / (1 + exp(-x)), as TensorFlow's nce_loss; for NceModel::sigmoid over the labels
/// of -log(σ(s) / (σ(s) + q)) / labels, and over the samples of -log(q / (σ(s) + q)), as Paddle's nce, whose q is the
/// probability of the class times the number of samples. Gutmann, Hyvärinen: Noise-contrastive estimation, 2010.
/// shapes   x [n, width], w [classes, width], b [classes], label [n] or [n, labels], ids [samples] for all rows or
///          [n, samples], label_count like label, sampled_count like ids -> [1], or [n] without reduction, and the slopes
///          [n, labels + samples]
/// requires counts above 0
/// errors   ShapeError if the shapes do not match; IndexError if a label or an id is not in [0, classes)
/// cost     as sampled_softmax
template <class T, id_type I, id_type J>
std::tuple<Tensor<T>, Tensor<T>> nce(Cpu const& exec, Tensor<T> const& x, Tensor<T> const& w, Tensor<T> const& b,
                                     Tensor<I> const& label, Tensor<J> const& ids, Tensor<T> const& label_count,
                                     Tensor<T> const& sampled_count, NceOptions const& options = {}) {
    return detail::run_of<nce_op, std::tuple<Tensor<T>, Tensor<T>>>(exec, x, w, b, label, ids, label_count,
                                                                    sampled_count, options);
}

/// The gradients of x, and of w and b with a row for each label and then for each id.
/// shapes   saved the slopes, out_grad like the loss, the others as in nce -> that of x, and SelectedRows of the shapes of
///          w and b
/// errors   as nce; ShapeError if saved or out_grad has another shape
/// cost     as sampled_softmax_grad
template <class T, id_type I, id_type J>
std::tuple<Tensor<T>, SelectedRows<T>, SelectedRows<T>> nce_grad(Cpu const& exec, Tensor<T> const& x,
                                                                 Tensor<T> const& w, Tensor<T> const& b,
                                                                 Tensor<I> const& label, Tensor<J> const& ids,
                                                                 Tensor<T> const& saved, Tensor<T> const& out_grad,
                                                                 NceOptions const& options = {}) {
    return detail::run_of<detail::backward_of<nce_op>, std::tuple<Tensor<T>, SelectedRows<T>, SelectedRows<T>>>(
        exec, x, w, b, label, ids, saved, out_grad, options);
}

/// For each row x[r], of the scores s[k] = x[r] · w[ids[i][k]]: log(1 + exp(-s[0])) + Σ log(1 + exp(s[k])) for k > 0, or
/// the mean or sum of these. Row i of ids has the class of row i of x first, then its negatives; those that are the class
/// are left out. If x has levels, row i of ids is of all rows of sequence i, the classes of which share their negatives.
/// Mikolov et al.: Distributed Representations of Words and Phrases and their Compositionality, 2013, equation 4.
///     auto [loss, saved] = negative_sampling(x, w, ids);      // x {{0, 2, 3}}: two rows meet ids(0, …), one ids(1, …)
/// The second result are the slopes of the terms, s by s, which the gradients need. Scores are summed in 16 interleaved
/// partial sums, and computed in dtype<T>::sum.
/// shapes   x [n, width], w [classes, width], ids [n, 1 + k], or with levels [sequences, 1 + k] -> [1], or [n] without
///          reduction, and [n · (1 + k)]
/// errors   ShapeError if the shapes do not match; IndexError if an id is not in [0, classes)
/// cost     one read of x, of a row of w for each id, and n · (1 + k) · width products; the same bits for any number of
///          threads, which share out the rows of ids
template <class T, id_type I>
std::tuple<Tensor<T>, Tensor<T>> negative_sampling(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                   Tensor<I> const& ids, LossOptions const& options = {}) {
    return detail::run_of<negative_sampling_op, std::tuple<Tensor<T>, Tensor<T>>>(exec, x, w, ids, options);
}
template <class T, class I>
std::tuple<Tensor<T>, Tensor<T>> negative_sampling(LoDTensor<T> const& x, Tensor<T> const& w, Tensor<I> const& ids,
                                                   LossOptions const& options = {}) {
    return negative_sampling(Cpu{}, x, w, ids, options);
}

/// The gradients of x, and of w with a row for each id.
/// shapes   x, w, ids and saved as in negative_sampling, out_grad like the loss -> that of x, and a SelectedRows of the
///          shape of w
/// errors   as negative_sampling; ShapeError if saved or out_grad has another shape
/// cost     one read of x and of a row of w for each id, one write of as many, and 2 · n · (1 + k) · width products
template <class T, id_type I>
std::tuple<Tensor<T>, SelectedRows<T>> negative_sampling_grad(Cpu const& exec, LoDTensor<T> const& x,
                                                              Tensor<T> const& w, Tensor<I> const& ids,
                                                              Tensor<T> const& saved, Tensor<T> const& out_grad,
                                                              LossOptions const& options = {}) {
    return detail::run_of<detail::backward_of<negative_sampling_op>, std::tuple<Tensor<T>, SelectedRows<T>>>(
        exec, x, w, ids, saved, out_grad, options);
}

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
    return detail::run_of<sampled_softmax_op, std::tuple<Tensor<T>, Tensor<T>>>(exec, x, w, b, label, ids, label_count,
                                                                                sampled_count, options);
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
    return detail::run_of<detail::backward_of<sampled_softmax_op>,
                          std::tuple<Tensor<T>, SelectedRows<T>, SelectedRows<T>>>(exec, x, w, b, label, ids, saved,
                                                                                   out_grad, options);
}

/// For each row x[r], -log of the probability of its label in a tree: Σ log(1 + exp(±x[r] · w[node])) over the nodes on the
/// path to the label, with - where the path goes on to the first child, or the mean or sum of these. If x has levels, label
/// i is that of all rows of sequence i. Morin, Bengio: Hierarchical Probabilistic Neural Network Language Model, 2005.
/// The second result are the slopes of the terms, which the gradients need.
/// shapes   x [n, width], w [tree.nodes(), width], label [n], or with levels [sequences] -> [1], or [n] without reduction,
///          and [number of terms]
/// errors   ShapeError if the shapes do not match; IndexError if a label is not in [0, tree.classes())
/// cost     as negative_sampling, with as many ids as there are nodes on the path: about log2 of the classes
template <class T>
std::tuple<Tensor<T>, Tensor<T>> hierarchical_softmax(Cpu const& exec, LoDTensor<T> const& x, Tensor<T> const& w,
                                                      HuffmanTree const& tree, std::type_identity_t<Ids<>> label,
                                                      LossOptions const& options = {}) {
    return detail::run_of<detail::tree_loss, std::tuple<Tensor<T>, Tensor<T>>>(exec, x, w, tree, label, options);
}

/// The gradients of x, and of w with a row for each node of the path of each label.
/// shapes   x, w, label and saved as in hierarchical_softmax, out_grad like the loss -> that of x, and a SelectedRows of
///          the shape of w
/// errors   as hierarchical_softmax; ShapeError if saved or out_grad has another shape
/// cost     as negative_sampling_grad
template <class T>
std::tuple<Tensor<T>, SelectedRows<T>> hierarchical_softmax_grad(Cpu const& exec, LoDTensor<T> const& x,
                                                                 Tensor<T> const& w, HuffmanTree const& tree,
                                                                 std::type_identity_t<Ids<>> label,
                                                                 Tensor<T> const& saved, Tensor<T> const& out_grad,
                                                                 LossOptions const& options = {}) {
    return detail::run_of<detail::tree_loss, std::tuple<Tensor<T>, SelectedRows<T>>>(exec, x, w, tree, label, saved,
                                                                                     out_grad, options);
}

}  // namespace rowan::inline v0
