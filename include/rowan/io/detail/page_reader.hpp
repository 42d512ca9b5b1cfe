// rowan/io/detail/page_reader.hpp: PageReader, threads that read pages of a file into a cache.
#pragma once

#include <rowan/io/detail/page_cache.hpp>

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Pages that a thread has pinned.
struct PinnedPages {
    std::vector<PageCache::Slot> slots;
    std::vector<std::byte const*> data;
    std::size_t unread = 0;  ///< pages from here on were ready when they were pinned

    void clear() noexcept {
        slots.clear();
        data.clear();
        unread = 0;
    }
};

/// A cache of pages, and threads that read them. Any number of threads may use it at the same time. A thread that waits
/// for a page that nobody reads yet reads it itself, so nothing depends on how many readers can be started.
class PageReader {
public:
    using Page = std::uint64_t;
    /// Reads a page. Returns 0, or why it could not.
    using Read = std::function<int(Page, std::byte*)>;

    ROWAN_IF_CALLED PageReader(std::size_t pages, int readers, Read read);
    PageReader(PageReader const&) = delete;
    PageReader& operator=(PageReader const&) = delete;
    /// Waits for the reads that have begun. No page is pinned.
    ~PageReader();

    /// Pins pages, which may be repeated, and begins to read those that are missing. `to` is empty.
    /// errors   std::bad_alloc, after which nothing is pinned
    ROWAN_IF_CALLED void begin(std::span<Page const> pages, PinnedPages& to);
    /// Waits until the pages are read. Returns 0, or why one of them could not be read; they remain pinned.
    ROWAN_IF_CALLED int finish(PinnedPages const& pages);
    ROWAN_IF_CALLED void release(PinnedPages& pages) noexcept;

    /// begin for pages that nobody waits for: others are read first. Pins at most half of the cache, with those of
    /// other calls, and ignores the rest of the pages.
    /// errors   std::bad_alloc, after which nothing is pinned
    ROWAN_IF_CALLED void begin_later(std::vector<Page> pages, PinnedPages& to);
    ROWAN_IF_CALLED void release_later(PinnedPages& pages) noexcept;

    std::size_t pages() const noexcept { return cache_.pages(); }
    /// The process of the threads. Another one, which was forked from it, calls nothing but abandon.
    ::pid_t process() const noexcept { return process_; }
    /// In a forked process: frees the pages. The rest remains, since threads that are not there may have locked it.
    ROWAN_IF_CALLED static void abandon(PageReader* reader) noexcept;
    /// Pinned slots and slots that were added.
    ROWAN_IF_CALLED std::pair<std::size_t, std::size_t> in_use();

private:
    using Lock = std::unique_lock<std::mutex>;

    ROWAN_IF_CALLED std::size_t pin(std::span<Page const> pages, PinnedPages& to, bool urgent);
    ROWAN_IF_CALLED void unpin(PinnedPages& pages) noexcept;
    ROWAN_IF_CALLED void call_readers(Lock& lock, std::size_t jobs);
    ROWAN_IF_CALLED bool read_next(Lock& lock) noexcept;
    ROWAN_IF_CALLED void work() noexcept;

    Read const read_;
    ::pid_t const process_;
    std::size_t const most_readers_;
    std::mutex mutex_;
    std::condition_variable jobs_, done_;
    PageCache cache_;
    std::deque<PageCache::Slot> urgent_, later_;  // slots that are wanted, or were
    std::size_t sleeping_ = 0;
    std::size_t kept_ = 0;  // pins of begin_later
    bool ended_ = false;
    std::vector<std::thread> readers_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/page_reader_inl.hpp>
