// rowan/train/calibration.hpp: Calibration, predicted over observed clicks, of any number of batches.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/train/detail/predictions.hpp>

#include <cstddef>

namespace rowan::inline v0 {

/// The sum of the probabilities divided by the number of positive examples: predicted over observed clicks. It is 1 for
/// a model that is right on average, and greater if clicks are promised that do not come. He et al.: Practical lessons
/// from predicting clicks on ads at Facebook, 2014.
///     Calibration calibration;
///     for (auto const& batch : batches)
///         calibration.update(infer(predict, batch.feeds, parameters).value(), batch.labels);
///     double ratio = calibration.value();
/// Its memory does not grow. Sums are formed in double, in order.
class Calibration {
public:
    /// Adds a batch: the probabilities of the positive class, and labels of 0 and 1.
    /// shapes   probability [n] or [n, 1], label [n] or [n, 1]
    /// errors   ShapeError if the sizes differ; ValueError if a probability is not in [0, 1]; IndexError if a label is
    ///          neither 0 nor 1. On error, nothing is added
    /// cost     O(n)
    template <class T, id_type I>
    void update(Tensor<T> const& probability, Tensor<I> const& label) {
        auto const p = detail::checked_predictions(probability, label);
        for (std::size_t i = 0; i < label.size(); ++i) {
            predicted_ += p(i);
            observed_ += static_cast<double>(label.data()[i]);
        }
    }

    /// The quotient of all batches: infinite if there are no positive examples, NaN if all probabilities are 0, too.
    /// errors   none
    /// cost     O(1)
    double value() const { return predicted_ / observed_; }

    /// Forgets all batches.
    /// errors   none
    /// cost     O(1)
    void reset() { *this = {}; }

private:
    double predicted_ = 0, observed_ = 0;
};

}  // namespace rowan::inline v0
