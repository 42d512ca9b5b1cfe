// rowan/io/detail/table_store.hpp: TableStore, the mapped file of a table, and the journal that restores it.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/mapped_table.hpp>
#include <rowan/io/detail/table_journal.hpp>
#include <rowan/io/detail/table_layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class Files>
class TableStore {
public:
    TableStore(TableStore const&) = delete;
    TableStore& operator=(TableStore const&) = delete;
    ~TableStore() {
        if (!broken_ && journal_.empty()) journal_.remove();
    }

    /// A new file. fill(data) writes the first rows of the table.
    template <class Fill>
    static std::unique_ptr<TableStore> create(std::string path, TableLayout layout, bool allocate, bool power_safe,
                                              Fill const& fill) {
        std::unique_ptr<TableStore> store(new TableStore(checked_path("create", std::move(path)), power_safe));
        std::string const folder = folder_of(store->path_);
        struct stat about {};
        if (uninterrupted([&] { return Files::lstat(store->path_.c_str(), about); }) == 0)
            throw_io("create", store->path_, EEXIST);
        remove_abandoned(folder);
        struct Temporary {
            std::string path{};
            ~Temporary() {
                if (!path.empty()) Files::unlink(path.c_str());
            }
        } temporary;
        for (int k = 0; temporary.path.empty(); ++k) {
            std::string name = temporary_path(folder);
            auto file = OpenFile<Files>::open(name, O_RDWR | O_CREAT | O_EXCL, 0666);
            if (file.get() < 0 && (errno != EEXIST || k == 1000)) throw_io("create", store->path_);
            if (file.get() < 0) continue;
            temporary.path = std::move(name);
            if (!lock_temporary<Files>(file.get(), store->path_)) temporary.path.clear();
            store->file_ = std::move(file);
        }
        layout.id = random_id(store->path_);
        if (uninterrupted([&] { return ::ftruncate(store->file_.get(), static_cast<off_t>(layout.file_bytes)); }) != 0)
            throw_io("resize", store->path_);
        if (allocate) allocate_file(store->file_.get(), store->path_, 0, layout.file_bytes);
        store->map(static_cast<std::size_t>(layout.file_bytes));
        auto const header = layout.header();
        std::memcpy(store->memory_.get(), header.data(), header.size());
        fill(store->memory_.get() + layout.offsets[0]);
        store->layout_ = std::move(layout);
        store->file_.sync(store->path_);
        name_new_file(temporary.path, store->path_);
        sync_folder_of<Files>(store->path_);
        store->ready();
        return store;
    }

    /// The file at a path, as of its last save. check(layout) may refuse it.
    template <class Check>
    static std::unique_ptr<TableStore> open(std::string path, bool power_safe, Check const& check) {
        std::unique_ptr<TableStore> store(new TableStore(checked_path("open", std::move(path)), power_safe));
        store->file_ = OpenFile<Files>::open(store->path_, O_RDWR | O_NONBLOCK);
        int const file = store->file_.get();
        if (file < 0) throw_io("open", store->path_);
        struct stat about {};
        if (uninterrupted([&] { return Files::fstat(file, about); }) != 0) throw_io("stat", store->path_);
        if (!S_ISREG(about.st_mode)) throw IoError("open", store->path_, "not a regular file", EINVAL);
        if (uninterrupted([&] { return Files::flock(file, LOCK_EX | LOCK_NB); }) != 0) {
            if (errno != EWOULDBLOCK) throw_io("lock", store->path_);
            throw IoError("lock", store->path_, "it is open, in this process or another", EWOULDBLOCK);
        }
        auto const size = static_cast<std::size_t>(about.st_size);
        if (size < table_page) throw FormatError(size, "the header", "is not complete");
        store->map(size);
        store->layout_ = TableLayout::parse(std::span(store->memory_.get(), size));
        check(store->layout_);
        store->restore();
        store->ready();
        return store;
    }

    TableLayout const& layout() const noexcept { return layout_; }
    std::shared_ptr<std::byte> const& memory() const noexcept { return memory_; }
    std::string const& path() const noexcept { return path_; }
    std::uint64_t generation() const noexcept { return generation_; }

