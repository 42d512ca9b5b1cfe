// rowan/core/kept_memory_inl.hpp: definitions of rowan/core/kept_memory.hpp.
#pragma once

#include <rowan/core/kept_memory.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/blocks.hpp>

namespace rowan::inline v0 {

ROWAN_FUNCTION std::size_t kept_memory() { return detail::process_blocks().kept(); }
ROWAN_FUNCTION void limit_kept_memory(std::size_t most) { detail::process_blocks().limit(most); }
ROWAN_FUNCTION void release_memory() { detail::process_blocks().clear(); }

}  // namespace rowan::inline v0

#endif
