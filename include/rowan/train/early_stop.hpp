// rowan/train/early_stop.hpp: layer::EarlyStop, which ends a training that no longer improves.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/train/parameters.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace rowan::inline v0 {

/// Functions of the parameters by name, computed after each epoch, such as the cost of the validation data.
using Metrics = std::map<std::string, std::function<double(Parameters const&)>>;

namespace layer {

/// Ends a training when a metric has not improved for some epochs; the result of the training is then that of its best
/// epoch. A training with options.resume counts and compares anew: it knows neither the epochs nor the best value of the
/// training before. NaN is no improvement; if a metric was NaN in all epochs, there is no best one, and `train` throws.
///     {.epochs = 100,
///      .metrics = {{"validation", [&](Parameters const& p) { return cost_of(validation, p); }}},
///      .stop = layer::EarlyStop{.metric = "validation", .patience = 3}}
struct EarlyStop {
    std::string metric = {};    ///< a name in options.metrics
    std::int64_t patience = 1;  ///< the number of epochs in a row without improvement that end the training; 0: none do
    bool larger = false;        ///< whether larger values are better
    double least = 0;           ///< a smaller change is no improvement

    ROWAN_OPTIONS(EarlyStop, metric, patience, larger, least)
};

}  // namespace layer

}  // namespace rowan::inline v0
