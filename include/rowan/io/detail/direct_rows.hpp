// rowan/io/detail/direct_rows.hpp: DirectRows, rows of a file that are read on demand into a cache of fixed size.
#pragma once

#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/page_file.hpp>
#include <rowan/io/detail/page_reader.hpp>
#include <rowan/io/detail/row_pages.hpp>
#include <rowan/sparse/detail/row_source.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Rows of a file that are read on demand, in pages, into a cache of fixed size. A page that is in the cache is not
/// read again, and one that several threads need is read once. A call that fails leaves nothing behind. A forked
/// process has a cache and readers of its own, and must not return from the callback of `read` in which it was forked.
template <class Files = PosixFiles>
class DirectRows final : public RowSource {
public:
    /// requires   the rows are in the file, and at least 1 byte; at least 1 page
    /// errors   IoError if a system call fails
    DirectRows(std::shared_ptr<InputFile const> file, std::uint64_t offset, std::int64_t height, std::size_t row_bytes,
               std::size_t cache_pages, int readers)
        : RowSource(height, row_bytes, nullptr), pages_{offset, row_bytes, std::countr_zero(PageCache::page_bytes)},
          most_rows_(std::max<std::size_t>(std::min(piece_pages, cache_pages / 8) / pages_.most(), 1)),
          opened_(std::make_shared<Opened>(std::move(file), cache_pages, readers)) {}

    /// errors   IoError if a read fails or the file was changed; those of f
    void read(Cpu, Ids<> const& ids, Piece const& f) const override {
        opened_->file.check_unchanged();
        if (ids.size() == 0) return;
        PageReader& reader = opened_->reader();
        Rows piece(reader), next(reader);
        begin(ids, 0, piece);
        while (piece.begin < ids.size()) {
            if (piece.end < ids.size()) begin(ids, piece.end, next);  // it is read while f computes
            if (int const code = reader.finish(piece.pages); code != 0) opened_->file.fail(code);
            find(ids, piece);
            f(piece.begin, piece.rows);
            reader.release(piece.pages);
            std::size_t const end = piece.end;
            std::swap(piece, next);
            if (end == ids.size()) break;
        }
    }

    /// Half of the cache is for prefetched rows.
    std::size_t rows_at_hand() const noexcept override { return opened_->n_pages / 2 / pages_.most(); }

    std::shared_ptr<void> prefetch(Cpu, Ids<> const& ids) const override {
        std::vector<std::uint64_t> pages;
        pages.reserve(ids.size());
        pages_.append(ids, 0, ids.size(), pages);
        auto kept = std::make_shared<Kept>(opened_);
        kept->reader->begin_later(std::move(pages), kept->pages);
        return kept;
    }

    /// Pinned pages of the cache, and pages beyond it, for tests.
    std::pair<std::size_t, std::size_t> in_use() const { return opened_->reader().in_use(); }

private:
    static constexpr std::size_t piece_pages = 512;

    struct Opened {
        Opened(std::shared_ptr<InputFile const> input, std::size_t cache_pages, int readers)
            : file(std::move(input)), n_pages(cache_pages), n_readers(readers) {}
        ~Opened() {
            PageReader* const last = made.load();
            if (last == nullptr) return;
            if (last->process() == ::getpid()) {
                delete last;
            } else {
                PageReader::abandon(last);
            }
        }

        /// The reader of this process.
        PageReader& reader() {
            PageReader* old = made.load();
            if (old != nullptr && old->process() == ::getpid()) return *old;
            auto fresh = std::make_unique<PageReader>(
                n_pages, n_readers, [this](std::uint64_t page, std::byte* to) { return file.read(page, to); });
            if (!made.compare_exchange_strong(old, fresh.get())) return *old;  // another thread was faster
            if (old != nullptr) PageReader::abandon(old);
            return *fresh.release();
        }

        PageFile<Files> file;
        std::size_t n_pages;
        int n_readers;
        std::atomic<PageReader*> made{nullptr};
    };

    /// Pages that are prefetched.
    struct Kept {
        explicit Kept(std::shared_ptr<Opened> from) : opened(std::move(from)), reader(&opened->reader()) {}
        Kept(Kept const&) = delete;
        Kept& operator=(Kept const&) = delete;
        ~Kept() {
            if (reader->process() == ::getpid()) reader->release_later(pages);
        }

        std::shared_ptr<Opened> opened;
        PageReader* reader;
        PinnedPages pages;
    };

    /// Rows [begin, end) of a list.
    struct Rows {
        explicit Rows(PageReader& r) : reader(&r) {}
        Rows(Rows&&) noexcept = default;
        Rows& operator=(Rows&&) noexcept = default;
        ~Rows() { reader->release(pages); }

        PageReader* reader;
        std::size_t begin = 0, end = 0;
        std::vector<std::uint64_t> numbers;
        PinnedPages pages;
        std::vector<std::byte const*> rows;
        std::vector<std::byte> copies;  // of rows that are not within one page
    };

    void begin(Ids<> const& ids, std::size_t first, Rows& piece) const {
        piece.begin = first;
        piece.end = first + std::min(most_rows_, ids.size() - first);
        piece.numbers.clear();
        pages_.append(ids, piece.begin, piece.end, piece.numbers);
        piece.reader->begin(piece.numbers, piece.pages);
    }

    /// Finds the addresses of rows, and copies those that are not within one page.
    void find(Ids<> const& ids, Rows& piece) const {
        std::size_t const n = piece.end - piece.begin, width = row_bytes();
        piece.rows.resize(n);
        piece.copies.resize(std::min(piece.numbers.size() - n, n) * width);  // at least as many have two pages
        std::byte* copy = piece.copies.data();
        std::byte const* const* page = piece.pages.data.data();
        for (std::size_t i = 0; i < n; ++i) {
            std::int64_t const id = ids[piece.begin + i];
            std::size_t const count = static_cast<std::size_t>(pages_.last(id) - pages_.first(id)) + 1;
            auto at = static_cast<std::size_t>(pages_.begin(id) % PageCache::page_bytes);
            piece.rows[i] = count == 1 ? *page + at : copy;
            if (count == 1) {
                ++page;
                continue;
            }
            for (std::size_t left = width; left != 0; at = 0, ++page) {
                std::size_t const part = std::min(left, PageCache::page_bytes - at);
                std::memcpy(copy, *page + at, part);
                copy += part;
                left -= part;
            }
        }
    }

    RowPages pages_;
    std::size_t most_rows_;
    std::shared_ptr<Opened> opened_;
};

}  // namespace rowan::inline v0::detail
