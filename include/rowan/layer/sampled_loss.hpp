// rowan/layer/sampled_loss.hpp: layer::sample_classes, sampled_softmax, nce and negative_sampling: losses of few of many classes.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/operator_layer.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/op/loss/declared.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// Classes that a loss compares labels with, and how often the labels and these are expected to be drawn: those of
/// sample_classes, or of layer::data of your own.
template <class T>
struct Sampled {
    Var<std::int64_t> ids;  ///< [samples], or for nce and sampled_softmax [n, samples]
    Var<T> label_count;     ///< of the shape of the labels
    Var<T> count;           ///< of the shape of ids
};

/// Draws classes, which are the rows of w, anew for each step of training. They depend only on train's seed, the number of
/// the batch and the layer's position in the net.
///     auto const sampled = layer::sample_classes(w, label, {.samples = 512});
/// shapes   w [classes, ...], label of any shape -> see Sampled
/// errors   ValueError if samples is not positive, or above the number of classes that are to be different; when the net runs, IndexError if a label is
///          not in [0, classes)
/// cost     one operator in the net; when the net runs, as rowan::sample_classes
template <class T, id_type I>
Sampled<T> sample_classes(Var<T> const& w, Var<I> const& label, SampleOptions const& options) {
    rowan::detail::LayerRollback added;
    Var<std::int64_t> const seed(new_seed<Cpu>());
    auto const& made =
        default_scope().new_op<sample_classes_op, Cpu, T, I, std::int64_t>({&*w, &*label, &*seed}, options);
    added.keep();
    return {Var<std::int64_t>(*made.outputs[0]), Var<T>(*made.outputs[1]), Var<T>(*made.outputs[2])};
}

/// As rowan::sampled_softmax, a loss of training alone: for tests, layer::cross_entropy of the scores of all classes. The
/// gradients of w and b are row-sparse.
///     auto const w = layer::parameter({classes, 64}, layer::Uniform{-0.1, 0.1}), b = layer::parameter({classes}, layer::Constant{0});
///     auto const cost = layer::sampled_softmax(h, w, b, label, layer::sample_classes(w, label, {.samples = 512}));
/// shapes   x [n, width], w [classes, width], b [classes], label [n] or [n, labels] -> [1], or [n] without reduction
/// errors   ShapeError if the shapes do not match; when the net runs, as rowan::sampled_softmax
/// cost     one operator in the net; when the net runs, as rowan::sampled_softmax
template <class T, id_type I>
Var<T> sampled_softmax(Var<T> const& x, Var<T> const& w, Var<T> const& b, Var<I> const& label,
                       Sampled<T> const& sampled, SampledSoftmaxOptions const& options = {}) {
    return apply<sampled_softmax_op>(options, x, w, b, label, sampled.ids, sampled.label_count, sampled.count);
}

/// As rowan::nce, otherwise as sampled_softmax.
/// shapes   as sampled_softmax
/// errors   as sampled_softmax
/// cost     as sampled_softmax
template <class T, id_type I>
Var<T> nce(Var<T> const& x, Var<T> const& w, Var<T> const& b, Var<I> const& label, Sampled<T> const& sampled,
           NceOptions const& options = {}) {
    return apply<nce_op>(options, x, w, b, label, sampled.ids, sampled.label_count, sampled.count);
}

/// As rowan::negative_sampling: layer::negative_sampling(x, w, ids). The gradient of w is row-sparse.
inline constexpr operator_layer<negative_sampling_op> negative_sampling{};

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/loss/nce.hpp>
#include <rowan/op/loss/negative_sampling.hpp>
#include <rowan/op/loss/sample_classes.hpp>
#include <rowan/op/loss/sampled_softmax.hpp>
#endif
