// rowan/core/detail/blocks.hpp: blocks of memory from the system, and free ones that a pool keeps.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>

namespace rowan::inline v0::detail {

class FreeBlocks;

/// Stands before each block.
struct BlockHeader {
    void* memory;       // what the system gave
    FreeBlocks* pool;   // where the block goes when it is let go of; none: to the system
    std::size_t bytes;  // that it was made for
    BlockHeader* next;  // of the free ones
};

inline constexpr std::size_t block_alignment = 64;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr std::size_t huge_from = 2 * huge_page;

/// A block with room for so many bytes, on whole huge pages where it is large.
/// errors   std::bad_alloc
BlockHeader* new_block(std::size_t bytes, std::size_t alignment, FreeBlocks* pool);

/// Free blocks by size. They live as long as their pool and all blocks that are in use.
class FreeBlocks {
public:
    explicit FreeBlocks(std::size_t most) : most_(most) {}
    FreeBlocks(FreeBlocks const&) = delete;
    FreeBlocks& operator=(FreeBlocks const&) = delete;

    /// A block with room for so many bytes. Free ones of other sizes are left to requests of theirs, so that what has once been asked for,
    /// in whatever order, is there the next time.
    /// errors   std::bad_alloc
    BlockHeader* take(std::size_t bytes);

    /// Takes back what `take` gave.
    void put(BlockHeader* block) noexcept;

    /// Gives the free blocks back to the system.
    void clear() noexcept;
    std::size_t kept() const noexcept;

    /// The pool is gone: blocks in use go to the system from now on, and this with the last of them.
    void close() noexcept;

private:
    // Sizes, `steps` of them from each power of two to the next: 64, 80, 96, 112, 128, 160 ...
    static constexpr std::size_t steps = 4, smallest = 64;
    static constexpr std::size_t size_of(std::size_t c) { return (steps + c % steps) << (c / steps + 4); }
    static constexpr std::size_t at_most(std::size_t bytes) {
        auto const power = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
        return (power - 6) * steps + (bytes >> (power - 2)) - steps;
    }
    static constexpr std::size_t at_least(std::size_t bytes) { return bytes <= smallest ? 0 : at_most(bytes - 1) + 1; }

    void clear_locked() noexcept;

    void leave(std::unique_lock<std::mutex>& lock) noexcept;

    std::mutex mutable mutex_;
    std::array<BlockHeader*, (64 - 6) * steps> free_{};
    std::size_t most_, kept_ = 0;
    std::size_t users_ = 1;  // the pool, and blocks in use
    bool closed_ = false;
};

/// The pool that this thread takes its blocks from, or none.
inline FreeBlocks*& current_pool() noexcept {
    thread_local FreeBlocks* pool = nullptr;
    return pool;
}

inline BlockHeader* header_of(void* block) noexcept {
    return std::launder(reinterpret_cast<BlockHeader*>(static_cast<char*>(block) - sizeof(BlockHeader)));
}

}  // namespace rowan::inline v0::detail

#include <rowan/core/detail/blocks_inl.hpp>
