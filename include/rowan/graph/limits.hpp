// rowan/graph/limits.hpp: Limits, what a net may use when it runs.
#pragma once

#include <rowan/version.hpp>

#include <cstdint>

namespace rowan::inline v0 {

/// What a run of a net may use, for nets that come from somebody else: see LoadOptions and Scope::limits. By default
/// there are no limits. A run that exceeds one throws a ValueError, which names the operator.
struct Limits {
    std::int64_t iterations = 0;  ///< of all loops, and steps of recurrent nets, together; 0: no limit
    std::int64_t bytes = 0;       ///< of memory on the host beyond what there was before the run; 0: no limit
};

}  // namespace rowan::inline v0
