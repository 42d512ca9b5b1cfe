// rowan/sequence/step_map_inl.hpp: definitions of rowan/sequence/step_map.hpp.
#pragma once

#include <rowan/sequence/step_map.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Tensor<std::int64_t> StepElements<Cpu>::make(Cpu exec, StepMap<> const& map) {
    return StepMapAccess::make_elements(exec, map);
}

}  // namespace rowan::inline v0::detail

#endif
