// rowan/io/detail/table_store.hpp: TableStore, the mapped file of a table, and the journal that restores it.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/io/detail/any_table_store.hpp>
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
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class Files>
class TableStore final : public AnyTableStore {
public:
    ~TableStore() override {
        if (::getpid() != process_) return;  // a forked child's copy: the parent still uses the files
        if (!temporary_.empty()) Files::unlink(temporary_.c_str());
        if (!broken_ && journal_.empty()) journal_.remove();
    }

    /// A new file, which has no name until `publish`.
    static std::unique_ptr<TableStore> create(std::string const& name, TableLayout layout, NewTable const& how) {
        std::unique_ptr<TableStore> store(new TableStore(new_path(checked_path("create", name)), how.power_safe));
        std::string const& path = store->path_;
        struct stat about {};
        if (uninterrupted([&] { return Files::lstat(path.c_str(), about); }) == 0) {
            if (how.replaces_first) store->replaced_ = only_first(path);
            if (store->replaced_ == nullptr) throw_io("create", path, EEXIST);
        }
        layout.id = random_id(path);
        store->journal_.open(layout.id);
        remove_abandoned(folder_of(path));
        std::tie(store->file_, store->temporary_) = OpenFile<Files>::temporary(folder_of(path), path);
        store->file_.resize(layout.file_bytes, path);
        store->file_.write(0, layout.header(), path);
        if (how.reserve) allocate_file(store->file_.get(), path, 0, layout.file_bytes);
        store->layout_ = std::move(layout);
        store->memory_.map(store->file_.get(), path, static_cast<std::size_t>(store->layout_.file_bytes));
        store->memory_.map_parts(store->file_.get(), path, store->layout_);
        store->put(place_of_mark(1), random_id(path));
        if (how.fill) how.fill(store->data(0));
        store->file_.sync(path);
        store->ready();
        return store;
    }

