// rowan/core/detail/blocks_inl.hpp: definitions of rowan/core/detail/blocks.hpp.
#pragma once

#include <rowan/core/detail/blocks.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifdef __SANITIZE_ADDRESS__  // g++
#include <sanitizer/asan_interface.h>
#endif

namespace rowan::inline v0::detail {

/// Tells the address sanitizer that the first `bytes` bytes of a block are in use, and no others.
inline void mark_used([[maybe_unused]] BlockHeader* block, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef ASAN_POISON_MEMORY_REGION
    ASAN_POISON_MEMORY_REGION(block + 1, block->bytes);
    ASAN_UNPOISON_MEMORY_REGION(block + 1, bytes);
#endif
}

inline void* system_memory(std::size_t bytes) {
    try {
        return ::operator new(bytes);
    } catch (std::bad_alloc const&) {
        if (process_blocks().kept() == 0) throw;
    }
    process_blocks().clear();
    return ::operator new(bytes);
}

/// The bytes of memory that the process may use: those of the machine, or of its control group.
inline std::size_t memory_size() {
    auto const pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    auto const machine = pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : 0;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen("/sys/fs/cgroup/memory.max", "r"),
                                                               &std::fclose);
    std::size_t group = 0;  // the file may contain "max"
    return file != nullptr && std::fscanf(file.get(), "%zu", &group) == 1 ? std::min(machine, group) : machine;
}

/// The limit that the environment or the size of the machine sets.
/// errors   Error if the environment variable is not a number
inline std::size_t first_limit() {
    char const* const text = std::getenv("ROWAN_KEPT_MEMORY");
    if (text == nullptr) return memory_size() / 8;
    std::size_t most = 0;
    auto const [end, error] = std::from_chars(text, text + std::strlen(text), most);
    if (error != std::errc() || *end != 0)
        throw Error({"the environment variable ROWAN_KEPT_MEMORY is \"", text, "\", expected a number of bytes"});
    return most;
}

/// All FreeBlocks of the process, in the order in which they were made. A fork waits for them: a child would find those
/// locked for ever that another thread has locked.
class AllFreeBlocks {
public:
    static AllFreeBlocks& of_process() {
        static AllFreeBlocks& all = *[] {
            auto* const made = new AllFreeBlocks;
            ::pthread_atfork([] { of_process().lock(); }, [] { of_process().unlock(); }, [] { of_process().unlock(); });
            return made;
        }();
        return all;
    }
    void add(FreeBlocks* blocks) {
        std::scoped_lock const lock(mutex_);
        all_.push_back(blocks);
    }
    void remove(FreeBlocks* blocks) noexcept {
        std::scoped_lock const lock(mutex_);
        std::erase(all_, blocks);
    }

private:
    void lock() {
        mutex_.lock();
        for (FreeBlocks* const blocks : all_) blocks->mutex_.lock();
    }
    void unlock() {
        for (FreeBlocks* const blocks : all_) blocks->mutex_.unlock();
        mutex_.unlock();
    }

    std::mutex mutex_;
    std::vector<FreeBlocks*> all_;
};

ROWAN_FUNCTION FreeBlocks::FreeBlocks(std::size_t most) : most_(most) { AllFreeBlocks::of_process().add(this); }
ROWAN_FUNCTION FreeBlocks::~FreeBlocks() { AllFreeBlocks::of_process().remove(this); }

ROWAN_FUNCTION FreeBlocks& process_blocks() {
    static FreeBlocks& blocks = *new FreeBlocks(first_limit());
    return blocks;
}

ROWAN_FUNCTION BlockHeader* new_block(std::size_t bytes, std::size_t alignment, FreeBlocks* pool) {
    bool const huge = bytes >= huge_from;
    std::size_t const step = huge ? std::max(huge_page, alignment) : alignment;
    std::size_t const whole = huge ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
    // Not the aligned operator new: with glibc it maps fresh pages, which the kernel must clear, for each such block.
    char* const memory = static_cast<char*>(system_memory(whole + step + sizeof(BlockHeader)));
    char* const first = memory + sizeof(BlockHeader);
    char* const block = first + (step - reinterpret_cast<std::uintptr_t>(first) % step) % step;
#ifdef MADV_HUGEPAGE
    if (huge) ::madvise(block, whole, MADV_HUGEPAGE);  // a hint: if it fails, the memory is only slower
#endif
    return new (block - sizeof(BlockHeader)) BlockHeader{memory, pool, bytes, nullptr};
}

ROWAN_FUNCTION BlockHeader* FreeBlocks::take(std::size_t bytes) {
    std::size_t const c = at_least(bytes);
    BlockHeader* block = nullptr;
    bool may_be_kept = true;
    {
        std::scoped_lock const lock(mutex_);
        used_[c] = ++calls_;
        may_be_kept = size_of(c) <= most_;
        if (free_[c] != nullptr) {
            block = std::exchange(free_[c], free_[c]->next);
            kept_ -= block->bytes;
            ++users_;
        }
    }
    if (!may_be_kept) return new_block(bytes, block_alignment, nullptr);
    if (block == nullptr) {
        block = new_block(size_of(c), block_alignment, this);
        std::scoped_lock const lock(mutex_);
        ++users_;
    }
    mark_used(block, bytes);
    return block;
}

ROWAN_FUNCTION void FreeBlocks::put(BlockHeader* block) noexcept {
    std::unique_lock lock(mutex_);
    if (!closed_ && block->bytes <= most_) {
        mark_used(block, 0);
        shrink(most_ - block->bytes);
        std::size_t const c = at_most(block->bytes);
        used_[c] = ++calls_;
        block->next = std::exchange(free_[c], block);
        kept_ += block->bytes;
        block = nullptr;
    }
    leave(lock);
    if (block != nullptr) ::operator delete(block->memory);
}

ROWAN_FUNCTION void FreeBlocks::limit(std::size_t most) noexcept {
    std::scoped_lock const lock(mutex_);
    most_ = most;
    shrink(most);
}

ROWAN_FUNCTION void FreeBlocks::clear() noexcept {
    std::scoped_lock const lock(mutex_);
    shrink(0);
}

ROWAN_FUNCTION std::size_t FreeBlocks::kept() const noexcept {
    std::scoped_lock const lock(mutex_);
    return kept_;
}

ROWAN_FUNCTION void FreeBlocks::close() noexcept {
    std::unique_lock lock(mutex_);
    shrink(0);
    closed_ = true;
    leave(lock);
}

ROWAN_FUNCTION void FreeBlocks::shrink(std::size_t most) noexcept {
    while (kept_ > most) {
        std::size_t oldest = free_.size();
        for (std::size_t c = 0; c < free_.size(); ++c) {
            if (free_[c] != nullptr && (oldest == free_.size() || used_[c] < used_[oldest])) oldest = c;
        }
        while (kept_ > most && free_[oldest] != nullptr) {
            BlockHeader* const block = std::exchange(free_[oldest], free_[oldest]->next);
            kept_ -= block->bytes;
            ::operator delete(block->memory);
        }
    }
}

ROWAN_FUNCTION void FreeBlocks::leave(std::unique_lock<std::mutex>& lock) noexcept {
    bool const last = --users_ == 0;
    lock.unlock();
    if (last) delete this;
}

}  // namespace rowan::inline v0::detail

#endif
