// rowan/train/precision_recall.hpp: PrecisionRecall, of each class, of any number of batches.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0 {

/// Precision, recall and F1 of each class, and their means over the classes (macro averages). A quotient whose divisor
/// is 0 is 0, as in scikit-learn.
///     PrecisionRecall metric(classes);
///     for (auto const& batch : batches) metric.update(infer(scores, batch.feeds, parameters).value(), batch.labels);
///     double f1 = metric.f1();
class PrecisionRecall {
public:
    /// errors   ValueError if classes is 0
    /// cost     memory for three counts per class
    explicit PrecisionRecall(std::size_t classes) : right_(classes), predicted_(classes), present_(classes) {
        if (classes == 0) throw ValueError("classes", 0, "at least 1");
    }

    /// Adds a batch of predicted classes.
    /// shapes   predicted and label [n]
    /// errors   ShapeError if the sizes differ; IndexError if a class is not in [0, classes)
    /// cost     O(n)
    template <id_type P, id_type I>
    void update(Tensor<P> const& predicted, Tensor<I> const& label) {
        check_size(label.size(), predicted.size());
        check("predicted", predicted);
        check("label", label);
        for (std::size_t i = 0; i < label.size(); ++i) count(predicted.data()[i], label.data()[i]);
    }

    /// Adds a batch of scores; the class with the greatest one, the first of equal ones, is predicted.
    /// shapes   scores [n, classes], label [n]
    /// errors   ShapeError if the shapes differ from these; ValueError if a score is NaN; IndexError if a label is not
    ///          in [0, classes)
    /// cost     one read of the scores
    template <floating_element T, id_type I>
    void update(Tensor<T> const& scores, Tensor<I> const& label) {
        if (scores.dimension() != 2 || scores.shape(1) != right_.size())
            throw ShapeError("scores.shape()", detail::shape_text(scores.shape()), {"[n, ", right_.size(), "]"});
        check_size(label.size(), scores.shape(0));
        check("label", label);
        for (std::size_t i = 0; i < scores.size(); ++i) {
            auto const score = dtype<T>::widen(scores.data()[i]);
            if (score != score) throw ValueError({"scores[", i, "]"}, score, "a number");
        }
        for (std::size_t i = 0; i < label.size(); ++i) {
            T const *const row = scores.data() + i * right_.size(), *most = row;
            for (T const* p = row; p != row + right_.size(); ++p) {
                if (dtype<T>::widen(*p) > dtype<T>::widen(*most)) most = p;
            }
            count(most - row, label.data()[i]);
        }
    }

    /// The fraction of the examples predicted as this class that are of it.
    /// errors   IndexError if there is no such class
    /// cost     O(1)
    double precision(std::size_t of) const { return share(right_, predicted_, of); }
    /// The fraction of the examples of this class that are predicted as it.
    /// errors   IndexError if there is no such class
    /// cost     O(1)
    double recall(std::size_t of) const { return share(right_, present_, of); }
    /// The harmonic mean of the precision and the recall of a class.
    /// errors   IndexError if there is no such class
    /// cost     O(1)
    double f1(std::size_t of) const {
        double const p = precision(of), r = recall(of);
        return p + r > 0 ? 2 * p * r / (p + r) : 0;
    }

    /// The mean of the classes' precisions.
    /// errors   none
    /// cost     O(classes)
    double precision() const {
        return mean([this](std::size_t k) { return precision(k); });
    }
    /// The mean of the classes' recalls.
    /// errors   none
    /// cost     O(classes)
    double recall() const {
        return mean([this](std::size_t k) { return recall(k); });
    }
    /// The mean of the classes' F1.
    /// errors   none
    /// cost     O(classes)
    double f1() const {
        return mean([this](std::size_t k) { return f1(k); });
    }

    /// Forgets all batches.
    /// errors   none
    /// cost     O(classes)
    void reset() {
        for (auto* counts : {&right_, &predicted_, &present_}) counts->assign(counts->size(), 0);
    }

private:
    using Counts = std::vector<std::int64_t>;

    static void check_size(std::size_t size, std::size_t expected) {
        if (size != expected) throw ShapeError("label.size()", size, expected);
    }

    template <class I>
    void check(char const* field, Tensor<I> const& ids) const {
        detail::check_ids(Cpu{}, field, ids, static_cast<std::int64_t>(right_.size()));
    }

    void count(std::int64_t predicted, std::int64_t label) {
        ++predicted_[static_cast<std::size_t>(predicted)];
        ++present_[static_cast<std::size_t>(label)];
        if (predicted == label) ++right_[static_cast<std::size_t>(label)];
    }

    static double share(Counts const& part, Counts const& all, std::size_t of) {
        if (of >= all.size()) throw IndexError("class", of, all.size());
        return all[of] == 0 ? 0 : static_cast<double>(part[of]) / static_cast<double>(all[of]);
    }

    template <class F>
    double mean(F const& of) const {
        double sum = 0;
        for (std::size_t k = 0; k < right_.size(); ++k) sum += of(k);
        return sum / static_cast<double>(right_.size());
    }

    Counts right_, predicted_, present_;  // examples by class: correctly predicted, predicted, labelled
};

}  // namespace rowan::inline v0
