// rowan/op/loss/loss_options.hpp: the settings of element-wise losses.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/op/detail/reduction.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace rowan::inline v0 {

// A weight of positives multiplies the loss of label 1, and not what a mean divides by, as in PyTorch and TensorFlow.

/// The settings of binary_cross_entropy and binary_cross_entropy_with_logits.
struct BinaryCrossEntropyOptions {
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    /// elements with this label do not count: their loss and gradient are 0, and the mean is that of the others
    std::optional<std::int64_t> ignore_index = {};
    std::optional<double> pos_weight = {};  ///< the weight of positives, at least 0; 1 if it is not given
    ROWAN_OPTIONS(BinaryCrossEntropyOptions, reduction, ignore_index, pos_weight)
};

/// The settings of hinge.
struct HingeOptions {
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    std::optional<double> pos_weight = {};  ///< the weight of positives, at least 0; 1 if it is not given
    ROWAN_OPTIONS(HingeOptions, reduction, pos_weight)
};

/// The settings of losses that have no others.
struct LossOptions {
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements

    /// Those of losses that can also ignore labels or weigh positives, which these options do not.
    operator BinaryCrossEntropyOptions() const { return {.reduction = reduction}; }
    operator HingeOptions() const { return {.reduction = reduction}; }
    ROWAN_OPTIONS(LossOptions, reduction)
};

/// The settings of cross_entropy_of_probabilities and cross_entropy.
struct CrossEntropyOptions {
    Reduction reduction = Reduction::mean;          ///< applied to the losses of the rows
    std::optional<std::int64_t> ignore_index = {};  ///< rows with this label do not count
    std::optional<std::int64_t> axis = {};          ///< the axis of the classes; default the last one
    std::vector<double> weights = {};               ///< a factor of the losses for each class; empty: all are 1
    ROWAN_OPTIONS(CrossEntropyOptions, reduction, ignore_index, axis, weights)
};

/// The settings of huber.
struct HuberOptions {
    double delta = 1;                       ///< the distance at which the loss becomes linear, above 0
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    ROWAN_OPTIONS(HuberOptions, delta, reduction)
};

/// The settings of smooth_l1.
struct SmoothL1Options {
    double beta = 1;  ///< the distance at which the loss becomes linear, at least 0; Paddle's 1 / sigma²
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    ROWAN_OPTIONS(SmoothL1Options, beta, reduction)
};

/// The settings of binary_cross_entropy_with_epsilon.
struct BinaryCrossEntropyWithEpsilonOptions {
    double epsilon = 1e-4;                  ///< added to probabilities, at least 0
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    std::optional<double> pos_weight = {};  ///< the weight of positives, at least 0; 1 if it is not given
    ROWAN_OPTIONS(BinaryCrossEntropyWithEpsilonOptions, epsilon, reduction, pos_weight)
};

/// The settings of margin_ranking and cosine_embedding.
struct MarginOptions {
    double margin = 0;  ///< of margin_ranking: where the loss ends; of the other one: where it begins
    Reduction reduction = Reduction::mean;  ///< applied to the losses of the elements
    ROWAN_OPTIONS(MarginOptions, margin, reduction)
};

}  // namespace rowan::inline v0
