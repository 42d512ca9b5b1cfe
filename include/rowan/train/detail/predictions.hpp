// rowan/train/detail/predictions.hpp: what metrics of probabilities share: checks of a batch, areas under curves.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Checks a batch for a metric: probabilities, and as many labels of 0 and 1. Returns a function of the probabilities.
template <class T, class I>
auto checked_predictions(Tensor<T> const& probability, Tensor<I> const& label) {
    static_assert(floating_element<T>, "rowan: probabilities must have a floating-point type");
    if (probability.size() != label.size()) throw ShapeError("label.size()", label.size(), probability.size());
    auto const p = [from = probability.data()](std::size_t i) { return static_cast<double>(dtype<T>::widen(from[i])); };
    for (std::size_t i = 0; i < label.size(); ++i) {
        if (!(p(i) >= 0 && p(i) <= 1)) throw ValueError({"probability[", i, "]"}, p(i), "in [0, 1]");
    }
    check_ids(Cpu{}, "label", label, 2);
    return p;
}

/// The area under a ROC curve, from the numbers of examples of each probability, the greatest first.
class RocArea {
public:
    void add(double positives, double negatives) {
        area_ += negatives * (positive_ + positives / 2);
        positive_ += positives;
        negative_ += negatives;
    }
    /// NaN if one class is missing.
    double value() const { return area_ / (positive_ * negative_); }

private:
    double area_ = 0, positive_ = 0, negative_ = 0;
};

}  // namespace rowan::inline v0::detail
