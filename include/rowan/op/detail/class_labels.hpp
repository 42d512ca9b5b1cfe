// rowan/op/detail/class_labels.hpp: the labels of rows of classes: numbers, of which some are ignored, or probabilities,
// with weights of classes.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/detail/class_rows.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/loss/class_functions.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>

#include <concepts>
#include <optional>
#include <span>

namespace rowan::inline v0::detail {

/// errors   ShapeError if there are weights, but not one for each class
constexpr void check_weights(CrossEntropyOptions const& options, std::size_t classes) {
    std::size_t const size = options.weights.size();
    if (size != 0 && size != classes) throw ShapeError("weights.size()", size, {classes, ", one for each class"});
}

/// errors   ShapeError if label has another shape than x, or there is not one weight for each class; ValueError if there
///          is a label to ignore
template <class T, class D>
void check_soft_labels(Tensor<T, D> const& x, Tensor<T, D> const& label, ClassRows<T, D> const& c,
                       CrossEntropyOptions const& options) {
    check_same_shape("label", label, x);
    check_weights(options, c.classes);
    if (options.ignore_index)
        throw ValueError("ignore_index", *options.ignore_index, "none for labels that are probabilities");
}

/// to = 0 and kept = 0 where the label is ignored, else the label and 1.
template <class I>
struct KeepLabel {
    I const* label;
    bool ignores;
    std::int64_t ignored;
    I* to;
    double* kept;

    ROWAN_HD void operator()(std::size_t row) const {
        bool const keep = !ignores || static_cast<std::int64_t>(label[row]) != ignored;
        to[row] = keep ? label[row] : I{0};
        kept[row] = keep ? 1 : 0;
    }
};

/// kept *= weights[label]; devices report labels that are out of range later.
template <class I>
struct WeighLabel {
    I const* label;
    double const* weights;
    double* kept;
    std::size_t classes;

    ROWAN_HD void operator()(std::size_t row) const {
        auto const k = static_cast<std::size_t>(label[row]);
        if (kept[row] != 0) kept[row] = k < classes ? weights[k] : 0;
    }
};

/// The labels, and the weights of their rows if the options ignore or weigh some: 0 for ignored ones, whose labels are
/// replaced by 0, and behind these their sum.
template <class I, class D>
class KeptLabels {
public:
    /// errors   IndexError if a label that is not ignored is not in [0, classes)
    template <class T>
    KeptLabels(D const& exec, Tensor<I, D> const& given, ClassRows<T, D> const& c, CrossEntropyOptions const& options)
        : weighs_(options.ignore_index || !options.weights.empty()),
          label_(weighs_ ? new_tensor<I>(exec, given.shape()) : given.share()),
          kept_(Loops::template scratch<double>(exec, weighs_ ? given.size() + 1 : 0)) {
        std::size_t const n = given.size();
        bool const ignores = options.ignore_index.has_value();
        if (weighs_)
            Loops::each(
                exec, n, 1,
                KeepLabel<I>{given.data(), ignores, options.ignore_index.value_or(0), label_.data(), kept_.data()});
        Loops::check_ids(exec, "label", label_, static_cast<std::int64_t>(c.classes));
        if (!options.weights.empty()) {
            OnDevice<double, D> const weights(exec, std::span<double const>(options.weights));
            Loops::each(exec, n, 1, WeighLabel<I>{label_.data(), weights.data(), kept_.data(), c.classes});
        }
        if (weighs_) Totals<D>::template of_losses<double>(exec, n, kept_.data(), false, kept_.data() + n);
    }

    I const* data() const { return label_.data(); }
    /// The weights of rows, or nullptr.
    double const* kept() const { return weighs_ ? kept_.data() : nullptr; }
    /// Their sum, or nullptr.
    double const* total() const { return weighs_ ? kept_.data() + label_.size() : nullptr; }

private:
    using Loops = ElementLoops<D>;
    bool weighs_;
    Tensor<I, D> label_;
    decltype(Loops::template scratch<double>(std::declval<D const&>(), 0)) kept_;
};

/// to = label · weight, where there are weights
template <class T>
struct WeighShare {
    T const* label;
    double const* weights;
    sum_t<T>* to;
    std::size_t classes;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        using S = sum_t<T>;
        to[i] = product(load<S>(label + i), constant<S>(weights[i % classes]));
    }
};

/// Labels that are probabilities, in rows, as numbers that are multiplied by the weights.
template <class T, class D>
class SoftLabels {
public:
    SoftLabels(D const& exec, Tensor<T, D> const& label, ClassRows<T, D> const& c, CrossEntropyOptions const& options)
        : rows_(c.rows(exec, label)),
          numbers_(Loops::template scratch<S>(exec, !options.weights.empty() || !same ? label.size() : 0)) {
        if (!options.weights.empty()) {
            OnDevice<double, D> const weights(exec, std::span<double const>(options.weights));
            Loops::each(exec, label.size(), 1, WeighShare<T>{rows_.data(), weights.data(), numbers_.data(), c.classes});
        } else if (!same) {
            Loops::template zip<S>(exec, label.size(), same_number{}, numbers_.data(), rows_.data());
        }
    }

    static constexpr double const* kept() { return nullptr; }
    static constexpr double const* total() { return nullptr; }

