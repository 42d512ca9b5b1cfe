// rowan/layer/loss.hpp: losses.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/loss/cross_entropy.hpp>
#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>
#include <rowan/op/loss/loss_options.hpp>
#include <rowan/op/loss/mse.hpp>

#include <concepts>
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

/// For calls of a loss with labels that are none, which do not compile.
template <class X, class Label>
requires(!is_label<Label>) auto no_label(X const& x, Label const&) {
    check_vars<X, Label>();
    static_assert(
        no_var<Label>,
        "rowan::layer: labels are numbers of classes: declare them with layer::data<std::int64_t>(name, dims)");
    return x;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// (x - y)²: the mean over all elements, or by options.reduction their sum or all of them, as rowan::mse.
/// shapes   x and y [...] -> [1], or [...] without reduction, with the levels of x
/// errors   ShapeError if the shapes differ
/// cost     as rowan::mse, when the net runs
template <class T, class Device>
Var<T, Device> mse(Var<T, Device> const& x, Var<T, Device> const& y, LossOptions const& options = {}) {
    return apply<mse_op>(options, x, y);
}

// A mistake, which does not compile.
template <class X, class Y>
requires(!std::same_as<X, Y> || rowan::detail::no_var<X>) auto mse(X const& x, Y const&) {
    rowan::detail::check_vars<X, Y>();
    static_assert(rowan::detail::no_var<X> || rowan::detail::no_var<Y>,
                  "rowan::layer::mse: x and y have one element type and device: convert with layer::cast");
    return x;
}

/// The mean over the rows of -log(probability of the label), or with `.reduction` their sum or all of them, as
/// rowan::cross_entropy_of_probabilities. Rows whose label is `.ignore_index` do not count; `.weights` has a factor for each class, and
/// `.axis` is the axis of the classes.
/// shapes   x [n, classes] of probabilities, label [n] -> [1], or [n] without reduction; or x [...] with classes along
///          the axis, label [...] without that axis -> [1], or that of label without reduction
/// errors   ShapeError if x has a rank below 2, label has another shape or there is not one weight for each class;
///          IndexError if the axis is not in [-rank, rank), and when the net runs, if a label is not in [0, classes)
///          and not ignore_index
/// cost     as rowan::cross_entropy_of_probabilities, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> cross_entropy_of_probabilities(Var<T, Device> const& x, Var<I, Device> const& label,
                                              CrossEntropyOptions const& options = {}) {
    return apply<cross_entropy_of_probabilities_op>(options, x, label);
}

/// cross_entropy_of_probabilities(softmax(x), label) in a numerically stable form, as rowan::cross_entropy and PyTorch's
/// cross_entropy.
///     auto cost = layer::cross_entropy(scores, label, {.ignore_index = -100, .weights = {1, 1, 4}});
/// shapes   as layer::cross_entropy_of_probabilities, of scores
/// errors   as layer::cross_entropy_of_probabilities
/// cost     as rowan::cross_entropy, when the net runs
template <class T, id_type I, class Device>
Var<T, Device> cross_entropy(Var<T, Device> const& x, Var<I, Device> const& label,
                             CrossEntropyOptions const& options = {}) {
    return apply<cross_entropy_op>(options, x, label);
}

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

/// The losses with `.soft_label = true` for labels that are the probabilities of the classes, which get no gradient, as
/// rowan::cross_entropy_of_probabilities and rowan::cross_entropy.
/// shapes   x [...] with classes along the axis, label the same -> [1], or [...] without the axis without reduction
/// errors   ValueError if soft_label is false; IndexError if the axis is not in [-rank, rank); ShapeError if x has a rank
///          below 2, label has another shape or there is not one weight for each class
/// cost     as rowan::cross_entropy_of_probabilities or rowan::cross_entropy, when the net runs
template <class T, class Device>
requires(!id_type<T>) Var<T, Device> cross_entropy_of_probabilities(Var<T, Device> const& x,
                                                                    Var<T, Device> const& label,
                                                                    SoftLabelOptions const& options) {
    return apply<cross_entropy_of_probabilities_op>(options.attributes(), x, label);
}
template <class T, class Device>
requires(!id_type<T>) Var<T, Device> cross_entropy(Var<T, Device> const& x, Var<T, Device> const& label,
                                                   SoftLabelOptions const& options) {
    return apply<cross_entropy_op>(options.attributes(), x, label);
}

/// Does not compile: labels are integers, as rowan::cross_entropy_of_probabilities needs them.
template <class X, class Label>
requires(!rowan::detail::is_label<Label>) auto cross_entropy_of_probabilities(X const& x, Label const& label) {
    return rowan::detail::no_label(x, label);
}
/// Does not compile: labels are integers, as rowan::cross_entropy needs them.
template <class X, class Label>
requires(!rowan::detail::is_label<Label>) auto cross_entropy(X const& x, Label const& label) {
    return rowan::detail::no_label(x, label);
}

ROWAN_TEMPLATE(Var<float> mse(Var<float> const&, Var<float> const&, LossOptions const&))
ROWAN_TEMPLATE(Var<float> cross_entropy_of_probabilities(Var<float> const&, Var<std::int64_t> const&,
                                                         CrossEntropyOptions const&))
ROWAN_TEMPLATE(Var<float> cross_entropy_of_probabilities(Var<float> const&, Var<std::int32_t> const&,
                                                         CrossEntropyOptions const&))
ROWAN_TEMPLATE(Var<float> cross_entropy(Var<float> const&, Var<std::int64_t> const&, CrossEntropyOptions const&))
ROWAN_TEMPLATE(Var<float> cross_entropy(Var<float> const&, Var<std::int32_t> const&, CrossEntropyOptions const&))
ROWAN_TEMPLATE(Var<double> mse(Var<double> const&, Var<double> const&, LossOptions const&))
ROWAN_TEMPLATE(Var<double> cross_entropy_of_probabilities(Var<double> const&, Var<std::int64_t> const&,
                                                          CrossEntropyOptions const&))
ROWAN_TEMPLATE(Var<double> cross_entropy_of_probabilities(Var<double> const&, Var<std::int32_t> const&,
                                                          CrossEntropyOptions const&))
ROWAN_TEMPLATE(Var<double> cross_entropy(Var<double> const&, Var<std::int64_t> const&, CrossEntropyOptions const&))
ROWAN_TEMPLATE(Var<double> cross_entropy(Var<double> const&, Var<std::int32_t> const&, CrossEntropyOptions const&))

}  // namespace rowan::inline v0::layer