    /// Prepares rows for being written: their pages are in the journal, and on the disk there is room for them.
    /// requires   rows in [0, height)
    void change(Cpu exec, Ids<> const& rows) {
        check_whole();
        Fresh fresh{*this};
        each_page(rows, [&](std::uint64_t page) {
            if (has(journaled_, page)) return;
            fresh.pages.push_back(page);
            journaled_[page / 64] |= std::uint64_t{1} << page % 64;
        });
        auto& pages = fresh.pages;
        if (pages.empty()) return;
        std::sort(pages.begin(), pages.end());
        allocate(pages);
        static constexpr std::size_t most = 256;  // 1 MiB of records
        Buffer<std::byte> records(std::min(most, pages.size()) * table_record_bytes);
        for (std::size_t from = 0, n = 0; from < pages.size(); from += n) {
            n = std::min(most, pages.size() - from);
            for_runs(std::span(pages).subspan(from, n), [&](std::uint64_t first, std::uint64_t count) {
                will_need(memory_.get() + first * table_page, static_cast<std::size_t>(count) * table_page);
            });
            parallel_for(exec, n, 16, [&](std::size_t k, std::size_t end) {
                for (; k < end; ++k) write_record(pages[from + k], records.data() + k * table_record_bytes);
            });
            journal_.append(std::span(records).first(n * table_record_bytes), power_safe_);
            fresh.written = from + n;
        }
        if (power_safe_) {
            broken_ = true;
            journal_.sync();
            broken_ = false;
        }
        put(table_unsaved, generation_);
    }

    /// Makes the rows as they are now what an interrupted program leaves.
    void save() {
        check_whole();
        if (journal_.empty()) return;
        broken_ = true;  // after an error, what is on the disk is known only when the file is opened again
        file_.sync(path_);
        put(generation_ % 2 == 0 ? 2 * table_generations : table_generations, TableGeneration::of(generation_ + 1));
        file_.sync(path_);
        ++generation_;
        clear_journal();
        broken_ = false;
    }

    void prefetch(Ids<> const& rows) const {
        std::vector<std::uint64_t> pages;
        each_page(rows, [&](std::uint64_t page) { pages.push_back(page); });
        std::sort(pages.begin(), pages.end());
        pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
        for_runs(std::span<std::uint64_t const>(pages), [&](std::uint64_t first, std::uint64_t count) {
            will_need(memory_.get() + first * table_page, static_cast<std::size_t>(count) * table_page);
        });
    }

    void release() noexcept { release_pages(memory_.get(), static_cast<std::size_t>(layout_.file_bytes)); }

private:
    /// Pages that are marked as being in the journal: those not yet written are unmarked if an exception is thrown.
    struct Fresh {
        TableStore& store;
        std::vector<std::uint64_t> pages{};
        std::size_t written = 0;

        ~Fresh() {
            for (std::size_t i = written; i < pages.size(); ++i)
                store.journaled_[pages[i] / 64] &= ~(std::uint64_t{1} << pages[i] % 64);
        }
    };

    TableStore(std::string path, bool power_safe)
        : path_(std::move(path)), journal_(path_ + ".journal"), power_safe_(power_safe) {}

    void map(std::size_t n) { memory_ = map_shared(file_.get(), path_, n); }

    /// Writes a number into the first page, as one store that a killed process has made or not.
    template <class X>
    void put(std::size_t at, X const& x) {
        std::memcpy(memory_.get() + at, &x, sizeof x);
    }
    template <class X>
    X get(std::size_t at) const {
        X x;
        std::memcpy(&x, memory_.get() + at, sizeof x);
        return x;
    }

