// rowan/core/memory_pool_inl.hpp: definitions of rowan/core/memory_pool.hpp.
#pragma once

#include <rowan/core/memory_pool.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/blocks.hpp>

#include <utility>

namespace rowan::inline v0 {

ROWAN_FUNCTION MemoryPool::MemoryPool(std::size_t most) : free_(new detail::FreeBlocks(most)) {}
ROWAN_FUNCTION MemoryPool::~MemoryPool() { free_->close(); }

ROWAN_FUNCTION std::size_t MemoryPool::kept() const noexcept { return free_->kept(); }
ROWAN_FUNCTION void MemoryPool::clear() noexcept { free_->clear(); }

ROWAN_FUNCTION MemoryPool::Guard::Guard(MemoryPool& pool) noexcept
    : before_(std::exchange(detail::current_pool(), pool.free_)) {}
ROWAN_FUNCTION MemoryPool::Guard::~Guard() { detail::current_pool() = before_; }

}  // namespace rowan::inline v0

#endif