    sum_t<T> const* data() const {
        if constexpr (same) {
            if (numbers_.size() == 0) return rows_.data();
        }
        return numbers_.data();
    }

private:
    using S = sum_t<T>;
    using Loops = ElementLoops<D>;
    static constexpr bool same = std::is_same_v<T, S>;
    Tensor<T, D> rows_;
    decltype(Loops::template scratch<S>(std::declval<D const&>(), 0)) numbers_;
};

/// Rows of classes with their labels: class numbers (L an id type), or probabilities (L = T).
template <class T, class L, class D>
struct LabelledRows {
    ClassRows<T, D> c;
    std::conditional_t<id_type<L>, KeptLabels<L, D>, SoftLabels<T, D>> labels;
    Tensor<T, D> rows;

    /// errors   ShapeError if x has a rank below 2, label does not fit, or there is not one weight for each class;
    ///          IndexError if there is no such axis, or a label that is not ignored is not in [0, classes); ValueError
    ///          if there are probabilities and a label to ignore
    LabelledRows(D const& exec, char const* field, Tensor<T, D> const& x, Tensor<L, D> const& label,
                 CrossEntropyOptions const& options)
        : c(checked(exec, field, x, label, options)), labels(exec, label, c, options), rows(c.rows(exec, x)) {}

    T const* data() const { return rows.data(); }

    /// The reduced losses, or those of all rows in the shape of the labels.
    template <class Losses>
    Tensor<T, D> reduced(D const& exec, Reduction reduction, Losses const& losses) const {
        auto out = reduce<T>(exec, reduction, losses, labels.total());
        return reduction != Reduction::none || c.rest.size() == 1 ? std::move(out) : out.reshaped(c.rest);
    }

private:
    static ClassRows<T, D> checked(D const& exec, char const* field, Tensor<T, D> const& x, Tensor<L, D> const& label,
                                   CrossEntropyOptions const& options) {
        ClassRows<T, D> c(field, x, options.axis.value_or(-1), 2);
        if constexpr (id_type<L>) {
            c.check_labels(label);
            check_weights(options, c.classes);
        } else {
            check_soft_labels(x, label, c, options);
        }
        ElementLoops<D>::check(exec, x, label);
        return c;
    }
};

/// Checks that the gradient has the shape of the reduced losses.
template <class T, class D>
void check_reduced(char const* field, Tensor<T, D> const& out_grad, Reduction reduction, ClassRows<T, D> const& c) {
    if (reduction != Reduction::none || c.rest.size() == 1) return check_reduced(field, out_grad, reduction, c.n);
    if (out_grad.shape() != c.rest)
        throw ShapeError({field, ".shape()"}, shape_text(out_grad.shape()), shape_text(c.rest));
}

/// The gradient of what the losses are made of, x or softmax(x), by a rule of rows.
template <class Rule, class T, class L, class D>
Tensor<T, D> label_gradient(D const& exec, char const* field, Tensor<T, D> const& x, Tensor<L, D> const& label,
                            Tensor<T, D> const& out_grad, CrossEntropyOptions const& options) {
    LabelledRows<T, L, D> const r(exec, field, x, label, options);
    check_reduced("out_grad", out_grad, options.reduction, r.c);
    ElementLoops<D>::check(exec, out_grad);
    auto x_grad = r.c.template new_rows<T>(exec);
    LossGrads<T> const grads{out_grad.data(), options.reduction, r.c.n, r.labels.kept()};
    Rule::gradient(exec, r.c.n, r.c.classes, r.data(), r.labels.data(), grads, x_grad.data());
    return r.c.back(exec, std::move(x_grad));
}

/// The dims of the losses and of x in an operator of x and labels: classes, or probabilities with the shape of x.
struct LabelDims {
    Dims losses, x;
};

/// The names of the inputs of such an operator in errors.
struct LabelFields {
    char const *x, *label, *ignore_index;
};

constexpr LabelDims label_dims(LabelFields const& f, VarSpec const& x, VarSpec const& label,
                               CrossEntropyOptions const& a) {
    spec::rows_of_elements(f.x, x);
    spec::dense(f.label, label);
    std::size_t const axis = checked_axis(a.axis.value_or(-1), x.dims.size());
    if (x.dims[axis] != UNK) check_weights(a, static_cast<std::size_t>(x.dims[axis]));
    if (label.dims.size() == x.dims.size()) {
        if (a.ignore_index) throw ValueError(f.ignore_index, *a.ignore_index, "none for labels that are probabilities");
        Dims const dims = spec::elementwise(f.label, label, x).dims;
        return {a.reduction == Reduction::none ? without_axis(dims, axis) : Dims{1}, dims};
    }
    LabelDims made{without_axis(x.dims, axis), x.dims};
    spec::rank(f.label, label, made.losses.size(), "that of x for probabilities, or one less for class ids");
    spec::ids(f.label, label);
    for (std::size_t i = 0; i < made.losses.size(); ++i) {
        made.losses[i] = spec::same_dim(f.label, i, label.dims[i], made.losses[i]);
        made.x[i + (i < axis ? 0 : 1)] = made.losses[i];
    }
    if (a.reduction != Reduction::none) made.losses = {1};
    return made;
}

}  // namespace rowan::inline v0::detail
