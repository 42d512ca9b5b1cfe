// rowan/detail/pooling.hpp: Pooling, how the rows of a sequence or of a bag of ids are reduced.
#pragma once

#include <rowan/core/error.hpp>

#include <cstdint>

namespace rowan::inline v0 {

/// How the rows of a sequence are reduced. sqrt is the sum divided by the square root of the length.
enum class Pooling : std::int32_t { sum = 0, mean = 1, sqrt = 2, max = 3, min = 4, first = 5, last = 6 };

namespace detail {

inline void check_pool(Pooling pool) {
    if (pool < Pooling::sum || pool > Pooling::last)
        throw ValueError("pool", static_cast<int>(pool), "one of sum, mean, sqrt, max, min, first, last");
}

}  // namespace detail

}  // namespace rowan::inline v0
