// rowan/train/detail/train_settings.hpp: TrainSettings, the settings of a training that does not know the device.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/train_options.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rowan::inline v0::detail {

/// What TrainOptionsOn<Device> has, for a training that does not know Device. The options must outlive it.
struct TrainSettings {
    AnyOptimizer optimizer;  // of parameters that optimizers does not name
    std::map<std::string_view, AnyOptimizer> optimizers;
    std::map<std::string, double> const& rates;
    AnyGradientClip const& clip;
    layer::Schedule const& schedule;
    AnyAverage const& average;
    std::shared_ptr<Ranks const> ranks;
    AnyParts const& parts;
    std::int64_t check_every;
    bool overlap;
    std::chrono::milliseconds patience;
    std::int64_t epochs;
    layer::TrainCheckpoint const& checkpoint;
    bool progress;
    Metrics const& metrics;
    std::optional<layer::EarlyStop> const& stop;
    std::uint64_t seed;
    Callback<BatchReport const&> const& on_batch;
    Callback<std::int64_t, Parameters const&> const& on_epoch;
    std::span<Variable* const> keep;
    Feeds const* initial;  // or nullptr
    Parameters const* resume;

    ROWAN_IF_CALLED AnyOptimizer const& optimizer_of(ParameterGradient const& g) const;
};

template <class Device>
struct CanMakeSettings {};

template <class Device>
TrainSettings settings_of(void const* options) {
    auto const& o = *static_cast<TrainOptionsOn<Device> const*>(options);
    return {.optimizer = o.optimizer.made(),
            .optimizers = {o.optimizers.begin(), o.optimizers.end()},
            .rates = o.rates,
            .clip = o.clip,
            .schedule = o.schedule,
            .average = o.average,
            .ranks = o.comm.shared_ranks(),
            .parts = o.parts,
            .check_every = o.check_every,
            .overlap = o.overlap,
            .patience = o.patience,
            .epochs = o.epochs,
            .checkpoint = o.checkpoint,
            .progress = o.progress,
            .metrics = o.metrics,
            .stop = o.stop,
            .seed = o.seed,
            .on_batch = o.on_batch,
            .on_epoch = o.on_epoch,
            .keep = o.keep,
            .initial = o.initial.empty() ? nullptr : &o.initial,
            .resume = o.resume};
}
ROWAN_TEMPLATE(TrainSettings settings_of<Cpu>(void const*))

inline TrainSettings MakeSettings::operator()() const { return settings_(options_); }

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

template <class Device>
TrainOptionsOn<Device>::~TrainOptionsOn() {}  // g++ does not instantiate one that is defaulted

ROWAN_TEMPLATE(TrainOptionsOn<Cpu>::~TrainOptionsOn())

}  // namespace rowan::inline v0