    /// Gives a new file its name.
    void publish() override {
        broken_ = true;
        if (replaced_ != nullptr) {
            Files::unlink(path_.c_str());
            replaced_ = nullptr;
            remove_abandoned(folder_of(path_));  // its temporary name, if it has that still
        }
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

    /// The file at a path, as of its last save.
    static std::unique_ptr<TableStore> open(std::string const& name, bool power_safe,
                                            std::function<void(TableLayout const&)> const& check) {
        std::unique_ptr<TableStore> store(new TableStore(real_path("open", checked_path("open", name)), power_safe));
        store->file_ = OpenFile<Files>::open(store->path_, O_RDWR | O_NONBLOCK | O_NOFOLLOW);
        if (store->file_.get() < 0) throw_io("open", store->path_);
        auto const size = static_cast<std::size_t>(store->file_.about(store->path_).st_size);
        store->file_.lock(store->path_);
        if (size < table_page) throw FormatError(size, "the header", "is not complete");
        store->memory_.map(store->file_.get(), store->path_, size);
        store->layout_ = TableLayout::parse(store->path_, std::span(store->memory_.page(0), size));
        check(store->layout_);
        store->journal_.open(store->layout_.id);
        store->restore();
        store->memory_.map_parts(store->file_.get(), store->path_, store->layout_);
        store->ready();
        return store;
    }

    /// Whether it has no save yet, or rows or its height may have changed since the last one.
    bool changed() const noexcept override { return !journal_.empty() || !temporary_.empty(); }

    /// The first generation that `go_back` leads to. 0: that before the first save.
    std::uint64_t first_kept() const noexcept {
        auto const kept = get<std::uint64_t>(table_kept);
        return kept == 0 || kept > generation_ ? generation_ : kept - 1;
    }

    /// The height of a save: this one, or one that is kept.
    std::uint64_t height(std::uint64_t generation) const override {
        return layout_.first_rows == 0 ? layout_.height : get<std::uint64_t>(place_of_height(generation));
    }
    /// The random number of a save: this one, or one that is kept.
    std::uint64_t mark(std::uint64_t generation) const override {
        return get<std::uint64_t>(place_of_mark(generation));
    }

    /// Checks that it can go back to a save.
    void check_way(std::uint64_t to) const override {
        check_whole();
        if (!temporary_.empty()) throw Error({path_, " has no save yet: it does not go back to one"});
        if (to == 0 || to < first_kept() || to > generation_) {
            std::string way = ", and no journal leads back";
            if (first_kept() < generation_) way.append(" before ").append(std::to_string(first_kept() - 1));
            throw FormatError(table_generations, "the save",
                              {to - 1, " is not in ", path_, ", whose last one is ", generation_ - 1, way});
        }
        for (auto g = to; g < generation_; ++g) {
            TableJournal<Files> kept(kept_path(g));
            std::size_t const found =
                kept.open(layout_.id) ? kept.scan(layout_.id, g, layout_.file_bytes / table_page).size() : 0;
            if (auto const wanted = get<std::uint64_t>(place_of_kept(g)); found < wanted || found == 0)
                throw FormatError(0, {"the journal ", kept.path()},
                                  {"has ", found, " whole records of the ", wanted, " that lead back to a save"});
        }
    }
    /// Makes the rows what they were as of the last save or an earlier one that is kept. All later changes are forgotten.
    void go_back(std::uint64_t to) override {
        check_way(to);
        if (!journal_.empty()) {
            broken_ = true;
            restore();
            clear_journal();
            broken_ = false;
        }
        forget_before(1);
        while (generation_ != to) {  // each makes the last save one that did not end
            broken_ = true;
            std::uint64_t const g = generation_ - 1;
            journal_.remove();
            TableJournal<Files>(kept_path(g)).move_to(journal_.path());
            if (power_safe_) sync_folder_of<Files>(path_);  // before the journal is needed
            if (!journal_.open(layout_.id)) throw_io("open", journal_.path(), ENOENT);
            put(table_relied_on, get<std::uint64_t>(place_of_kept(g)));
            put(table_unsaved, g);
            put(place_of_generation(generation_), TableGeneration::of(g - 1));
            file_.sync(path_);
            restore();
            clear_journal();
            broken_ = false;
        }
        clear_kept();
    }

    /// Forgets the saves before a generation.
    void forget_before(std::uint64_t generation) override {
        check_whole();
        bool const first = first_kept() == 0;
        forget(generation);
        if (first && first_kept() != 0) file_.sync(path_);  // from now on nothing takes its place
    }

    /// Prepares rows for being written: their pages are in the journal, and on the disk there is room for them.
    /// requires   rows in [0, height)
    void change(Cpu exec, Ids<> const& rows) override {
        check_whole();
        Fresh fresh{*this};
        each_page(rows, [&](std::uint64_t page) { fresh.add(page); });
        write(exec, fresh);
    }

    /// Changes the height of a table that grows. New rows are what the file has there: zeros, or rows that were there before.
    void resize(std::uint64_t height) override {
        check_whole();
        if (height == layout_.height) return;
        if (layout_.first_rows == 0) throw Error({path_, " has a fixed height: it was not made with .grows"});
        Fresh fresh{*this};
        fresh.add(layout_.offsets[0] / table_page);  // so that a save has a journal
        write(Cpu{1}, fresh);
        if (height > layout_.rows) extend(height);
        layout_.height = height;
    }

    /// Makes the rows as they are now what an interrupted program leaves. If they changed, and it `keeps` the save before, the
    /// file can go back to that; otherwise to none.
    void save(bool keeps) override {
        check_whole();
        if (!changed()) return;
        std::uint64_t const mark = random_id(path_);
        if (!temporary_.empty()) {
            if (layout_.first_rows != 0) put(place_of_height(generation_), layout_.height);
            put(place_of_mark(generation_), mark);
            put(table_kept, std::uint64_t{keeps});
            file_.sync(path_);
            publish();
            broken_ = true;
            clear_journal();
            broken_ = false;
            return;
        }
        broken_ = true;  // after an error, what is on the disk is known only when the file is opened again
        std::uint64_t const g = generation_;
        if (g >= 2) forget(g - 1);  // there is room for two
        std::uint64_t const kept = first_kept();
        if (keeps || kept < g) put(place_of_kept(g), journal_.records());
        if (keeps) put(table_kept, kept + 1);
        if (layout_.first_rows != 0) put(place_of_height(g + 1), layout_.height);
        put(place_of_mark(g + 1), mark);
        file_.sync(path_);
        put(place_of_generation(g + 1), TableGeneration::of(g + 1));
        file_.sync(path_);
        ++generation_;
        if (keeps) {
            journal_.move_to(kept_path(g));
            journaled_.clear();
        } else {
            forget(generation_);
            clear_journal();
        }
        broken_ = false;
    }

    void prefetch(Ids<> const& rows) const override {
        std::vector<std::uint64_t> pages;
        each_page(rows, [&](std::uint64_t page) { pages.push_back(page); });
        std::sort(pages.begin(), pages.end());
        pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
        for_runs(std::span<std::uint64_t const>(pages), [&](std::uint64_t first, std::uint64_t count) {
            will_need(memory_.page(first), static_cast<std::size_t>(count) * table_page);
        });
    }

private:
    /// Pages that are marked as being in the journal: they are unmarked if an exception is thrown.
    struct Fresh {
        TableStore& store;
        std::vector<std::uint64_t> pages{};
        bool written = false;

        void add(std::uint64_t page) {
            if (store.journaled_.has(page)) return;
            pages.push_back(page);
            store.journaled_.add(page);
        }
        ~Fresh() {
            if (written) return;
            for (auto const page : pages) store.journaled_.remove(page);
        }
    };

    TableStore(std::string path, bool power_safe)
        : AnyTableStore(std::move(path)), journal_(path_ + ".journal"), power_safe_(power_safe) {}

    std::string kept_path(std::uint64_t generation) const {
        return journal_.path() + "." + std::to_string(generation - 1);
    }
    void forget(std::uint64_t generation) {
        std::uint64_t const end = std::min(generation, generation_);
        std::uint64_t g = first_kept();
        if (g >= end) return;
        for (; g < end; ++g) {
            if (g != 0) Files::unlink(kept_path(g).c_str());
        }
        put(table_kept, end == generation_ ? std::uint64_t{0} : end + 1);
    }
    void clear_kept() {
        if (get<std::uint64_t>(table_kept) != 0 && first_kept() == generation_) put(table_kept, std::uint64_t{0});
    }

    /// A file that was saved once, by a program that was killed before anything named that save, or null.
    /// errors   IoError if another program has it
    static std::unique_ptr<TableStore> only_first(std::string const& path) {
        std::unique_ptr<TableStore> found;
        try {
            found = open(path, false, [](auto const&) {});
        } catch (FormatError const&) {
            return nullptr;
        }
        if (found->path_ != path || found->first_kept() != 0 || found->generation_ != 1) return nullptr;
        found->journal_.remove();
        found->journal_ = TableJournal<Files>(found->journal_.path());  // the new one locks it
        return found;
    }

    void extend(std::uint64_t height) {
        TableLayout larger = layout_;
        while (larger.rows < height) larger.double_rows();
        memory_.check_room(larger);
        std::uint64_t const before = layout_.file_bytes / table_page, pages = larger.file_bytes / table_page;
        bool const all_allocated = allocated_.none();
        allocated_.resize(pages);
        for (std::uint64_t page = 0; all_allocated && page < before; ++page) allocated_.add(page);
        journaled_.resize(pages);
        file_.resize(larger.file_bytes, path_);
        memory_.extend(file_.get(), path_, layout_, larger);
        layout_ = std::move(larger);
    }

    /// Prepares pages for being written.
    void write(Cpu exec, Fresh& fresh) {
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
                will_need(memory_.page(first), static_cast<std::size_t>(count) * table_page);
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

    /// Writes into the first page, after all stores before it and before those that follow. A killed process has made
    /// that of a number or not, and that of a generation perhaps in part.
    template <class X>
    void put(std::size_t at, X const& x) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::memcpy(memory_.page(0) + at, &x, sizeof x);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    template <class X>
    X get(std::size_t at) const {
        X x;
        std::memcpy(&x, memory_.page(0) + at, sizeof x);
        return x;
    }

    /// Copies the pages of the journal back.
    void restore() {
        generation_ = 0;
        for (std::size_t const at : {table_generations, 2 * table_generations}) {
            auto const slot = get<TableGeneration>(at);
            if (slot.valid() && at == place_of_generation(slot.number))
                generation_ = std::max(generation_, slot.number);
        }
        if (generation_ == 0) throw FormatError(table_generations, "the generations", "have other checksums");
        if (layout_.first_rows != 0) layout_.height = get<std::uint64_t>(place_of_height(generation_));
        if (layout_.first_rows != 0 && layout_.height > layout_.rows)
            throw FormatError(place_of_height(generation_), "the height",
                              {"is ", layout_.height, ", at most ", layout_.rows, " rows are in the file"});
        // a save that keeps its journal, or going back, did not end
        if (first_kept() < generation_ && journal_.is_of(layout_.id, generation_ - 1))
            journal_.move_to(kept_path(generation_ - 1));
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
            journal_.read(k, std::span<std::byte, table_page>(memory_.page(pages[k]), table_page));
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
        clear_kept();
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
            std::uint64_t const bytes = layout_.row_bytes(part);
            if (bytes == 0) continue;
            rows.visit([&](auto list) {
                for (auto const row : list) {
                    std::uint64_t const at = layout_.place(part, static_cast<std::uint64_t>(row));
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
        std::memcpy(to + sizeof(TableRecord), memory_.page(page), table_page);
        TableRecord record{.id = layout_.id, .generation = generation_, .page = page};
        record.sum = record.sum_with({to + sizeof record, table_page});
        std::memcpy(to, &record, sizeof record);
    }

    std::string temporary_;  // the path of a new file
    OpenFile<Files> file_;
    TableJournal<Files> journal_;
    PageSet journaled_;  // the pages that are in the journal
    PageSet allocated_;  // those that are known to have room; none() for a file that has all
    std::unique_ptr<TableStore> replaced_ = nullptr;  // by the first save
    bool power_safe_;
    bool broken_ = true;
    ::pid_t process_ = ::getpid();
};

template <class Files>
struct TableStores {
    static auto create(std::string const& name, TableLayout layout, NewTable const& how) {
        return TableStore<Files>::create(name, std::move(layout), how);
    }
    static auto open(std::string const& name, bool power_safe, std::function<void(TableLayout const&)> const& check) {
        return TableStore<Files>::open(name, power_safe, check);
    }
};

#if ROWAN_DEFINES_FUNCTIONS
ROWAN_FUNCTION AnyTableStore::AnyTableStore(std::string path) : path_(std::move(path)) {}
ROWAN_FUNCTION AnyTableStore::~AnyTableStore() = default;

ROWAN_CALLED_FUNCTION std::unique_ptr<AnyTableStore> TableStores<PosixFiles>::create(std::string const& name,
                                                                                     TableLayout layout,
                                                                                     NewTable const& how) {
    return TableStore<PosixFiles>::create(name, std::move(layout), how);
}

ROWAN_CALLED_FUNCTION std::unique_ptr<AnyTableStore> TableStores<PosixFiles>::open(
    std::string const& name, bool power_safe, std::function<void(TableLayout const&)> const& check) {
    return TableStore<PosixFiles>::open(name, power_safe, check);
}
#endif

}  // namespace rowan::inline v0::detail
