// rowan/layer/schedule.hpp: layer::Schedule, how the learning rate changes while a net is trained, and those that there are.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/sparse/adam.hpp>

#include <cstdint>
#include <functional>

namespace rowan::inline v0::layer {

/// What the learning rate of every optimizer is multiplied by in a step, the first being step 0. Steps of a resumed training go on.
///     .schedule = [](std::int64_t step) { return 1 / (1 + 0.01 * static_cast<double>(step)); }
using Schedule = std::function<double(std::int64_t step)>;

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// Which part of so many steps has been made.
double part_of_steps(std::int64_t step, std::int64_t steps);

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

// Those below throw a ValueError when they are called with a number of steps less than 1. Powers and cosines are those of the C library.

/// factor
struct ConstantRate {
    double factor = 1;  ///< of every step

    double operator()(std::int64_t) const { return factor; }  ///< the same in every step
};

/// rate^(step / steps): `rate` after so many steps.
struct ExponentialDecay {
    double rate = 0.96;         ///< after so many steps
    std::int64_t steps = 1000;  ///< how many

    /// Of a step, from 0 on.
    /// errors   ValueError if steps is less than 1
    /// cost     O(1)
    double operator()(std::int64_t step) const;
};

/// rate^⌊step / steps⌋: `rate` times what it was, after every so many steps.
struct StepDecay {
    double rate = 0.1;          ///< after so many steps
    std::int64_t steps = 1000;  ///< how many

    /// Of a step, from 0 on.
    /// errors   ValueError if steps is less than 1
    /// cost     O(log(step / steps))
    double operator()(std::int64_t step) const;
};

/// From 1 down to `least` along half a cosine, and `least` after so many steps (Loshchilov and Hutter 2017, without restarts).
struct CosineDecay {
    std::int64_t steps = 1000;  ///< from the first step to `least`
    double least = 0;           ///< from there on

    /// Of a step, from 0 on.
    /// errors   ValueError if steps is less than 1
    /// cost     O(1)
    double operator()(std::int64_t step) const;
};

/// Evenly up to what `then` begins with, which the last of so many steps has: step 0 has 1 / steps of it. Then `then`, counted from 0 on.
///     .schedule = layer::Warmup{.steps = 100, .then = layer::CosineDecay{.steps = 10'000}}
struct Warmup {
    std::int64_t steps = 1000;       ///< until `then` begins
    Schedule then = ConstantRate{};  ///< what comes after it

    /// Of a step, from 0 on.
    /// errors   ValueError if steps is less than 1; what `then` throws
    /// cost     O(1), and what `then` costs
    double operator()(std::int64_t step) const;
};

}  // namespace rowan::inline v0::layer

#include <rowan/layer/schedule_inl.hpp>
