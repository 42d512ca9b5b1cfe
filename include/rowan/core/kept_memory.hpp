// rowan/core/kept_memory.hpp: the freed memory that the process keeps for new tensors.
#pragma once

#include <rowan/core/detail/blocks.hpp>

#include <cstddef>

namespace rowan::inline v0 {

/// The process keeps freed blocks of 1 MiB or more for new tensors of about the same size, so that a large result does
/// not cost a page fault for each page. At most an eighth of the machine's memory (of its control group's, if that is
/// less) is kept. The environment variable ROWAN_KEPT_MEMORY sets another limit in bytes; 0 keeps nothing. Blocks of
/// sizes that were not used for the longest time go back to the system first; all do if the system has no memory left.
/// Threads that use a MemoryPool keep their blocks there instead.
///
/// Returns the number of bytes of free memory that the process keeps.
/// errors   the first use of this memory throws Error if ROWAN_KEPT_MEMORY is not a number
/// cost     O(1)
inline std::size_t kept_memory() { return detail::process_blocks().kept(); }

/// Sets the maximum number of bytes to keep, and returns memory beyond it to the system.
/// errors   none
/// cost     O(blocks that are returned)
inline void limit_kept_memory(std::size_t most) { detail::process_blocks().limit(most); }

/// Returns all free memory that the process keeps to the system.
/// errors   none
/// cost     O(blocks)
inline void release_memory() { detail::process_blocks().clear(); }

}  // namespace rowan::inline v0
