// rowan/core/kept_memory.hpp: the freed memory that the process keeps for new tensors.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>

namespace rowan::inline v0 {

/// Returns the number of bytes of free memory that the process keeps.
///
/// When a tensor of 128 KiB or more is freed, the process keeps its block for a new tensor of about that size. So a
/// large result does not cost a page fault for each page. The limit is an eighth of the memory of the machine, or of
/// its control group if that has less; the environment variable ROWAN_KEPT_MEMORY sets another one in bytes, and 0
/// keeps nothing. Beyond the limit, the blocks of the size whose last use is longest ago go back to the system first.
/// If the system has no memory left, all go back. A thread that uses a MemoryPool keeps its blocks there instead.
/// errors   Error if ROWAN_KEPT_MEMORY is not a number; the first allocation of such a block throws it, too
/// cost     O(1)
std::size_t kept_memory();

/// Sets the maximum number of bytes to keep, and returns memory beyond it to the system.
/// errors   none
/// cost     O(blocks that are returned)
void limit_kept_memory(std::size_t most);

/// Returns all free memory that the process keeps to the system.
/// errors   none
/// cost     O(blocks)
void release_memory();

}  // namespace rowan::inline v0

#include <rowan/core/kept_memory_inl.hpp>
