// rowan/layer/train_options.hpp: TrainOptions, the settings of train and Trainer.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/layer/gradient_clip.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/schedule.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace rowan::inline v0 {

/// The report on one batch, passed to on_batch.
struct BatchReport {
    std::int64_t epoch;  ///< counted from 0
    std::int64_t batch;  ///< within the epoch, counted from 0
    double cost;         ///< cost of the batch
};

/// The settings of train and Trainer for a net on a device.
template <class Device>
struct TrainOptionsOn {
    std::optional<layer::OptimizerOn<Device>> optimizer = {};           ///< default Sgd{}
    std::map<std::string, layer::OptimizerOn<Device>> optimizers = {};  ///< optimizers for single parameters, by name
    layer::GradientClipOn<Device> clip = {};  ///< gradient clipping, e.g. layer::ClipByGlobalNorm{.max_norm = 1}
    layer::Schedule schedule = {};            ///< learning-rate schedule, e.g. layer::CosineDecay{.steps = 10'000}
    std::int64_t epochs = 1;                  ///< number of epochs; each calls the reader once
    bool progress = false;                    ///< print a line to standard error for every epoch
    std::uint64_t seed = 0;                   ///< for the initialization of parameters and for dropout
    Device exec = {};                         ///< number of threads, or the stream
    std::function<void(BatchReport const&)> on_batch = {};                     ///< called after every batch
    std::function<void(std::int64_t epoch, Parameters const&)> on_epoch = {};  ///< called after every epoch
    Parameters const* resume = nullptr;  ///< result of an earlier training to continue from
};
/// The settings of train and Trainer for a net on the host.
using TrainOptions = TrainOptionsOn<Cpu>;

}  // namespace rowan::inline v0
