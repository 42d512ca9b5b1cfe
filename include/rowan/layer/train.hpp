// rowan/layer/train.hpp: train, trains the parameters of a net on batches.
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
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

namespace rowan::inline v0 {

/// The report on one batch, passed to on_batch.
struct BatchReport {
    std::int64_t epoch;  ///< counted from 0
    std::int64_t batch;  ///< within the epoch, counted from 0
    double cost;         ///< cost of the batch
};

/// The settings of train for a net on a device.
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
/// The settings of train for a net on the host.
using TrainOptions = TrainOptionsOn<Cpu>;

/// Minimizes `cost`, batch by batch, over the parameters that it depends on, and returns them.
///
///     auto parameters = train(cost, reader, {.optimizer = layer::AdaGrad{.learning_rate = 0.05f}, .epochs = 3});
///
/// `reader` is called with the number of each epoch, counted from 0, and returns a range of Feeds. On a device, each
/// batch synchronizes once, to read its cost; bad ids are reported then. The returned parameters are in device memory.
/// shapes   cost [1]
/// errors   GraphError if cost does not depend on a parameter, an operator between them has no gradient, the net has a
///          cycle, options.optimizers contains a name that is not a parameter, a schedule is given for an optimizer
///          without a learning rate, options.resume lacks a parameter, or a batch lacks a variable or contains a name
///          that no layer::data declared; TypeError if the optimizer or options.clip does not support the element type
///          of a parameter or its gradient; TypeError or ShapeError if the element type, rank, a dim or the number of
///          levels of a value in a batch or in options.resume differs from the variable's; ShapeError if a batch has no
///          rows or the cost is not one number; ValueError if the cost of a batch or the schedule's factor is not
///          finite, or an optimizer rejects an option. On error, all parameters have the values from before that batch,
///          and the variables keep them
/// cost     for each batch, that of its operators; what train adds to the net is removed when it ends
template <class T, class Device, class Reader>
Parameters train(layer::Var<T, Device> const& cost, Reader&& reader,
                 TrainOptionsOn<std::type_identity_t<Device>> const& options = {}) {
    detail::ScopeUse const use(cost->scope());
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
