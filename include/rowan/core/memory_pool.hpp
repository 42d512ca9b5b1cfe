// rowan/core/memory_pool.hpp: MemoryPool, a cache of freed tensor memory.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <limits>

namespace rowan::inline v0 {

namespace detail {

class FreeBlocks;

}  // namespace detail

/// Keeps the memory of destroyed tensors of any size and reuses it for new ones, without a limit unless one is given.
/// (Without a pool, the process keeps large blocks only: kept_memory.hpp.) A thread uses the pool while it holds a
/// Guard:
///
///     rowan::MemoryPool pool;
///     rowan::MemoryPool::Guard const guard(pool);
///     for (auto const& ids : batches) {
///         auto const rows = rowan::gather(table, ids);  // reuses the same memory from the second batch on
///     }
///
/// Tensors may outlive the guard and the pool, and may be destroyed by any thread.
/// cost     a block is at most a quarter larger than requested (at least 64 bytes), and from 4 MiB on fills whole huge
///          pages; batches of many sizes leave free blocks of many sizes, which `most` limits
class MemoryPool {
public:
    /// `most` is the maximum number of bytes of free memory to keep. Beyond it, blocks of the sizes that were not used
    /// for the longest time are returned to the system.
    explicit MemoryPool(std::size_t most = std::numeric_limits<std::size_t>::max());
    MemoryPool(MemoryPool const&) = delete;  ///< not copyable
    MemoryPool& operator=(MemoryPool const&) = delete;
    ~MemoryPool();

    /// The number of bytes of free memory in the pool.
    std::size_t kept() const noexcept;
    /// Returns the free memory to the system.
    void clear() noexcept;

    /// During its lifetime, the thread allocates tensors from the pool instead of the pool it used before.
    /// requires   the pool outlives the guard
    class [[nodiscard]] Guard {
    public:
        /// Makes `pool` the thread's pool until the guard is destroyed.
        explicit Guard(MemoryPool& pool) noexcept;
        Guard(Guard const&) = delete;
        Guard& operator=(Guard const&) = delete;
        ~Guard();

    private:
        detail::FreeBlocks* before_;
    };

private:
    detail::FreeBlocks* free_;
};

}  // namespace rowan::inline v0

#include <rowan/core/memory_pool_inl.hpp>
