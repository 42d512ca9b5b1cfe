// rowan/sparse/detail/reserved_memory_inl.hpp: definitions of rowan/sparse/detail/reserved_memory.hpp.
#pragma once

#include <rowan/sparse/detail/reserved_memory.hpp>

#if ROWAN_DEFINES_FUNCTIONS

#include <rowan/core/allocator.hpp>

#include <algorithm>
#include <cstdint>
#include <new>

#include <sys/mman.h>

#if defined(__SANITIZE_THREAD__)
#define ROWAN_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROWAN_THREAD_SANITIZER 1
#endif
#endif

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ReservedMemory::ReservedMemory(std::size_t most, std::size_t least) {
    auto const whole_pages = [](std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; };
    auto const map = [&] {
        mapped_bytes_ = size_ + huge_page;
        mapped_ = ::mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return mapped_ != MAP_FAILED;
    };
#ifdef ROWAN_THREAD_SANITIZER
    most = std::min(most, std::size_t{1} << 33);  // it has addresses for few of 512 GiB, and ends the program then
#endif
    least = whole_pages(std::max<std::size_t>(least, 1));
    size_ = most = std::max(whole_pages(most), least);
    while (!map()) {
        if (size_ == least) throw std::bad_alloc();
        size_ = std::max(whole_pages(size_ / 2), least);
    }
    if (size_ != most && size_ != least) {  // others need addresses, too
        ::munmap(mapped_, mapped_bytes_);
        size_ = std::max(whole_pages(size_ / 8), least);
        if (!map()) throw std::bad_alloc();
    }
    std::size_t const past = reinterpret_cast<std::uintptr_t>(mapped_) % huge_page;
    data_ = static_cast<std::byte*>(mapped_) + (huge_page - past) % huge_page;
}

ROWAN_FUNCTION ReservedMemory::~ReservedMemory() { ::munmap(mapped_, mapped_bytes_); }

ROWAN_FUNCTION void ReservedMemory::commit(std::size_t bytes) {
    if (bytes <= committed_) return;
    constexpr std::size_t page = std::size_t{1} << 16;  // a multiple of the pages of all systems
    std::size_t const step = std::max(page, committed_ / 8 / page * page);
    std::size_t const whole = std::min(size_, std::max(committed_ + step, (bytes + page - 1) / page * page));
    if (::mprotect(data_ + committed_, whole - committed_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (whole >= huge_from && committed_ < huge_from) ::madvise(data_, size_, MADV_HUGEPAGE);  // a hint
#endif
    committed_ = whole;
}

ROWAN_CALLED_FUNCTION std::shared_ptr<ReservedMemory> reserve_memory(std::size_t most, std::size_t least) {
    return std::make_shared<ReservedMemory>(most, least);
}

}  // namespace rowan::inline v0::detail

#undef ROWAN_THREAD_SANITIZER

#endif
