// rowan/core/detail/number_range.hpp: NumberRange, the numbers that an argument may hold.
#pragma once

#include <rowan/core/detail/config.hpp>

namespace rowan::inline v0::detail {

/// The numbers from `least` to `most`, and how an error names them.
struct NumberRange {
    double least, most;
    char const* expected;

    ROWAN_HD bool has(double x) const { return x >= least && x <= most; }
};

}  // namespace rowan::inline v0::detail
