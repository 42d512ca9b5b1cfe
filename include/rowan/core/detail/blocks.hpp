// rowan/core/detail/blocks.hpp: blocks of memory from the system, and the free blocks of a memory pool.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

namespace rowan::inline v0::detail {

class FreeBlocks;

/// The header in front of each block.
struct BlockHeader {
    void* memory;       // the system's allocation
    FreeBlocks* pool;   // the pool to return the block to; nullptr: the system
    std::size_t bytes;  // the size passed to new_block
    BlockHeader* next;  // the next free block of the same size class
};

/// Blocks of this many bytes or more, outside of pools, are kept by the process: from here on malloc may map fresh
/// pages, or return freed ones to the system.
inline constexpr std::size_t kept_from = std::size_t{128} << 10;

/// Allocates a block of `bytes` bytes from the system; from huge_from bytes on it fills whole huge pages. If the system
/// has no memory, the memory that the process keeps is released first.
/// errors   std::bad_alloc
BlockHeader* new_block(std::size_t bytes, std::size_t alignment, FreeBlocks* pool);

/// The free blocks of a pool, by size class. Thread-safe. It is deleted with the pool or with the last block in use,
/// whichever is later.
class FreeBlocks {
public:
    /// errors   std::bad_alloc
    explicit FreeBlocks(std::size_t most);
    FreeBlocks(FreeBlocks const&) = delete;
    FreeBlocks& operator=(FreeBlocks const&) = delete;

    /// Returns a block of at least `bytes` bytes. Only free blocks of the same size class are reused, so that repeated
    /// requests of the same sizes, in any order, reuse the blocks of the first time. A block that could not be kept is
    /// the system's.
    /// errors   std::bad_alloc
    BlockHeader* take(std::size_t bytes);

    /// Takes a block from `take` back. If there is no room for it, blocks of the size classes that were not used for
    /// the longest time are returned to the system; if the pool is closed or too small, the block is.
    void put(BlockHeader* block) noexcept;

    /// Sets the maximum number of bytes to keep, and returns blocks beyond it to the system.
    void limit(std::size_t most) noexcept;

    /// Returns the free blocks to the system.
    void clear() noexcept;
    std::size_t kept() const noexcept;

    /// Called when the pool is destroyed. Blocks in use are then returned to the system, and the last one deletes this.
    void close() noexcept;

private:
    friend class AllFreeBlocks;

    ~FreeBlocks();

    // Size classes, `steps` per power of two: 64, 80, 96, 112, 128, 160 ...
    static constexpr std::size_t steps = 4, smallest = 64;
    static constexpr std::size_t size_of(std::size_t c) { return (steps + c % steps) << (c / steps + 4); }
    static constexpr std::size_t at_most(std::size_t bytes) {
        auto const power = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
        return (power - 6) * steps + (bytes >> (power - 2)) - steps;
    }
    static constexpr std::size_t at_least(std::size_t bytes) { return bytes <= smallest ? 0 : at_most(bytes - 1) + 1; }

    // Returns free blocks to the system until at most `most` bytes are kept.
    void shrink(std::size_t most) noexcept;

    void leave(std::unique_lock<std::mutex>& lock) noexcept;

    std::mutex mutable mutex_;
    std::array<BlockHeader*, (64 - 6) * steps> free_{};
    std::array<std::uint64_t, (64 - 6) * steps> used_{};  // the time of the last use, counted in calls
    std::uint64_t calls_ = 0;
    std::size_t most_, kept_ = 0;
    std::size_t users_ = 1;  // the pool and each block in use
    bool closed_ = false;
};

/// The pool from which this thread takes its blocks, or nullptr.
ROWAN_SHARED inline FreeBlocks*& current_pool() noexcept {
    thread_local FreeBlocks* pool = nullptr;
    return pool;
}

/// The free blocks of the process. They are never destroyed: tensors with static storage duration may use them last.
/// errors   std::bad_alloc in the first call
FreeBlocks& process_blocks();

/// The free blocks for a new block of this many bytes; nullptr: the system.
inline FreeBlocks* blocks_for(std::size_t bytes) {
    FreeBlocks* const pool = current_pool();
    return pool == nullptr && bytes >= kept_from ? &process_blocks() : pool;
}

inline BlockHeader* header_of(void* block) noexcept {
    return std::launder(reinterpret_cast<BlockHeader*>(static_cast<char*>(block) - sizeof(BlockHeader)));
}

}  // namespace rowan::inline v0::detail

#include <rowan/core/detail/blocks_inl.hpp>
