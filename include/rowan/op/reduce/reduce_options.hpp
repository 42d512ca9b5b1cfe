// rowan/op/reduce/reduce_options.hpp: ReduceOptions, the axes of a reduction.
#pragma once

#include <rowan/core/fields.hpp>

#include <cstdint>
#include <vector>

namespace rowan::inline v0 {

/// The axes of a reduction.
struct ReduceOptions {
    std::vector<std::int64_t> axes{};  ///< in any order; -1 is the last one; empty: all axes
    bool keep_dims = false;            ///< whether the result has dims of 1 for these axes
    ROWAN_OPTIONS(ReduceOptions, axes, keep_dims)
};

}  // namespace rowan::inline v0
