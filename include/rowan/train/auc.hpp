// rowan/train/auc.hpp: Auc, the area under the ROC curve, of any number of batches.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/train/detail/predictions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0 {

/// The area under the ROC curve: the probability that a positive example has a greater probability than a negative one,
/// where a tie counts half. It is exact, as in scikit-learn, and all probabilities are kept. With `thresholds`, the
/// memory does not grow: as in Paddle, probabilities are counted in thresholds + 1 buckets, floor(p · thresholds), and
/// those in one bucket are ties.
///     Auc auc;
///     for (auto const& batch : batches) auc.update(infer(predict, batch.feeds, parameters).value(), batch.labels);
///     double area = auc.value();
class Auc {
public:
    /// errors   none
    /// cost     8 bytes for each example
    Auc() = default;

    /// errors   ValueError if thresholds is 0
    /// cost     memory for twice as many counts
    ROWAN_IF_CALLED explicit Auc(std::size_t thresholds);

    /// Adds a batch: the probabilities of the positive class, and labels of 0 and 1.
    /// shapes   probability [n] or [n, 1], label [n] or [n, 1]
    /// errors   ShapeError if the sizes differ; ValueError if a probability is not in [0, 1]; IndexError if a label is
    ///          neither 0 nor 1
    /// cost     O(n)
    template <class T, id_type I>
    void update(Tensor<T> const& probability, Tensor<I> const& label) {
        auto const p = detail::checked_predictions(probability, label);
        auto const is = [&](std::size_t i) { return static_cast<std::size_t>(label.data()[i]); };
        std::array<std::size_t, 2> sizes{};
        for (std::size_t i = 0; i < label.size(); ++i) ++sizes[is(i)];
        make_room(sizes);  // before anything is added
        for (std::size_t i = 0; i < label.size(); ++i) {
            if (thresholds_ == 0) {
                kept_[is(i)].push_back(p(i));
            } else {
                ++counts_[is(i)][static_cast<std::size_t>(p(i) * thresholds_)];
            }
        }
    }

    /// The area of all batches; NaN if there are no positive or no negative examples.
    /// errors   none
    /// cost     O(n log n) for n examples, and memory for their probabilities; with thresholds O(thresholds)
    ROWAN_IF_CALLED double value() const;

    /// Forgets all batches.
    /// errors   none
    /// cost     O(thresholds)
    ROWAN_IF_CALLED void reset();

private:
    /// Takes memory for so many negative and positive examples more.
    ROWAN_IF_CALLED void make_room(std::array<std::size_t, 2> const& sizes);

    double thresholds_ = 0;                            // 0 if the area is exact
    std::array<std::vector<std::int64_t>, 2> counts_;  // of negative and of positive examples
    std::array<std::vector<double>, 2> kept_;          // their probabilities
};

}  // namespace rowan::inline v0

#include <rowan/train/auc_inl.hpp>
