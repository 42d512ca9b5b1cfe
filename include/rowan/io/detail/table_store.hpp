// rowan/io/detail/table_store.hpp: TableStore, the mapped file of a table, and the journal that restores it.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/mapped_table.hpp>
#include <rowan/io/detail/open_file.hpp>
#include <rowan/io/detail/page_set.hpp>
#include <rowan/io/detail/table_journal.hpp>
#include <rowan/io/detail/table_layout.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class Files>
class TableStore {
public:
    TableStore(TableStore const&) = delete;
    TableStore& operator=(TableStore const&) = delete;
    ~TableStore() {
        if (::getpid() != process_) return;  // a forked child's copy: the parent still uses the files
        if (!temporary_.empty()) Files::unlink(temporary_.c_str());
        if (!broken_ && journal_.empty()) journal_.remove();
    }

    /// A new file, which has no name until `publish`. fill(data) writes the first rows of the table.
    template <class Fill>
    static std::unique_ptr<TableStore> create(std::string const& name, TableLayout layout, bool reserve,
                                              bool power_safe, Fill const& fill) {
        std::unique_ptr<TableStore> store(new TableStore(new_path(checked_path("create", name)), power_safe));
        std::string const& path = store->path_;
        struct stat about {};
        if (uninterrupted([&] { return Files::lstat(path.c_str(), about); }) == 0) throw_io("create", path, EEXIST);
        layout.id = random_id(path);
        store->journal_.open(layout.id);
        remove_abandoned(folder_of(path));
        std::tie(store->file_, store->temporary_) = OpenFile<Files>::temporary(folder_of(path), path);
        store->file_.resize(layout.file_bytes, path);
        store->file_.write(0, layout.header(), path);
        if (reserve) allocate_file(store->file_.get(), path, 0, layout.file_bytes);
        store->layout_ = std::move(layout);
        store->map();
        fill(store->memory_.get() + store->layout_.offsets[0]);
        store->file_.sync(path);
        store->ready();
        return store;
    }

    /// Gives a new file its name.
    void publish() {
        broken_ = true;
        name_new_file(temporary_, path_);
        try {
            sync_folder_of<Files>(path_);
        } catch (...) {
            Files::unlink(path_.c_str());
            throw;
        }
        Files::unlink(std::exchange(temporary_, {}).c_str());
        broken_ = false;
    }

