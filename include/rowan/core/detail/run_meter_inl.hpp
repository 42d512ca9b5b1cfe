// rowan/core/detail/run_meter_inl.hpp: definitions of rowan/core/detail/run_meter.hpp.
#pragma once

#include <rowan/core/detail/run_meter.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void RunMeter::too_much_memory(std::int64_t bytes) {
    bool const counted = bytes <= most_bytes_;
    std::int64_t const all = counted ? bytes_.load() : bytes;
    if (counted) bytes_ -= bytes;
    throw ValueError("the memory of the run", all, {"at most ", most_bytes_, " bytes"});
}

ROWAN_FUNCTION void RunMeter::too_many_iterations() const {
    throw ValueError("the number of iterations and steps of the run", iterations_.load(),
                     {"at most ", most_iterations_});
}

}  // namespace rowan::inline v0::detail

#endif
