// rowan/train/detail/train_position.hpp: TrainPosition, where a training is.
#pragma once

#include <rowan/train/parameters.hpp>
#include <rowan/train/train_checkpoint.hpp>

#include <cstdint>
#include <optional>

namespace rowan::inline v0::detail {

/// What a save of a training has besides parameters and states: as the value `@position`, and those of the best epoch as
/// `<name>@best`.
struct TrainPosition {
    std::int64_t epoch = 0, batches = 0, steps = 0;  // of the epoch, what has been read and made
    double cost = 0;                                 // the sum of its steps'
    std::int64_t since = 0;                          // epochs since the best one
    double value = 0;                                // the metric of the best epoch
    std::int64_t metric = 0;                         // a number for this metric
    std::optional<Parameters> best = {};

    /// `now`, and the position, which share the elements of both.
    ROWAN_IF_CALLED Parameters added_to(Parameters const& now) const;
    /// Takes the position out of a save.
    /// errors   GraphError if there is none
    ROWAN_IF_CALLED static TrainPosition taken_from(Parameters& saved);
};

/// errors   ValueError if `every` is negative or others save together than the `ranks` that train; GraphError if a function
///          is missing
ROWAN_IF_CALLED void check_checkpoint(layer::TrainCheckpoint const& checkpoint, int ranks);

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/train_position_inl.hpp>
