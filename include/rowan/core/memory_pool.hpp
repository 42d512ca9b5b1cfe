// rowan/core/memory_pool.hpp: MemoryPool, which keeps the memory that tensors let go of for the next ones.
#pragma once

#include <rowan/core/detail/blocks.hpp>

#include <cstddef>
#include <limits>
#include <utility>

namespace rowan::inline v0 {

/// Keeps the memory of tensors that are gone, and gives it to new ones: no call of the system, no page that the kernel must clear, which
/// is half of what a large fresh result costs. A thread uses the pool while it has a Guard:
///
///     rowan::MemoryPool pool;
///     rowan::MemoryPool::Guard const guard(pool);
///     for (auto const& ids : batches) {
///         auto const rows = rowan::gather(table, ids);  // from the second time on in the same memory
///     }
///
/// Tensors may outlive guard and pool, and may be let go of by any thread.
/// cost     a block is at most a quarter larger than what it holds, and from 4 MiB on fills whole huge pages. Batches of many sizes leave
///          blocks of many sizes: give a bound where that is too much
class MemoryPool {
public:
    /// `most`: how many bytes of free memory are kept; what is more goes to the system.
    explicit MemoryPool(std::size_t most = std::numeric_limits<std::size_t>::max())
        : free_(new detail::FreeBlocks(most)) {}
    MemoryPool(MemoryPool const&) = delete;  ///< not copied
    MemoryPool& operator=(MemoryPool const&) = delete;
    ~MemoryPool() { free_->close(); }

    /// The bytes of the memory that is free.
    std::size_t kept() const noexcept { return free_->kept(); }
    /// Gives free memory back to the system.
    void clear() noexcept { free_->clear(); }

    /// While it lives, this thread's tensors come from the pool, and not from one that it used before. It may not outlive the pool.
    class [[nodiscard]] Guard {
    public:
        /// `pool` is the thread's until the guard is gone.
        explicit Guard(MemoryPool& pool) noexcept : before_(std::exchange(detail::current_pool(), pool.free_)) {}
        Guard(Guard const&) = delete;
        Guard& operator=(Guard const&) = delete;
        ~Guard() { detail::current_pool() = before_; }

    private:
        detail::FreeBlocks* before_;
    };

private:
    detail::FreeBlocks* free_;
};

}  // namespace rowan::inline v0
