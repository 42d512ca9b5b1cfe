// rowan/core/detail/blocks_inl.hpp: definitions of rowan/core/detail/blocks.hpp.
#pragma once

#include <rowan/core/detail/blocks.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace rowan::inline v0::detail {

ROWAN_FUNCTION BlockHeader* new_block(std::size_t bytes, std::size_t alignment, FreeBlocks* pool) {
    bool const huge = bytes >= huge_from;
    std::size_t const step = huge ? std::max(huge_page, alignment) : alignment;
    std::size_t const whole = huge ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
    // Not the aligned operator new: with glibc it maps fresh pages, which the kernel must clear, for each such block.
    char* const memory = static_cast<char*>(::operator new(whole + step + sizeof(BlockHeader)));
    char* const first = memory + sizeof(BlockHeader);
    char* const block = first + (step - reinterpret_cast<std::uintptr_t>(first) % step) % step;
#ifdef MADV_HUGEPAGE
    if (huge) ::madvise(block, whole, MADV_HUGEPAGE);  // a hint: if it fails, the memory is only slower
#endif
    return new (block - sizeof(BlockHeader)) BlockHeader{memory, pool, bytes, nullptr};
}

ROWAN_FUNCTION BlockHeader* FreeBlocks::take(std::size_t bytes) {
    std::size_t const c = at_least(bytes);
    {
        std::scoped_lock const lock(mutex_);
        if (BlockHeader* const block = free_[c]; block != nullptr) {
            free_[c] = block->next;
            kept_ -= block->bytes;
            ++users_;
            return block;
        }
    }
    BlockHeader* const block = new_block(size_of(c), block_alignment, this);
    std::scoped_lock const lock(mutex_);
    ++users_;
    return block;
}

ROWAN_FUNCTION void FreeBlocks::put(BlockHeader* block) noexcept {
    std::unique_lock lock(mutex_);
    if (!closed_ && block->bytes <= most_ - kept_) {
        BlockHeader*& top = free_[at_most(block->bytes)];
        block->next = top;
        top = block;
        kept_ += block->bytes;
        block = nullptr;
    }
    leave(lock);
    if (block != nullptr) ::operator delete(block->memory);
}

ROWAN_FUNCTION void FreeBlocks::clear() noexcept {
    std::scoped_lock const lock(mutex_);
    clear_locked();
}

ROWAN_FUNCTION std::size_t FreeBlocks::kept() const noexcept {
    std::scoped_lock const lock(mutex_);
    return kept_;
}

ROWAN_FUNCTION void FreeBlocks::close() noexcept {
    std::unique_lock lock(mutex_);
    clear_locked();
    closed_ = true;
    leave(lock);
}

ROWAN_FUNCTION void FreeBlocks::clear_locked() noexcept {
    for (BlockHeader*& top : free_) {
        while (top != nullptr) {
            void* const memory = top->memory;
            top = top->next;
            ::operator delete(memory);
        }
    }
    kept_ = 0;
}

ROWAN_FUNCTION void FreeBlocks::leave(std::unique_lock<std::mutex>& lock) noexcept {
    bool const last = --users_ == 0;
    lock.unlock();
    if (last) delete this;
}

}  // namespace rowan::inline v0::detail

#endif
