// rowan/core/allocator.hpp: memory for tensors, aligned to cache lines and on huge pages where it is large.
#pragma once

#include <cstddef>
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
        if (n > (std::numeric_limits<std::size_t>::max() / 2 - huge_page) / sizeof(T))
            throw std::bad_array_new_length();
        std::size_t const bytes = n * sizeof(T);
        if (bytes < huge_from) return static_cast<T*>(::operator new (bytes, std::align_val_t{alignment}));
        std::size_t const whole = (bytes + huge_page - 1) / huge_page * huge_page;
        void* block = ::operator new (whole, std::align_val_t{huge_page});
#ifdef MADV_HUGEPAGE
        ::madvise(block, whole, MADV_HUGEPAGE);  // advice: without it the memory is as good, only slower
#endif
        return static_cast<T*>(block);
    }

    void deallocate(T* block, std::size_t n) noexcept {
        bool const huge = n * sizeof(T) >= huge_from;
        ::operator delete (block, std::align_val_t{huge ? huge_page : alignment});
    }

    template <class U>
    bool operator==(Allocator<U> const&) const noexcept {
        return true;
    }
};

}  // namespace rowan::inline v0
