// rowan/train/schedule.hpp: layer::Schedule, the learning rate as a function of the step, and the built-in schedules.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/sparse/adam.hpp>

#include <cstdint>
#include <functional>

namespace rowan::inline v0::layer {

/// Returns the factor that multiplies the learning rate of every optimizer in a step. Steps are counted from 0; a
/// resumed training continues the count.
///     .schedule = [](std::int64_t step) { return 1 / (1 + 0.01 * static_cast<double>(step)); }
using Schedule = std::function<double(std::int64_t step)>;

// ExponentialDecay and CosineDecay use std::pow and std::cos of the C library; StepDecay only multiplies.

/// A constant factor.
struct ConstantRate {
    double factor = 1;  ///< returned for every step

    double operator()(std::int64_t) const { return factor; }  ///< returns factor
};

/// rate^(step / steps): decays to `rate` after `steps` steps.
struct ExponentialDecay {
    double rate = 0.96;         ///< factor per `steps` steps
    std::int64_t steps = 1000;  ///< number of steps for one factor of `rate`

    /// Returns the factor of a step, counted from 0.
    /// errors   ValueError if steps is less than 1
    /// cost     O(1)
    double operator()(std::int64_t step) const;
};

/// rate^⌊step / steps⌋: multiplied by `rate` after every `steps` steps.
struct StepDecay {
    double rate = 0.1;          ///< factor per `steps` steps
    std::int64_t steps = 1000;  ///< number of steps between decays

    /// Returns the factor of a step, counted from 0.
    /// errors   ValueError if steps is less than 1
    /// cost     O(log(step / steps))
    double operator()(std::int64_t step) const;
};

/// Decays from 1 to `least` along half a cosine wave over `steps` steps, then stays at `least` (Loshchilov and Hutter
/// 2017, without restarts).
struct CosineDecay {
    std::int64_t steps = 1000;  ///< number of steps until `least`
    double least = 0;           ///< final factor

    /// Returns the factor of a step, counted from 0.
    /// errors   ValueError if steps is less than 1
    /// cost     O(1)
    double operator()(std::int64_t step) const;
};

/// Linear warm-up: step k < steps has the factor (k + 1) / steps · then(0); later steps have then(k - steps).
///     .schedule = layer::Warmup{.steps = 100, .then = layer::CosineDecay{.steps = 10'000}}
struct Warmup {
    std::int64_t steps = 1000;       ///< number of warm-up steps
    Schedule then = ConstantRate{};  ///< schedule after the warm-up

    /// Returns the factor of a step, counted from 0.
    /// errors   ValueError if steps is less than 1; what `then` throws
    /// cost     O(1), plus that of `then`
    double operator()(std::int64_t step) const;
};

}  // namespace rowan::inline v0::layer

#include <rowan/train/schedule_inl.hpp>
