// rowan/core/allocator.hpp: memory for tensors, aligned to cache lines; large blocks use huge pages.
#pragma once

#include <rowan/core/detail/blocks.hpp>
#include <rowan/core/detail/run_meter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace rowan::inline v0 {

/// A standard allocator. Blocks are aligned to at least 64 bytes and not initialised. A block of 4 MiB or more fills
/// whole 2 MiB pages and requests huge pages from the system, which avoids page walks when rows are read at random.
/// Blocks come from the thread's MemoryPool, if it has one and alignof(T) is at most 64, and are returned to it.
/// Without a pool, blocks of 128 KiB or more come from the memory that the process keeps (kept_memory.hpp).
/// errors   std::bad_alloc
template <class T>
struct Allocator {
    using value_type = T;

    /// The alignment of blocks, in bytes.
    static constexpr std::size_t alignment = std::max(alignof(T), detail::block_alignment);
    /// The size of the system's huge pages, in bytes.
    static constexpr std::size_t huge_page = detail::huge_page;
    /// Blocks of this many bytes or more fill whole huge pages.
    static constexpr std::size_t huge_from = detail::huge_from;

    Allocator() = default;  ///< stateless
    template <class U>
    Allocator(Allocator<U> const&) noexcept {}

    /// Allocates memory for `n` elements.
    /// errors   std::bad_alloc; ValueError if a run of a net exceeds its Limits
    /// cost     O(1) if the pool or the process has a free block of this size, else one allocation from the system
    [[nodiscard]] T* allocate(std::size_t n) {
        if (n > (std::numeric_limits<std::size_t>::max() / 4) / sizeof(T)) throw std::bad_array_new_length();
        std::size_t const bytes = n * sizeof(T);
        if (auto* const meter = detail::current_meter(); meter != nullptr)
            meter->allocate(static_cast<std::int64_t>(bytes));
        if constexpr (alignment == detail::block_alignment) {
            if (auto* const free = detail::blocks_for(bytes); free != nullptr)
                return reinterpret_cast<T*>(free->take(bytes) + 1);
        }
        return reinterpret_cast<T*>(detail::new_block(bytes, alignment, nullptr) + 1);
    }

    /// Returns a block to its pool, or to the system.
    void deallocate(T* block, std::size_t n) noexcept {
        if (auto* const meter = detail::current_meter(); meter != nullptr)
            meter->release(static_cast<std::int64_t>(n * sizeof(T)));
        detail::BlockHeader* const header = detail::header_of(block);
        if (header->pool == nullptr) {
            ::operator delete(header->memory);
        } else {
            header->pool->put(header);
        }
    }

    /// All allocators are equal.
    template <class U>
    bool operator==(Allocator<U> const&) const noexcept {
        return true;
    }
};

namespace detail {

/// Temporary memory of an algorithm, from the thread's MemoryPool if it has one.
template <class T>
using Buffer = std::vector<T, Allocator<T>>;

}  // namespace detail

}  // namespace rowan::inline v0
