// rowan/train/group_auc.hpp: GroupAuc, the mean area under the ROC curves of groups, of any number of batches.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/train/detail/predictions.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0 {

/// The area under the ROC curve of each group of examples, such as those of one user, averaged with the numbers of
/// their examples as weights: how well a model orders what one user is shown. Groups with examples of one class alone
/// have no curve and are left out. Each area is exact, as Auc. Zhou et al.: Deep Interest Network, 2018.
///     GroupAuc auc;
///     for (auto const& batch : batches)
///         auc.update(infer(predict, batch.feeds, parameters).value(), batch.labels, batch.users);
///     double area = auc.value();
class GroupAuc {
public:
    /// Adds a batch: the probabilities of the positive class, labels of 0 and 1, and the group of each example, which
    /// may be any number.
    /// shapes   probability, label and group [n] or [n, 1]
    /// errors   ShapeError if the sizes differ; ValueError if a probability is not in [0, 1]; IndexError if a label is
    ///          neither 0 nor 1. On error, nothing is added
    /// cost     O(n), and 24 bytes for each example
    template <class T, id_type I, id_type G>
    void update(Tensor<T> const& probability, Tensor<I> const& label, Tensor<G> const& group) {
        auto const p = detail::checked_predictions(probability, label);
        if (group.size() != label.size()) throw ShapeError("group.size()", group.size(), label.size());
        make_room(label.size());  // before anything is added
        for (std::size_t i = 0; i < label.size(); ++i)
            kept_.push_back({.group = group.data()[i], .probability = p(i), .positive = label.data()[i] == 1});
    }

    /// The mean area of all batches; NaN if no group has examples of both classes.
    /// errors   none
    /// cost     O(n log n) for n examples, and memory for as many
    ROWAN_IF_CALLED double value() const;

    /// Forgets all batches.
    /// errors   none
    /// cost     O(1)
    ROWAN_IF_CALLED void reset();

private:
    struct Example {
        std::int64_t group;
        double probability;
        bool positive;
    };

    /// Takes memory for so many examples more.
    ROWAN_IF_CALLED void make_room(std::size_t examples);

    std::vector<Example> kept_;
};

}  // namespace rowan::inline v0

#include <rowan/train/group_auc_inl.hpp>