    /// Copies the pages of the journal back.
    void restore() {
        for (std::size_t const at : {table_generations, 2 * table_generations}) {
            auto const slot = get<TableGeneration>(at);
            if (slot.valid()) generation_ = std::max(generation_, slot.number);
        }
        if (generation_ == 0) throw FormatError(table_generations, "the generations", "have other checksums");
        auto const pages = layout_.file_bytes / table_page;
        std::size_t const n =
            journal_.replay(layout_.id, generation_, pages, [&](std::uint64_t page, std::span<std::byte const> bytes) {
                std::memcpy(memory_.get() + page * table_page, bytes.data(), bytes.size());
            });
        bool const changed = get<std::uint64_t>(table_unsaved) == generation_;
        if (n == 0 && changed) {
            throw FormatError(table_unsaved, "the rows",
                              "were changed after they were saved, and there is no journal that restores them");
        }
        if (n != 0) {
            file_.sync(path_);
            put(table_unsaved, std::uint64_t{0});
            file_.sync(path_);
        }
    }

    void ready() {
        if (generation_ == 0) generation_ = 1;
        journaled_.resize(static_cast<std::size_t>(layout_.file_bytes / table_page / 64 + 1));
        struct stat about {};
        if (uninterrupted([&] { return Files::fstat(file_.get(), about); }) != 0) throw_io("stat", path_);
        if (static_cast<std::uint64_t>(about.st_blocks) * 512 < layout_.file_bytes)
            allocated_.resize(journaled_.size());
        clear_journal();
        broken_ = false;
    }

    void clear_journal() {
        journal_.clear();
        std::fill(journaled_.begin(), journaled_.end(), 0);
    }

    void check_whole() const {
        if (!broken_) return;
        throw IoError("write", path_, "after an error it is unknown what is on the disk: open the file again", EIO);
    }

    static bool has(Buffer<std::uint64_t> const& pages, std::uint64_t page) {
        return (pages[page / 64] >> page % 64 & 1) != 0;
    }

    template <class Visit>
    void each_page(Ids<> const& rows, Visit const& visit) const {
        for (std::size_t part = 0; part < layout_.parts.size(); ++part) {
            std::uint64_t const begin = layout_.offsets[part], bytes = layout_.row_bytes(part);
            if (bytes == 0) continue;
            rows.visit([&](auto list) {
                for (auto const row : list) {
                    std::uint64_t const at = begin + static_cast<std::uint64_t>(row) * bytes;
                    for (std::uint64_t page = at / table_page; page <= (at + bytes - 1) / table_page; ++page)
                        visit(page);
                }
            });
        }
    }

    /// Calls f(first, count) for each run of consecutive pages.
    template <class F>
    static void for_runs(std::span<std::uint64_t const> pages, F const& f) {
        for (std::size_t i = 0, n = 1; i < pages.size(); i += n, n = 1) {
            while (i + n < pages.size() && pages[i + n] == pages[i] + n) ++n;
            f(pages[i], n);
        }
    }

    /// A store to a page for which a full disk has no room would end the process with SIGBUS.
    void allocate(std::span<std::uint64_t const> pages) {
        if (allocated_.empty()) return;
        for_runs(pages, [&](std::uint64_t first, std::uint64_t count) {
            std::uint64_t const end = first + count;
            while (first != end && has(allocated_, first)) ++first;
            if (first == end) return;
            allocate_file(file_.get(), path_, first * table_page, (end - first) * table_page);
            for (; first != end; ++first) allocated_[first / 64] |= std::uint64_t{1} << first % 64;
        });
    }

    void write_record(std::uint64_t page, std::byte* to) const {
        std::memcpy(to + sizeof(TableRecord), memory_.get() + page * table_page, table_page);
        TableRecord record{.id = layout_.id, .generation = generation_, .page = page};
        record.sum = record.sum_with({to + sizeof record, table_page});
        std::memcpy(to, &record, sizeof record);
    }

    std::string path_;
    OpenFile<Files> file_;
    std::shared_ptr<std::byte> memory_;
    TableLayout layout_;
    TableJournal<Files> journal_;
    Buffer<std::uint64_t> journaled_;  // a bit for each page that is in the journal
    Buffer<std::uint64_t> allocated_;  // a bit for each page that is known to have room; none for a file that has all
    std::uint64_t generation_ = 0;
    bool power_safe_;
    bool broken_ = true;
};

}  // namespace rowan::inline v0::detail
