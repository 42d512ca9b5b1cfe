// rowan/train/schedule_inl.hpp: definitions of rowan/train/schedule.hpp.
#pragma once

#include <rowan/train/schedule.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cmath>
#include <numbers>

namespace rowan::inline v0::detail {

/// step / steps
inline double part_of_steps(std::int64_t step, std::int64_t steps) {
    if (steps < 1) throw ValueError("steps", steps, "1 or more");
    return static_cast<double>(step) / static_cast<double>(steps);
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

ROWAN_FUNCTION double ExponentialDecay::operator()(std::int64_t step) const {
    return std::pow(rate, rowan::detail::part_of_steps(step, steps));
}

ROWAN_FUNCTION double StepDecay::operator()(std::int64_t step) const {
    static_cast<void>(rowan::detail::part_of_steps(step, steps));
    return rowan::detail::power(rate, step / steps);
}

ROWAN_FUNCTION double CosineDecay::operator()(std::int64_t step) const {
    double const part = std::min(rowan::detail::part_of_steps(step, steps), 1.0);
    return least + (1 - least) * 0.5 * (1 + std::cos(std::numbers::pi * part));
}

ROWAN_FUNCTION double Warmup::operator()(std::int64_t step) const {
    double const part = rowan::detail::part_of_steps(step + 1, steps);
    return step < steps ? part * then(0) : then(step - steps);
}

}  // namespace rowan::inline v0::layer

#endif
