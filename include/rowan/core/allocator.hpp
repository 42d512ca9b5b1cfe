// rowan/core/allocator.hpp: memory for tensors, aligned to cache lines and on huge pages where it is large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace rowan::inline v0 {

/// A standard allocator whose blocks start at a multiple of 64 bytes and are not initialised. From 4 MiB on a block fills whole
/// 2 MiB pages and asks the system to back them by huge ones: rows read at random are then found without a page walk.
/// errors   std::bad_alloc
template <class T>
struct Allocator {
    using value_type = T;

    static constexpr std::size_t alignment = alignof(T) > 64 ? alignof(T) : 64;
    static constexpr std::size_t huge_page = std::size_t{2} << 20;
    static constexpr std::size_t huge_from = 2 * huge_page;

    Allocator() = default;
    template <class U>
    Allocator(Allocator<U> const&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t n) {
        if (n > (std::numeric_limits<std::size_t>::max() / 2 - 2 * huge_page) / sizeof(T))
            throw std::bad_array_new_length();
        std::size_t const bytes = n * sizeof(T);
        bool const huge = bytes >= huge_from;
        std::size_t const step = huge ? huge_page : alignment;
        std::size_t const whole = huge ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
        // Not the aligned operator new: glibc's would map fresh pages for a block of the same size every time, and the kernel clear them.
        char* const memory = static_cast<char*>(::operator new(whole + step));
        char* const block = memory + (step - reinterpret_cast<std::uintptr_t>(memory) % step);
        static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(memory),
                      "there is room for a pointer before the block");
        std::memcpy(block - sizeof(memory), &memory, sizeof(memory));
#ifdef MADV_HUGEPAGE
        if (huge) ::madvise(block, whole, MADV_HUGEPAGE);  // advice: without it the memory is as good, only slower
#endif
        return reinterpret_cast<T*>(block);
    }

    void deallocate(T* block, std::size_t) noexcept {
        void* memory = nullptr;
        std::memcpy(&memory, reinterpret_cast<char*>(block) - sizeof(memory), sizeof(memory));
        ::operator delete(memory);
    }

    template <class U>
    bool operator==(Allocator<U> const&) const noexcept {
        return true;
    }
};

}  // namespace rowan::inline v0
