// rowan/core/allocator.hpp: memory for tensors, aligned to cache lines; large blocks use huge pages.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace rowan::inline v0 {
namespace detail {

inline constexpr std::size_t block_alignment = 64;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr std::size_t huge_from = 2 * huge_page;

/// Memory of `bytes` bytes, as Allocator describes.
/// errors   std::bad_alloc; ValueError if a run of a net exceeds its Limits
void* take_memory(std::size_t bytes, std::size_t alignment);
void return_memory(void* memory, std::size_t bytes) noexcept;

/// The same, returned with the last of its owners.
std::shared_ptr<void> share_memory(std::size_t bytes, std::size_t alignment);

/// The bytes of n elements.
/// errors   std::bad_alloc
inline std::size_t size_in_bytes(std::size_t n, std::size_t element) {
    if (n > (std::numeric_limits<std::size_t>::max() / 4) / element) throw std::bad_array_new_length();
    return n * element;
}

}  // namespace detail

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
        return static_cast<T*>(detail::take_memory(detail::size_in_bytes(n, sizeof(T)), alignment));
    }

    /// Returns a block to its pool, or to the system.
    void deallocate(T* block, std::size_t n) noexcept { detail::return_memory(block, n * sizeof(T)); }

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

#include <rowan/core/allocator_inl.hpp>
