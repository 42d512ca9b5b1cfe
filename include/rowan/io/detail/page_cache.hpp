// rowan/io/detail/page_cache.hpp: PageCache, a fixed number of pages of a file in memory, of which some are pinned.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rowan::inline v0::detail {

/// Memory of zeros from the system, which is used as far as it is touched. Large memory requests huge pages.
/// errors   std::bad_alloc
ROWAN_IF_CALLED std::shared_ptr<std::byte> untouched_memory(std::size_t n);

/// Pages of a file in slots. A pinned slot keeps its page. If all are pinned, a slot is added, and removed with its
/// last pin. The caller excludes other threads.
class PageCache {
public:
    static constexpr std::size_t page_bytes = 4096;
    /// The memory of a page in the cache, with what it takes to find it.
    static constexpr std::size_t bytes_per_page = page_bytes + 48;

    using Slot = std::uint32_t;
    enum State : std::uint8_t {
        wanted,   ///< nobody reads it yet
        reading,  ///< a thread reads it, and has a pin
        ready,
        failed,  ///< not in the table: who looks for the page does not find this slot
    };
    struct Entry {
        std::uint64_t page = 0;
        Slot next = none;  // in the list of a bucket, or of free slots
        std::uint32_t pins = 0;
        int code = 0;  ///< why it failed
        State state = failed;
        bool used = false;    // lately
        bool urgent = false;  ///< a thread waits for it, or will soon
        bool waited = false;  ///< a thread sleeps until it is read
    };

    /// requires   at least 1 page, and fewer than 2^31
    ROWAN_IF_CALLED explicit PageCache(std::size_t pages);

    /// Fetches the processor's cache line where `page` is looked for. Needs no exclusion.
    void prefetch(std::uint64_t page) const noexcept { __builtin_prefetch(&heads_[bucket(page)]); }

    /// A slot with the page, with one more pin. A new one is `wanted`; the page that had its slot is gone.
    /// errors   std::bad_alloc
    Slot pin(std::uint64_t page) {
        for (Slot s = heads_[bucket(page)]; s != none; s = entries_[s].next) {
            if (entries_[s].page != page) continue;
            entries_[s].used = true;
            pin_slot(s);
            return s;
        }
        return add(page);
    }
    void pin_slot(Slot slot) noexcept {
        if (entries_[slot].pins++ == 0 && slot < pages_) ++pinned_;
    }
    void unpin(Slot slot) noexcept {
        if (--entries_[slot].pins == 0) last_unpin(slot);
    }

    Entry& operator[](Slot slot) noexcept { return entries_[slot]; }
    std::byte* data(Slot slot) const noexcept {
        return slot < pages_ ? memory_.get() + slot * page_bytes : added_[slot - pages_].get();
    }
    /// A pinned page could not be read.
    void fail(Slot slot, int code) noexcept;

    /// Frees the pages, after which nothing else is called.
    void forget() noexcept { memory_ = nullptr; }

    std::size_t pages() const noexcept { return pages_; }
    std::size_t pinned() const noexcept { return pinned_; }  ///< slots, without those added
    std::size_t added() const noexcept;                      ///< slots with memory of their own

private:
    static constexpr Slot none = 0xFFFFFFFF;

    struct Free {
        void operator()(std::byte* memory) const noexcept;
    };

    std::size_t bucket(std::uint64_t page) const noexcept { return (page * 0x9E3779B97F4A7C15U) >> shift_; }
    ROWAN_IF_CALLED Slot add(std::uint64_t page);
    ROWAN_IF_CALLED Slot unused();
    ROWAN_IF_CALLED void remove(Slot slot) noexcept;
    ROWAN_IF_CALLED void last_unpin(Slot slot) noexcept;

    std::size_t pages_;
    std::size_t pinned_ = 0;
    int shift_;
    Slot next_ = 0;            // slots from here on, up to pages_, were never used
    Slot free_ = none;         // a list
    Slot free_added_ = none;   // a list of added slots
    std::size_t hand_ = 0;     // the slot that is looked at next for one that was not used lately
    std::vector<Slot> heads_;  // of buckets
    std::vector<Entry> entries_;
    std::shared_ptr<std::byte> memory_;
    std::vector<std::unique_ptr<std::byte, Free>> added_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/page_cache_inl.hpp>
