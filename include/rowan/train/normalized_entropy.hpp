// rowan/train/normalized_entropy.hpp: NormalizedEntropy, the log loss and its quotient by that of a constant, of any
// number of batches.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/train/detail/predictions.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace rowan::inline v0 {

/// The mean log loss of the probabilities, divided by that of a model which always predicts the share of positive
/// examples: below 1 for a model that has learned more than this share. It compares models on data sets with other
/// shares. He et al.: Practical lessons from predicting clicks on ads at Facebook, 2014.
///     NormalizedEntropy entropy;
///     for (auto const& batch : batches) entropy.update(infer(predict, batch.feeds, parameters).value(), batch.labels);
///     double loss = entropy.log_loss(), normalized = entropy.value();
/// The loss of an example is -log(p) or -log(1 - p), where p is clipped to [2^-52, 1 - 2^-52], as scikit-learn does for
/// double. Its memory does not grow. Sums are formed in double, in order.
class NormalizedEntropy {
public:
    /// Adds a batch: the probabilities of the positive class, and labels of 0 and 1.
    /// shapes   probability [n] or [n, 1], label [n] or [n, 1]
    /// errors   ShapeError if the sizes differ; ValueError if a probability is not in [0, 1]; IndexError if a label is
    ///          neither 0 nor 1. On error, nothing is added
    /// cost     O(n)
    template <class T, id_type I>
    void update(Tensor<T> const& probability, Tensor<I> const& label) {
        auto const p = detail::checked_predictions(probability, label);
        constexpr double least = 0x1p-52;
        for (std::size_t i = 0; i < label.size(); ++i) {
            bool const positive = label.data()[i] == 1;
            double const clipped = std::clamp(p(i), least, 1 - least);
            loss_ -= detail::logarithm(positive ? clipped : 1 - clipped);
            positives_ += positive ? 1 : 0;
        }
        examples_ += static_cast<double>(label.size());
    }

    /// The mean log loss of all batches, divided by the entropy of the share of positive examples; NaN if there are no
    /// positive or no negative examples.
    /// errors   none
    /// cost     O(1)
    double value() const {
        double const share = positives_ / examples_;
        if (!(share > 0 && share < 1)) return std::numeric_limits<double>::quiet_NaN();
        double const entropy = -(share * detail::logarithm(share) + (1 - share) * detail::logarithm(1 - share));
        return log_loss() / entropy;
    }

    /// The mean log loss of all batches; NaN if there are no examples.
    /// errors   none
    /// cost     O(1)
    double log_loss() const { return loss_ / examples_; }

    /// Forgets all batches.
    /// errors   none
    /// cost     O(1)
    void reset() { *this = {}; }

private:
    double loss_ = 0, positives_ = 0, examples_ = 0;
};

}  // namespace rowan::inline v0
