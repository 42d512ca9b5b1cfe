// rowan/io/detail/page_reader_inl.hpp: definitions of rowan/io/detail/page_reader.hpp.
#pragma once

#include <rowan/io/detail/page_reader.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/parallel.hpp>

#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION PageReader::PageReader(std::size_t pages, int readers, Read read)
    : read_(std::move(read)), process_(::getpid()), most_readers_(static_cast<std::size_t>(readers)), cache_(pages) {
    readers_.reserve(most_readers_);
    prepare_helpers();  // not made on a reader
}

ROWAN_FUNCTION PageReader::~PageReader() {
    {
        Lock const lock(mutex_);
        ended_ = true;
    }
    jobs_.notify_all();
    for (std::thread& reader : readers_) reader.join();
}

ROWAN_CALLED_FUNCTION void PageReader::abandon(PageReader* reader) noexcept { reader->cache_.forget(); }

ROWAN_CALLED_FUNCTION std::pair<std::size_t, std::size_t> PageReader::in_use() {
    Lock const lock(mutex_);
    return {cache_.pinned(), cache_.added()};
}

/// Returns the number of pages that are to be read. After an exception, `to` has those that were pinned before it.
ROWAN_CALLED_FUNCTION std::size_t PageReader::pin(std::span<Page const> pages, PinnedPages& to, bool urgent) {
    std::size_t jobs = 0;
    for (Page const page : pages) {
        PageCache::Slot const slot = cache_.pin(page);
        to.slots.push_back(slot);  // there is room
        to.data.push_back(cache_.data(slot));
        auto& entry = cache_[slot];
        if (entry.state == PageCache::ready) continue;
        to.unread = to.slots.size();
        bool const is_new = entry.state == PageCache::wanted && entry.pins == 1;
        if (urgent ? entry.state != PageCache::wanted || entry.urgent : !is_new) continue;
        (urgent ? urgent_ : later_).push_back(slot);
        entry.urgent = urgent;
        ++jobs;
    }
    return jobs;
}

ROWAN_CALLED_FUNCTION void PageReader::unpin(PinnedPages& pages) noexcept {
    for (PageCache::Slot const slot : pages.slots) cache_.unpin(slot);
    pages.clear();
}

ROWAN_CALLED_FUNCTION void PageReader::begin(std::span<Page const> pages, PinnedPages& to) {
    constexpr std::size_t some = 64;  // pinned at a time, so that the readers do not wait for long
    to.slots.reserve(pages.size());
    to.data.reserve(pages.size());
    for (Page const page : pages) cache_.prefetch(page);
    Lock lock(mutex_);
    try {
        for (std::size_t i = 0; i < pages.size(); i += some) {
            std::size_t const jobs = pin(pages.subspan(i, std::min(some, pages.size() - i)), to, true);
            if (jobs > 1) call_readers(lock, jobs - 1);  // this thread reads, too, when it waits
            if (i + some >= pages.size()) return;
            lock.unlock();
            lock.lock();
        }
    } catch (...) {
        unpin(to);
        throw;
    }
}

ROWAN_CALLED_FUNCTION int PageReader::finish(PinnedPages const& pages) {
    if (pages.unread == 0) return 0;
    int code = 0;
    Lock lock(mutex_);
    for (std::size_t i = pages.unread; i-- > 0;) {  // the last first: when it is read, most of the others are
        PageCache::Slot const slot = pages.slots[i];
        for (;;) {
            auto& entry = cache_[slot];
            if (entry.state == PageCache::wanted) {
                read_next(lock);
            } else if (entry.state == PageCache::reading) {
                entry.waited = true;
                done_.wait(lock);
            } else {
                if (entry.state == PageCache::failed) code = entry.code;
                break;
            }
        }
    }
    return code;
}

ROWAN_CALLED_FUNCTION void PageReader::release(PinnedPages& pages) noexcept {
    if (pages.slots.empty()) return;
    Lock const lock(mutex_);
    unpin(pages);
}

ROWAN_CALLED_FUNCTION void PageReader::begin_later(std::vector<Page> pages, PinnedPages& to) {
    auto const make_distinct = [&] {
        std::sort(pages.begin(), pages.end());
        pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    };
    std::vector<Page> const in_order = pages;
    make_distinct();
    to.slots.reserve(pages.size());
    to.data.reserve(pages.size());
    Lock lock(mutex_);
    std::size_t const most = cache_.pages() / 2 - kept_;
    if (pages.size() > most) {
        pages.assign(in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(most));
        make_distinct();
    }
    std::size_t jobs = 0;
    try {
        jobs = pin(pages, to, false);
    } catch (...) {
        unpin(to);
        throw;
    }
    kept_ += to.slots.size();
    call_readers(lock, jobs);
    if (readers_.empty()) {  // none can be started
        kept_ -= to.slots.size();
        unpin(to);
        later_.clear();
    }
}

ROWAN_CALLED_FUNCTION void PageReader::release_later(PinnedPages& pages) noexcept {
    Lock const lock(mutex_);
    kept_ -= pages.slots.size();
    unpin(pages);
}

/// Wakes or starts as many readers as there are jobs, or all.
ROWAN_CALLED_FUNCTION void PageReader::call_readers(Lock& lock, std::size_t jobs) {
    std::size_t const wake = std::min(jobs, sleeping_);
    try {
        for (std::size_t n = jobs - wake; n > 0 && readers_.size() < most_readers_; --n)
            readers_.emplace_back([this] { work(); });
    } catch (std::system_error const&) {  // those that there are do it
    }
    lock.unlock();
    for (std::size_t n = 0; n < wake; ++n) jobs_.notify_one();
    lock.lock();
}

/// Reads a page that is wanted, without the lock. Returns whether there was one.
ROWAN_CALLED_FUNCTION bool PageReader::read_next(Lock& lock) noexcept {
    auto& queue = urgent_.empty() ? later_ : urgent_;
    if (queue.empty()) return false;
    PageCache::Slot const slot = queue.front();
    queue.pop_front();
    if (cache_[slot].state != PageCache::wanted) return true;
    cache_[slot].state = PageCache::reading;
    cache_.pin_slot(slot);
    Page const page = cache_[slot].page;
    std::byte* const to = cache_.data(slot);
    lock.unlock();
    int const code = read_(page, to);
    lock.lock();
    if (code == 0) {
        cache_[slot].state = PageCache::ready;
    } else {
        cache_.fail(slot, code);
    }
    if (cache_[slot].waited) done_.notify_all();
    cache_.unpin(slot);
    return true;
}

ROWAN_CALLED_FUNCTION void PageReader::work() noexcept {
    use_all_places();
    for (Lock lock(mutex_); !ended_;) {
        if (read_next(lock)) continue;
        ++sleeping_;
        jobs_.wait(lock);
        --sleeping_;
    }
}

}  // namespace rowan::inline v0::detail

#endif
