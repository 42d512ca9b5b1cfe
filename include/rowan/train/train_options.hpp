// rowan/train/train_options.hpp: TrainOptions, the settings of train and Trainer.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/comm.hpp>
#include <rowan/train/early_stop.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/gradient_clip.hpp>
#include <rowan/train/moving_average.hpp>
#include <rowan/train/optimizer.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/parts.hpp>
#include <rowan/train/schedule.hpp>
#include <rowan/train/train_checkpoint.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// The report on one step, passed to on_batch: on one batch, or, with options.parts, on several.
struct BatchReport {
    std::int64_t epoch;  ///< counted from 0
    std::int64_t batch;  ///< the step within the epoch, counted from 0
    double cost;         ///< cost of the batch; of several, that of them as one batch; 0 if there are no rows
    std::int64_t rows;   ///< those of which the cost is a mean or sum, of its loss with most; 0: nothing has changed
};

/// A function that train calls, or none. If it returns false, train ends; a function without a result never ends it.
///     .on_batch = [](BatchReport const& r) { return r.cost > 0.01; }
template <class... Args>
class Callback {
public:
    Callback() = default;  ///< none
    /// Wraps a function. An empty std::function is none.
    /// errors   std::bad_alloc
    /// cost     at most two allocations
    template <std::invocable<Args...> F>
    requires(!std::same_as<F, Callback>) Callback(F f) {
        if constexpr (std::is_pointer_v<F> || requires { f.operator bool(); }) {
            if (!f) return;
        }
        if constexpr (std::same_as<std::invoke_result_t<F&, Args...>, bool>) {
            call_ = std::move(f);
        } else {
            call_ = [f = std::move(f)](Args... args) mutable {
                static_cast<void>(f(args...));
                return true;
            };
        }
    }

    explicit operator bool() const noexcept { return static_cast<bool>(call_); }  ///< whether it holds a function
    /// Calls the function, if there is one. Returns whether training goes on.
    /// errors   those of the function
    /// cost     that of the function
    bool operator()(Args... args) const { return !call_ || call_(args...); }

private:
    std::function<bool(Args...)> call_;
};

namespace detail {

/// An optimizer that options give, or Sgd{}. Sgd is made where ranks agree, since it needs memory, and compiled only in
/// programs that leave it out.
template <class Device>
class OptimizerOrSgd {
public:
    OptimizerOrSgd() noexcept : make_([] { return layer::OptimizerOn<Device>(layer::Sgd{}); }) {}
    template <std::convertible_to<layer::OptimizerOn<Device>> O>
    OptimizerOrSgd(O const& o) : given_(o) {}
    template <class O, class... T>
    OptimizerOrSgd(O const& o, dtypes<T...> types) : given_(std::in_place, o, types) {}

    layer::OptimizerOn<Device> made() const { return given_ ? *given_ : make_(); }

private:
    std::optional<layer::OptimizerOn<Device>> given_;
    layer::OptimizerOn<Device> (*make_)() = nullptr;
};

}  // namespace detail

/// The settings of train and Trainer for a net on a device.
template <class Device>
struct TrainOptionsOn {
    detail::OptimizerOrSgd<Device> optimizer = {};                      ///< e.g. layer::Adam{}; default layer::Sgd{}
    std::map<std::string, layer::OptimizerOn<Device>> optimizers = {};  ///< optimizers for single parameters, by name
    std::map<std::string, double> rates = {};  ///< factors of the learning rates of single parameters, by name
    layer::GradientClipOn<Device> clip = {};   ///< gradient clipping, e.g. layer::ClipByGlobalNorm{.max_norm = 1}
    layer::Schedule schedule = {};             ///< learning-rate schedule, e.g. layer::CosineDecay{.steps = 10'000}
    layer::AverageOn<Device> average = {};     ///< averages of parameters, e.g. layer::MovingAverage{.decay = 0.999}
    layer::CommOn<Device> comm = {};           ///< the ranks that train together, default this process alone
    layer::PartsOn<Device> parts = {};         ///< number of batches that make a step
    std::int64_t check_every = 0;              ///< after so many steps ranks compare their parameters; 0: never
    bool overlap = false;                      ///< whether ranks exchange while the net runs: see layer::Comm
    /// How long this rank waits for another one, which may be stuck in its reader, before it throws RemoteError, after which
    /// the communicator refuses all calls: see layer::Comm. 0: for ever.
    std::chrono::milliseconds patience = {};
    std::int64_t epochs = 1;                     ///< number of epochs; each calls the reader once
    layer::TrainCheckpoint checkpoint = {};      ///< saves from which train goes on when it is called again
    bool progress = false;                       ///< print a line to standard error for every epoch, with the metrics
    Metrics metrics = {};                        ///< computed after every epoch, for the line and for `stop`
    std::optional<layer::EarlyStop> stop = {};   ///< when to end before the last epoch; the result is the best epoch's
    std::uint64_t seed = 0;                      ///< for the initialization of parameters and for dropout
    Device exec = {};                            ///< number of threads, or the stream
    Callback<BatchReport const&> on_batch = {};  ///< called after every step; false ends the training
    Callback<std::int64_t, Parameters const&> on_epoch = {};  ///< called after every epoch with its number; false ends
    /// Results of operators that the cost needs, whose values stay in their variables after a step, such as states with
    /// which the next one begins: .keep = {&*last}, then last->value(). Of several batches of a step, those of the last
    /// one that this rank runs.
    std::vector<Variable*> keep = {};
    Feeds initial = {};  ///< first values of some parameters, e.g. {{"embedding_0.w_0", table}}; excludes resume
    /// Result of an earlier training to continue from, with its states if it has made steps. Its parameters alone are
    /// `initial` values of a new training.
    Parameters const* resume = nullptr;

    ~TrainOptionsOn();  // in train_settings.hpp, and in the compiled library; copies instead of moves
};

namespace detail {

struct TrainSettings;

/// Complete where settings of other devices than the host can be made, see train_settings.hpp.
template <class Device>
struct CanMakeSettings;

/// TrainSettings of a TrainOptionsOn<Device>.
template <class Device>
TrainSettings settings_of(void const* options);

/// Options, which must outlive it. It makes the settings when it is called: this needs memory, so that ranks do so where
/// they agree whether it failed.
class MakeSettings {
public:
    template <class Device>
    explicit MakeSettings(TrainOptionsOn<Device> const& options) noexcept
        : options_(&options), settings_(&settings_of<Device>) {
        static_assert(
            !ROWAN_DECLARES_OPERATORS || std::is_same_v<Device, Cpu> || requires { CanMakeSettings<Device>{}; },
            "rowan::train: the compiled library does not train on this device: #include <rowan/own_operator.hpp>");
    }
    TrainSettings operator()() const;

private:
    void const* options_;
    TrainSettings (*settings_)(void const* options);
};

}  // namespace detail

/// The settings of train and Trainer for a net on the host.
using TrainOptions = TrainOptionsOn<Cpu>;

}  // namespace rowan::inline v0

#include <rowan/train/train_options_inl.hpp>
#if !ROWAN_DECLARES_OPERATORS
#include <rowan/train/detail/train_settings.hpp>
#endif
