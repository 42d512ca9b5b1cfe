// rowan/io/detail/mapped_rows_inl.hpp: definitions of rowan/io/detail/mapped_rows.hpp.
#pragma once

#include <rowan/io/detail/mapped_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/parallel.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION RandomMapping::RandomMapping(std::shared_ptr<InputFile const> file, std::uint64_t offset,
                                                   std::size_t n)
    : file_(std::move(file)), page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
      before_(static_cast<std::size_t>(offset % page_bytes_)), size_(before_ + n), first_(offset - before_) {
    void* const memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_->descriptor(), static_cast<off_t>(first_));
    if (memory == MAP_FAILED) throw_io("map", file_->path());
    memory_ = static_cast<std::byte*>(memory);
    ::madvise(memory, size_, MADV_RANDOM);
    ::posix_fadvise(file_->descriptor(), 0, 0, POSIX_FADV_RANDOM);
}

ROWAN_FUNCTION RandomMapping::~RandomMapping() { ::munmap(memory_, size_); }

ROWAN_CALLED_FUNCTION bool RandomMapping::has(Page page) const noexcept {
#ifdef RWF_NOWAIT
    char byte;
    ::iovec const to{&byte, 1};
    ssize_t const n =
        ::preadv2(file_->descriptor(), &to, 1, static_cast<off_t>(first_ + page * page_bytes_), RWF_NOWAIT);
    if (n >= 0) return true;
    if (errno == EAGAIN) return false;
#endif
    unsigned char is_there = 1;  // mincore says so, too, of files that the process may not write
    ::mincore(memory_ + page * page_bytes_, 1, &is_there);
    return is_there % 2 != 0;
}

ROWAN_CALLED_FUNCTION void RandomMapping::ask(std::span<Page const> pages) const noexcept {
    for (std::size_t i = 0; i < pages.size();) {
        std::size_t end = i + 1;
        while (end < pages.size() && pages[end] == pages[i] + (end - i)) ++end;
        ::madvise(memory_ + pages[i] * page_bytes_, (end - i) * page_bytes_, MADV_WILLNEED);
        i = end;
    }
}

/// Asks for pages on a thread.
struct AskingThread {
    AskingThread(std::shared_ptr<RandomMapping const> m, std::vector<RandomMapping::Page> p)
        : mapping(std::move(m)), pages(std::move(p)), process(::getpid()) {
        prepare_helpers();  // not made on the thread
        try {
            thread = std::make_unique<std::thread>([this] {
                use_all_places();
                constexpr std::size_t some = 16;
                for (std::size_t i = 0; i < pages.size() && !ended; i += some)
                    mapping->ask(std::span(pages).subspan(i, std::min(some, pages.size() - i)));
            });
        } catch (std::system_error const&) {  // there are no more threads, and nothing is asked for
        }
    }
    AskingThread(AskingThread const&) = delete;
    AskingThread& operator=(AskingThread const&) = delete;
    ~AskingThread() {
        ended = true;
        if (process != ::getpid()) {
            static_cast<void>(thread.release());  // a forked process does not have the thread
        } else if (thread != nullptr) {
            thread->join();
        }
    }

    std::shared_ptr<RandomMapping const> mapping;
    std::vector<RandomMapping::Page> pages;
    ::pid_t process;
    std::atomic<bool> ended{false};
    std::unique_ptr<std::thread> thread;
};

ROWAN_CALLED_FUNCTION MappedRows::MappedRows(std::shared_ptr<InputFile const> file, std::uint64_t offset,
                                             std::int64_t height, std::size_t row_bytes)
    : MappedRows(std::make_shared<RandomMapping>(std::move(file), offset, static_cast<std::size_t>(height) * row_bytes),
                 height, row_bytes) {}

ROWAN_CALLED_FUNCTION MappedRows::MappedRows(std::shared_ptr<RandomMapping const> mapping, std::int64_t height,
                                             std::size_t row_bytes)
    : RowSource(height, row_bytes, mapping->data()),
      mapping_(std::move(mapping)), pages_{mapping_->before(), row_bytes, std::countr_zero(mapping_->page_bytes())} {}

ROWAN_CALLED_FUNCTION bool MappedRows::lacks_some(Ids<> const& ids, std::size_t samples) const noexcept {
    for (std::size_t k = 0; k < samples; ++k) {
        if (!mapping_->has(pages_.last(ids[(2 * k + 1) * ids.size() / (2 * samples)]))) return true;
    }
    return false;
}

ROWAN_FUNCTION void MappedRows::will_read(Cpu exec, Ids<> const& ids) const {
    std::size_t const n = ids.size();
    bool const few = n <= 512, looks = looks_.load(std::memory_order_relaxed) > 0;
    if (n == 0 || (few && !looks && calls_.fetch_add(1, std::memory_order_relaxed) % 64 != 0)) return;
    if (!lacks_some(ids, looks ? std::min<std::size_t>(n, 4) : std::clamp<std::size_t>(n / 512, 1, 16))) {
        if (looks) looks_.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    looks_.store(32, std::memory_order_relaxed);
    auto const pages = pages_.distinct(ids);
    parallel_for(exec, pages.size(), 256, [&](std::size_t begin, std::size_t end) {
        mapping_->ask(std::span(pages).subspan(begin, end - begin));
    });
}

ROWAN_FUNCTION std::shared_ptr<void> MappedRows::prefetch(Cpu, Ids<> const& ids) const {
    auto pages = pages_.distinct(ids);
    if (pages.size() > 16) return std::make_shared<AskingThread>(mapping_, std::move(pages));
    mapping_->ask(pages);
    return nullptr;
}

}  // namespace rowan::inline v0::detail

#endif
