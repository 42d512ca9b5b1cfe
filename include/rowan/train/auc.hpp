// rowan/train/auc.hpp: Auc, the area under the ROC curve, of any number of batches.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/train/detail/predictions.hpp>

#include <algorithm>
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
    explicit Auc(std::size_t thresholds) : thresholds_(static_cast<double>(thresholds)) {
        if (thresholds == 0) throw ValueError("thresholds", 0, "at least 1");
        for (auto& counts : counts_) counts.resize(thresholds + 1);
    }

    /// Adds a batch: the probabilities of the positive class, and labels of 0 and 1.
    /// shapes   probability [n] or [n, 1], label [n] or [n, 1]
    /// errors   ShapeError if the sizes differ; ValueError if a probability is not in [0, 1]; IndexError if a label is
    ///          neither 0 nor 1
    /// cost     O(n)
    template <class T, id_type I>
    void update(Tensor<T> const& probability, Tensor<I> const& label) {
        auto const p = detail::checked_predictions(probability, label);
        auto const is = [&](std::size_t i) { return static_cast<std::size_t>(label.data()[i]); };
        if (thresholds_ == 0) {
            std::array<std::size_t, 2> sizes{kept_[0].size(), kept_[1].size()};
            for (std::size_t i = 0; i < label.size(); ++i) ++sizes[is(i)];
            for (std::size_t const k : {std::size_t{0}, std::size_t{1}}) {  // before anything is added
                if (sizes[k] > kept_[k].capacity()) kept_[k].reserve(std::max(sizes[k], 2 * kept_[k].size()));
            }
        }
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
    double value() const {
        detail::RocArea area;
        auto const tie = [&](std::int64_t positives, std::int64_t negatives) {
            area.add(static_cast<double>(positives), static_cast<double>(negatives));
        };
        for (std::size_t i = counts_[0].size(); i-- != 0;) tie(counts_[1][i], counts_[0][i]);
        auto kept = kept_;
        for (auto& sorted : kept) std::sort(sorted.begin(), sorted.end());
        while (!kept[0].empty() || !kept[1].empty()) {
            double greatest = 0;
            for (auto const& rest : kept) greatest = std::max(greatest, rest.empty() ? 0 : rest.back());
            std::array<std::int64_t, 2> equal{};
            for (std::size_t const k : {std::size_t{0}, std::size_t{1}}) {
                for (; !kept[k].empty() && kept[k].back() == greatest; kept[k].pop_back()) ++equal[k];
            }
            tie(equal[1], equal[0]);
        }
        return area.value();
    }

    /// Forgets all batches.
    /// errors   none
    /// cost     O(thresholds)
    void reset() {
        for (auto& counts : counts_) counts.assign(counts.size(), 0);
        for (auto& probabilities : kept_) probabilities.clear();
    }

private:
    double thresholds_ = 0;                            // 0 if the area is exact
    std::array<std::vector<std::int64_t>, 2> counts_;  // of negative and of positive examples
    std::array<std::vector<double>, 2> kept_;          // their probabilities
};

}  // namespace rowan::inline v0
