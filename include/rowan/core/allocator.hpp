// rowan/core/allocator.hpp: memory for tensors, aligned to cache lines and on huge pages where it is large.
#pragma once

#include <rowan/core/detail/blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace rowan::inline v0 {

/// A standard allocator whose blocks start at a multiple of 64 bytes and are not initialised. From 4 MiB on a block fills whole
/// 2 MiB pages and asks the system to back them by huge ones: rows read at random are then found without a page walk.
/// Blocks come from the thread's MemoryPool where there is one, and go back to it.
/// errors   std::bad_alloc
template <class T>
struct Allocator {
    using value_type = T;

    /// Where blocks start: at multiples of this many bytes.
    static constexpr std::size_t alignment = std::max(alignof(T), detail::block_alignment);
    /// The size of the system's large pages, in bytes.
    static constexpr std::size_t huge_page = detail::huge_page;
    /// Blocks of this many bytes or more fill whole large pages.
    static constexpr std::size_t huge_from = detail::huge_from;

    Allocator() = default;  ///< of any element type: all are equal
    template <class U>
    Allocator(Allocator<U> const&) noexcept {}

    /// Memory for `n` elements.
    /// errors   std::bad_alloc
    /// cost     of a block that the pool has O(1), else one of the system's allocations
    [[nodiscard]] T* allocate(std::size_t n) {
        if (n > (std::numeric_limits<std::size_t>::max() / 4) / sizeof(T)) throw std::bad_array_new_length();
        std::size_t const bytes = n * sizeof(T);
        if constexpr (alignment == detail::block_alignment) {
            if (auto* const pool = detail::current_pool(); pool != nullptr)
                return reinterpret_cast<T*>(pool->take(bytes) + 1);
        }
        return reinterpret_cast<T*>(detail::new_block(bytes, alignment, nullptr) + 1);
    }

    /// Gives a block back to the pool that it is from, or to the system.
    void deallocate(T* block, std::size_t) noexcept {
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

/// What an algorithm needs for a while, from the thread's MemoryPool where there is one.
template <class T>
using Buffer = std::vector<T, Allocator<T>>;

}  // namespace detail

}  // namespace rowan::inline v0
