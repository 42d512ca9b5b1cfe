// rowan/layer/train.hpp: train, parameters from batches.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/detail/trainer.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/gradient_clip.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/schedule.hpp>
#include <rowan/layer/var.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// What a callback hears of a batch.
struct BatchReport {
    std::int64_t epoch;  ///< from 0 on
    std::int64_t batch;  ///< of the epoch, from 0 on
    double cost;         ///< its value
};

/// Of a net on a device.
template <class Device>
struct TrainOptionsOn {
    std::optional<layer::OptimizerOn<Device>> optimizer = {};           ///< Sgd{} unless given
    std::map<std::string, layer::OptimizerOn<Device>> optimizers = {};  ///< other ones for parameters of these names
    layer::GradientClipOn<Device> clip = {};  ///< what gradients are limited to: layer::ClipByGlobalNorm{.max_norm = 1}
    layer::Schedule schedule = {};            ///< how learning rates change: layer::CosineDecay{.steps = 10'000}
    std::int64_t epochs = 1;                  ///< how often the reader is asked for batches
    bool progress = false;                    ///< a line on the standard error output for every epoch
    std::uint64_t seed = 0;                   ///< of the first values of parameters, and of dropout
    Device exec = {};                         ///< how many threads, or which stream
    std::function<void(BatchReport const&)> on_batch = {};                     ///< called after every batch
    std::function<void(std::int64_t epoch, Parameters const&)> on_epoch = {};  ///< called after every epoch
    Parameters const* resume = nullptr;  ///< what an earlier training gave: go on from there
};
/// Of a net on the host.
using TrainOptions = TrainOptionsOn<Cpu>;

/// Changes the parameters that `cost` depends on, batch by batch, so that it becomes less, and returns them.
///
///     auto parameters = train(cost, reader, {.optimizer = layer::AdaGrad{.learning_rate = 0.05f}, .epochs = 3});
///
/// `reader` is called with the number of each epoch, from 0 on, and returns a range of Feeds. On a device every batch is waited for
/// once, for its cost; bad ids are found then. What is returned is in the device's memory.
/// shapes   cost [1]
/// errors   GraphError if cost does not depend on a parameter, a net has a cycle, options.optimizers names no parameter, there is a
///          schedule for an optimizer without a learning rate, or a batch does not bring a variable or brings one that no layer::data has
///          declared;
///          TypeError if a parameter or its gradient has elements that no optimizer or clip is for; TypeError and ShapeError if a batch
///          brings another element type, rank, dim or number of levels than declared, or no rows; ShapeError if the cost is not one
///          number; ValueError if the cost of a batch or the schedule's factor is not finite, or an optimizer refuses one of its options.
///          The parameters are then as they were before that batch, all of them, and stay with the variables
/// cost     of a batch, what its operators cost. What training adds to the net goes when it ends
template <class T, class Device, class Reader>
Parameters train(layer::Var<T, Device> const& cost, Reader&& reader,
                 TrainOptionsOn<std::type_identity_t<Device>> const& options = {}) {
    detail::Trainer<T, Device> trainer(*cost, options.optimizer.value_or(layer::Sgd{}), options.optimizers,
                                       options.clip, options.schedule);
    trainer.begin(options.seed, options.resume, options.exec);
    for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        auto const start = std::chrono::steady_clock::now();
        std::int64_t batch = 0;
        double sum = 0;
        for (Feeds const& feeds : reader(epoch)) {
            double const value = trainer.step(feeds, options.exec);
            sum += value;
            if (options.on_batch) options.on_batch({epoch, batch, value});
            ++batch;
        }
        if (options.on_epoch) options.on_epoch(epoch, trainer.parameters(options.exec));
        if (!options.progress) continue;
        std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
        std::fprintf(stderr, "epoch %lld: mean cost %g over %lld batches, %.3f s\n", static_cast<long long>(epoch + 1),
                     sum / static_cast<double>(std::max<std::int64_t>(batch, 1)), static_cast<long long>(batch),
                     seconds.count());
    }
    return trainer.parameters(options.exec);
}

}  // namespace rowan::inline v0
