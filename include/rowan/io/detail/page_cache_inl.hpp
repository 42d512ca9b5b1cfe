// rowan/io/detail/page_cache_inl.hpp: definitions of rowan/io/detail/page_cache.hpp.
#pragma once

#include <rowan/io/detail/page_cache.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::shared_ptr<std::byte> untouched_memory(std::size_t n) {
    constexpr std::size_t huge = std::size_t{2} << 20;
    std::size_t const all = n + (n >= huge ? huge : 0);
    void* const memory =
        ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    auto* first = static_cast<std::byte*>(memory);
    if (n >= huge) {
        first += (huge - reinterpret_cast<std::uintptr_t>(memory) % huge) % huge;
#ifdef MADV_HUGEPAGE
        ::madvise(first, n, MADV_HUGEPAGE);
#endif
    }
    return {first, [=](std::byte*) { ::munmap(memory, all); }};
}

ROWAN_CALLED_FUNCTION PageCache::PageCache(std::size_t pages)
    : pages_(pages), shift_(64 - std::countr_zero(std::bit_ceil(2 * pages))),
      heads_(std::size_t{1} << (64 - shift_), none), entries_(pages), memory_(untouched_memory(pages * page_bytes)) {}

ROWAN_FUNCTION void PageCache::Free::operator()(std::byte* memory) const noexcept {
    ::operator delete (memory, std::align_val_t{page_bytes});
}

ROWAN_CALLED_FUNCTION PageCache::Slot PageCache::add(std::uint64_t page) {
    Slot const slot = unused();
    Slot& head = heads_[bucket(page)];
    entries_[slot] = {.page = page, .next = head, .state = wanted, .used = true};
    head = slot;
    pin_slot(slot);
    return slot;
}

/// A slot that is in no list.
ROWAN_CALLED_FUNCTION PageCache::Slot PageCache::unused() {
    if (free_ != none) {
        Slot const slot = free_;
        free_ = entries_[slot].next;
        return slot;
    }
    if (next_ < pages_) return next_++;
    if (pinned_ < pages_) {  // so one of them is ready and has no pin
        for (;;) {
            Slot const slot = static_cast<Slot>(hand_);
            hand_ = hand_ + 1 == pages_ ? 0 : hand_ + 1;
            Entry& entry = entries_[slot];
            if (entry.pins != 0) continue;
            if (entry.used) {
                entry.used = false;
                continue;
            }
            remove(slot);
            return slot;
        }
    }
    std::unique_ptr<std::byte, Free> memory(
        static_cast<std::byte*>(::operator new (page_bytes, std::align_val_t{page_bytes})));
    if (free_added_ != none) {
        Slot const slot = free_added_;
        free_added_ = entries_[slot].next;
        added_[slot - pages_] = std::move(memory);
        return slot;
    }
    added_.reserve(added_.size() + 1);
    entries_.emplace_back();
    added_.push_back(std::move(memory));
    return static_cast<Slot>(entries_.size() - 1);
}

/// Takes a slot out of its bucket.
ROWAN_CALLED_FUNCTION void PageCache::remove(Slot slot) noexcept {
    Slot* at = &heads_[bucket(entries_[slot].page)];
    while (*at != slot) at = &entries_[*at].next;
    *at = entries_[slot].next;
}

ROWAN_CALLED_FUNCTION void PageCache::last_unpin(Slot slot) noexcept {
    Entry& entry = entries_[slot];
    bool const is_added = slot >= pages_;
    if (!is_added) --pinned_;
    if (!is_added && entry.state == ready) return;
    if (entry.state != failed) remove(slot);
    entry.state = failed;
    if (is_added) added_[slot - pages_].reset();
    Slot& list = is_added ? free_added_ : free_;
    entry.next = list;
    list = slot;
}

ROWAN_FUNCTION void PageCache::fail(Slot slot, int code) noexcept {
    remove(slot);
    entries_[slot].state = failed;
    entries_[slot].code = code;
}

ROWAN_FUNCTION std::size_t PageCache::added() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(added_.begin(), added_.end(), [](auto const& memory) { return memory != nullptr; }));
}

}  // namespace rowan::inline v0::detail

#endif
