// rowan/layer/loss.hpp: losses that are more than their operator; the others are in operators.hpp.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/op/loss/declared.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace rowan::inline v0::detail {

template <id_type I, class Device>
void takes_label(layer::Var<I, Device> const&);
template <class V>
concept is_label = requires(V const& v) {
    takes_label(v);
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Options of losses whose labels may be probabilities.
struct SoftLabelOptions {
    bool soft_label = false;                ///< whether the labels are probabilities of the classes
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the rows
    std::optional<std::int64_t> axis = {};  ///< the axis of the classes; default the last one
    std::vector<double> weights = {};       ///< a factor of the terms for each class; empty: all are 1

    /// The attributes of the operator.
    /// errors   ValueError if soft_label is false
    /// cost     a copy of the weights
    CrossEntropyOptions attributes() const {
        if (!soft_label) throw ValueError("soft_label", 0, "true for labels that are not integers");
        return {.reduction = reduction, .axis = axis, .weights = weights};
    }
};

/// A loss of scores or probabilities x of classes, and of labels: numbers of classes, or with `.soft_label = true`
/// probabilities, which get no gradient.
///     auto cost = layer::cross_entropy(scores, label, {.ignore_index = -100, .weights = {1, 1, 4}});
/// shapes   x [...] with classes along the axis, label [...] without that axis, or of probabilities the same as x -> [1],
///          or [...] without the axis without reduction
/// errors   ShapeError if x has a rank below 2, label has another shape or there is not one weight for each class;
///          IndexError if the axis is not in [-rank, rank), and when the net runs, if a label is not in [0, classes)
///          and not ignore_index; ValueError if labels are probabilities and soft_label is false
/// cost     one operator in the net; when the net runs, that of the operator's `run`
template <class Op>
struct label_loss {
    template <class T, id_type I, class Device>
    Var<T, Device> operator()(Var<T, Device> const& x, Var<I, Device> const& label,
                              CrossEntropyOptions const& options = {}) const {
        return apply<Op>(options, x, label);
    }
    template <class T, class Device>
    requires(!id_type<T>) Var<T, Device>
    operator()(Var<T, Device> const& x, Var<T, Device> const& label, SoftLabelOptions const& options) const {
        return apply<Op>(options.attributes(), x, label);
    }
    // A mistake, which does not compile.
    template <class X, class Label>
    requires(!rowan::detail::is_label<Label>) void operator()(X const&, Label const&) const {
        rowan::detail::check_vars<X, Label>();
        static_assert(
            rowan::detail::no_var<Label>,
            "rowan::layer: labels are numbers of classes: declare them with layer::data<std::int64_t>(name, dims)");
    }
};

/// As rowan::cross_entropy_of_probabilities.
inline constexpr label_loss<cross_entropy_of_probabilities_op> cross_entropy_of_probabilities{};
inline constexpr label_loss<cross_entropy_op> cross_entropy{};  ///< As rowan::cross_entropy, of scores.

// The losses of pairs below also take a weight for each row, before the options, as the losses of losses.hpp do.

/// log(1 + exp(left - right)) - label · (left - right), RankNet's loss of pairs (Burges et al. 2005), as Paddle's
/// ranknet. The label is 1 if left is better, 0 if right is, or in between.
/// shapes   all [...] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     of sub and binary_cross_entropy_with_logits, when the net runs
template <class T, class Device>
Var<T, Device> ranknet(Var<T, Device> const& label, Var<T, Device> const& left, Var<T, Device> const& right,
                       LossOptions const& options = {}) {
    return layer::binary_cross_entropy_with_logits(layer::sub(left, right), label, options);
}
template <class T, class Device>
Var<T, Device> ranknet(Var<T, Device> const& label, Var<T, Device> const& left, Var<T, Device> const& right,
                       Var<T, Device> const& weights, LossOptions const& options = {}) {
    return layer::binary_cross_entropy_with_logits(layer::sub(left, right), label, weights, options);
}

/// max(margin - label · (left - right), 0), as Paddle's margin_rank_loss and PyTorch's margin_ranking_loss. The label is
/// 1 if left is to be the greater one, else -1.
/// shapes   all [...] -> [1], or [...] without reduction
/// errors   ValueError if margin is not finite; ShapeError if the shapes differ
/// cost     of sub and rowan::margin_ranking, when the net runs
template <class T, class Device>
Var<T, Device> margin_ranking(Var<T, Device> const& label, Var<T, Device> const& left, Var<T, Device> const& right,
                              MarginOptions const& options = {}) {
    rowan::detail::LayerRollback added;
    auto const cost = apply<margin_ranking_op>(options, layer::sub(left, right), label);
    added.keep();
    return cost;
}
template <class T, class Device>
Var<T, Device> margin_ranking(Var<T, Device> const& label, Var<T, Device> const& left, Var<T, Device> const& right,
                              Var<T, Device> const& weights, MarginOptions const& options = {}) {
    rowan::detail::LayerRollback added;
    auto const cost = apply<weighted_margin_ranking_op>(options, layer::sub(left, right), label, weights);
    added.keep();
    return cost;
}

/// 1 - cos where the label is 1, and max(cos - margin, 0) where it is -1, for the cosines of the angles between the rows
/// of x and y, as PyTorch's cosine_embedding_loss.
/// shapes   x and y [n, width], label [n, 1] -> [1], or [n, 1] without reduction
/// errors   ValueError if margin is not finite; ShapeError if the shapes do not fit
/// cost     of cosine_similarity and rowan::cosine_embedding, when the net runs
template <class T, class Device>
Var<T, Device> cosine_embedding(Var<T, Device> const& x, Var<T, Device> const& y, Var<T, Device> const& label,
                                MarginOptions const& options = {}) {
    rowan::detail::LayerRollback added;
    auto const cost = apply<cosine_embedding_op>(options, layer::cosine_similarity(x, y), label);
    added.keep();
    return cost;
}
template <class T, class Device>
Var<T, Device> cosine_embedding(Var<T, Device> const& x, Var<T, Device> const& y, Var<T, Device> const& label,
                                Var<T, Device> const& weights, MarginOptions const& options = {}) {
    rowan::detail::LayerRollback added;
    auto const cost = apply<weighted_cosine_embedding_op>(options, layer::cosine_similarity(x, y), label, weights);
    added.keep();
    return cost;
}

}  // namespace rowan::inline v0::layer
