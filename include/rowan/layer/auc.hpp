// rowan/layer/auc.hpp: Auc, the area under the ROC curve, of any number of batches.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rowan::inline v0 {

/// The area under the ROC curve: the probability that a positive example has a greater probability than a negative one,
/// where a tie counts half. As in Paddle, probabilities are counted in `thresholds` + 1 buckets, floor(p · thresholds),
/// and those in one bucket are ties.
///     Auc auc;
///     for (auto const& batch : batches) auc.update(infer(predict, batch.feeds, parameters).value(), batch.labels);
///     double area = auc.value();
class Auc {
public:
    /// errors   ValueError if thresholds is 0
    /// cost     memory for twice as many counts
    explicit Auc(std::size_t thresholds = 4095) : thresholds_(static_cast<double>(thresholds)) {
        if (thresholds == 0) throw ValueError("thresholds", 0, "at least 1");
        counts_[0].resize(thresholds + 1);
        counts_[1].resize(thresholds + 1);
    }

    /// Adds a batch: the probabilities of the positive class, and labels of 0 and 1.
    /// shapes   probability [n] or [n, 1], label [n] or [n, 1]
    /// errors   ShapeError if the sizes differ; ValueError if a probability is not in [0, 1]; IndexError if a label is
    ///          neither 0 nor 1
    /// cost     O(n)
    template <class T, id_type I>
    void update(Tensor<T> const& probability, Tensor<I> const& label) {
        static_assert(floating_element<T>, "rowan::Auc: probabilities must have a floating-point type");
        if (probability.size() != label.size())
            throw ShapeError("label.size()", std::to_string(label.size()), std::to_string(probability.size()));
        auto const p = [&](std::size_t i) { return static_cast<double>(dtype<T>::widen(probability.data()[i])); };
        for (std::size_t i = 0; i < label.size(); ++i) {
            if (!(p(i) >= 0 && p(i) <= 1))
                throw ValueError(std::string("probability[").append(std::to_string(i)).append("]"), p(i), "in [0, 1]");
        }
        detail::check_ids(Cpu{}, "label", label, 2);
        for (std::size_t i = 0; i < label.size(); ++i)
            ++counts_[static_cast<std::size_t>(label.data()[i])][static_cast<std::size_t>(p(i) * thresholds_)];
    }

    /// The area of all batches; 0 if there are no positive or no negative examples.
    /// errors   none
    /// cost     O(thresholds)
    double value() const {
        double area = 0, positive = 0, negative = 0;
        for (std::size_t i = counts_[0].size(); i-- != 0;) {
            auto const more = static_cast<double>(counts_[1][i]), less = static_cast<double>(counts_[0][i]);
            area += less * (positive + more / 2);
            positive += more;
            negative += less;
        }
        return positive > 0 && negative > 0 ? area / positive / negative : 0;
    }

    /// Forgets all batches.
    /// errors   none
    /// cost     O(thresholds)
    void reset() {
        for (auto& counts : counts_) counts.assign(counts.size(), 0);
    }

private:
    double thresholds_;
    std::array<std::vector<std::int64_t>, 2> counts_;  // of negative and of positive examples
};

}  // namespace rowan::inline v0