    /// The file at a path, as of its last save. check(layout) may refuse it.
    template <class Check>
    static std::unique_ptr<TableStore> open(std::string const& name, bool power_safe, Check const& check) {
        std::unique_ptr<TableStore> store(new TableStore(real_path("open", checked_path("open", name)), power_safe));
        store->file_ = OpenFile<Files>::open(store->path_, O_RDWR | O_NONBLOCK | O_NOFOLLOW);
        if (store->file_.get() < 0) throw_io("open", store->path_);
        auto const size = static_cast<std::size_t>(store->file_.about(store->path_).st_size);
        store->file_.lock(store->path_);
        if (size < table_page) throw FormatError(size, "the header", "is not complete");
        store->map(size);
        store->layout_ = TableLayout::parse(store->path_, std::span(store->memory_.get(), size));
        check(store->layout_);
        store->journal_.open(store->layout_.id);
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
            if (journaled_.has(page)) return;
            fresh.pages.push_back(page);
            journaled_.add(page);
        });
        auto& pages = fresh.pages;
        if (pages.empty()) return;
        std::sort(pages.begin(), pages.end());
        allocate(pages);
        if (!temporary_.empty()) {  // no program finds it
            fresh.written = true;
            return;
        }
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
            journal_.append(std::span(records).first(n * table_record_bytes), layout_.id, file_, power_safe_);
        }
        if (power_safe_) {
            broken_ = true;
            journal_.sync();
            broken_ = false;
        }
        put(table_relied_on, journal_.records());  // before the generation: that of another one counts nothing
        put(table_unsaved, generation_);
        fresh.written = true;
    }

    /// Makes the rows as they are now what an interrupted program leaves.
    void save() {
        check_whole();
        if (!temporary_.empty()) {
            file_.sync(path_);
            publish();
            broken_ = true;
            clear_journal();
            broken_ = false;
            return;
        }
        if (journal_.empty()) return;
        broken_ = true;  // after an error, what is on the disk is known only when the file is opened again
        file_.sync(path_);
        put(place_of_generation(generation_ + 1), TableGeneration::of(generation_ + 1));
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
    /// Pages that are marked as being in the journal: they are unmarked if an exception is thrown.
    struct Fresh {
        TableStore& store;
        std::vector<std::uint64_t> pages{};
        bool written = false;

        ~Fresh() {
            if (written) return;
            for (auto const page : pages) store.journaled_.remove(page);
        }
    };

    TableStore(std::string path, bool power_safe)
        : path_(std::move(path)), journal_(path_ + ".journal"), power_safe_(power_safe) {}

    void map(std::size_t n) { memory_ = map_shared(file_.get(), path_, n); }
    void map() { map(static_cast<std::size_t>(layout_.file_bytes)); }

    /// Writes into the first page, after all stores before it and before those that follow. A killed process has made
    /// that of a number or not, and that of a generation perhaps in part.
    template <class X>
    void put(std::size_t at, X const& x) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::memcpy(memory_.get() + at, &x, sizeof x);
        std::atomic_signal_fence(std::memory_order_seq_cst);
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
            if (slot.valid() && at == place_of_generation(slot.number))
                generation_ = std::max(generation_, slot.number);
        }
        if (generation_ == 0) throw FormatError(table_generations, "the generations", "have other checksums");
        auto const pages = journal_.scan(layout_.id, generation_, layout_.file_bytes / table_page);
        check_records(pages.size());
        auto const other = TableGeneration::of(generation_ - 1);
        std::size_t const at = place_of_generation(other.number);
        if (pages.empty() && get<TableGeneration>(at) != other) {
            throw FormatError(at, {"the generation beside ", generation_},
                              "is damaged, and there is no journal of a save that did not end: it may be the later "
                              "one");
        }
        if (pages.empty()) return;
        for (auto const page : pages) allocate_file(file_.get(), path_, page * table_page, table_page);
        for (std::size_t k = 0; k < pages.size(); ++k)
            journal_.read(k, std::span<std::byte, table_page>(memory_.get() + pages[k] * table_page, table_page));
        file_.sync(path_);
        put(at, other);
        put(table_unsaved, std::uint64_t{0});
        file_.sync(path_);
    }

    /// errors   FormatError if the journal has fewer records than the rows that were changed need
    void check_records(std::uint64_t found) const {
        auto const unsaved = get<std::uint64_t>(table_unsaved), wanted = get<std::uint64_t>(table_relied_on);
        if (unsaved < generation_) return;
        auto const fail = [](std::string const& what) { throw FormatError(table_unsaved, "the rows", what); };
        if (unsaved > generation_) {
            fail("were changed after generation " + std::to_string(unsaved) + " was saved, and the table is of " +
                 std::to_string(generation_));
        }
        if (found == 0) fail("were changed after they were saved, and there is no journal that restores them");
        if (wanted == 0) fail("were changed by a version of rowan that did not count the records of the journal");
        if (found < wanted) {
            fail("were changed after they were saved, and the journal " + journal_.path() + " has " +
                 std::to_string(found) + " whole records of the " + std::to_string(wanted) + " that restore them");
        }
    }

    void ready() {
        if (generation_ == 0) generation_ = 1;
        std::uint64_t const pages = layout_.file_bytes / table_page;
        journaled_.resize(pages);
        auto const space = static_cast<std::uint64_t>(file_.about(path_).st_blocks) * 512;
        if (!has_space(file_.get(), space, layout_.file_bytes)) allocated_.resize(pages);
        clear_journal();
        broken_ = false;
    }

    void clear_journal() {
        journal_.clear();
        journaled_.clear();
    }

    void check_whole() const {
        if (!broken_) return;
        throw IoError("write", path_, "after an error it is unknown what is on the disk: open the file again", EIO);
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

    /// A store to a page for which a full disk has no room would end the process with SIGBUS.
    void allocate(std::span<std::uint64_t const> pages) {
        if (allocated_.none()) return;
        for_runs(pages, [&](std::uint64_t first, std::uint64_t count) {
            std::uint64_t const end = first + count;
            while (first != end && allocated_.has(first)) ++first;
            if (first == end) return;
            allocate_file(file_.get(), path_, first * table_page, (end - first) * table_page);
            for (; first != end; ++first) allocated_.add(first);
        });
    }

    void write_record(std::uint64_t page, std::byte* to) const {
        std::memcpy(to + sizeof(TableRecord), memory_.get() + page * table_page, table_page);
        TableRecord record{.id = layout_.id, .generation = generation_, .page = page};
        record.sum = record.sum_with({to + sizeof record, table_page});
        std::memcpy(to, &record, sizeof record);
    }

    std::string path_, temporary_;  // the latter is that of a new file
    OpenFile<Files> file_;
    std::shared_ptr<std::byte> memory_;
    TableLayout layout_;
    TableJournal<Files> journal_;
    PageSet journaled_;  // the pages that are in the journal
    PageSet allocated_;  // those that are known to have room; none() for a file that has all
    std::uint64_t generation_ = 0;
    bool power_safe_;
    bool broken_ = true;
    ::pid_t process_ = ::getpid();
};

}  // namespace rowan::inline v0::detail
