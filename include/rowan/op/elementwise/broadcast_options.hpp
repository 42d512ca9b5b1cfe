// rowan/op/elementwise/broadcast_options.hpp: BroadcastOptions, how the shapes of two tensors are aligned.
#pragma once

#include <rowan/core/fields.hpp>

#include <cstdint>

namespace rowan::inline v0 {

/// How two shapes are aligned.
struct BroadcastOptions {
    std::int64_t axis = -1;  ///< the dim of x that is the first one of y, as in Paddle; -1: aligned at the last dims
    ROWAN_OPTIONS(BroadcastOptions, axis)
};

}  // namespace rowan::inline v0
