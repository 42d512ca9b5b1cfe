// tests/exceptions/failing_new.cpp: replaces operator new and delete, over the C library's, which sanitizers check.
#include "failing_new.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> countdown{0};
std::atomic<bool> every{false}, failed{false};
std::atomic<bool (*)()> of_thread{nullptr};
std::atomic<std::ptrdiff_t> live{0}, made{0}, bytes_now{0}, bytes_most{0};

void count(std::ptrdiff_t bytes) {
    std::ptrdiff_t const now = bytes_now += bytes;
    std::ptrdiff_t most = bytes_most.load();
    while (most < now && !bytes_most.compare_exchange_weak(most, now)) {
    }
}

void* allocate(std::size_t bytes, std::size_t alignment) {
    std::size_t left = countdown.load();
    if (left != 0) {
        if (auto* const counts = of_thread.load(); counts != nullptr && !counts()) left = 0;
    }
    while (left != 0 && !countdown.compare_exchange_weak(left, every && left == 1 ? 1 : left - 1)) {
    }
    if (left == 1) {
        failed = true;
        throw std::bad_alloc();
    }
    std::size_t const whole = (bytes + alignment - 1) / alignment * alignment;
    void* const block = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
    if (block == nullptr) throw std::bad_alloc();
    ++live;
    ++made;
    count(static_cast<std::ptrdiff_t>(::malloc_usable_size(block)));
    return block;
}

void release(void* block) noexcept {
    if (block != nullptr) {
        --live;
        count(-static_cast<std::ptrdiff_t>(::malloc_usable_size(block)));
    }
    std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return allocate(bytes, static_cast<std::size_t>(alignment)); }
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {  // Catch2 sorts with it
    try {
        return operator new(bytes);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::nothrow_t const&) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }

namespace test {

void fail_allocation(std::size_t n, bool ever_after, bool (*counts)()) {
    every = ever_after;
    of_thread = counts;
    failed = false;
    countdown = n;
}
bool allocation_failed() { return failed; }

std::ptrdiff_t live_blocks() { return live; }
std::ptrdiff_t allocations() { return made; }

void watch_bytes() { bytes_now = bytes_most = 0; }
std::ptrdiff_t most_bytes() { return bytes_most; }

}  // namespace test
