// rowan/io/table_file.hpp: TableFile, a table in a file that training writes to, for tables larger than memory.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/any_table_store.hpp>
#include <rowan/io/detail/table_layout.hpp>
#include <rowan/sparse/detail/table_step.hpp>
#include <rowan/sparse/touched_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

struct TableFileAccess;

}  // namespace detail

/// What a new TableFile holds.
struct TableFileShape {
    Height height = 0;                    ///< the number of rows
    std::size_t width = 1;                ///< the number of elements of a row
    std::vector<TableState> states = {};  ///< tensors of that height beside the rows, which begin with zeros
    bool grows = false;                   ///< whether the height can change later
    /// Reserves the whole file on the disk. Otherwise the file is sparse: rows that never changed need no space.
    bool allocate = false;
};

/// How a TableFile is written.
struct TableFileOptions {
    /// Whether a power failure or a crash of the system, too, leaves the table as of its last save. Then each call of
    /// `change` that has rows which have not changed since waits for the disk, once.
    bool power_safe = false;
};

/// A table in a file, with the states of its optimizer, which algorithms read and write in place: the file is mapped
/// into memory, and the system loads the pages that are used and writes those that changed. The table may be larger
/// than the memory.
///
///     TableFile<float>::create("users.table", {.height = 1'000'000'000, .width = 64,
///                                              .states = {TableState::of<float>("moment")}});
///     TableFile<float> users("users.table");
///     auto x = gather(users.rows(), ids);
///     rowwise_adagrad(users, gradient);                    the state "moment"; or any other optimizer
///     users.change(other.rows());                          or any algorithm, after this call
///     sgd(users.rows(), other, 0.1);
///     users.save();
///
/// **Interrupted programs.** A program that ends at any moment, also by SIGKILL, leaves the table as of the last `save`
/// that returned, or of the save that it interrupted: the next program that opens the file finds this. For that,
/// `change` copies each page of 4 KiB, before it changes for the first time after a save, to the journal
/// `<path>.journal`, which must stay with the file: of a symbolic link, that is the file that it names. Only `change`
/// knows what will change: it comes before any algorithm that writes.
///
/// **Two files of one moment.** What goes with the table, such as a checkpoint of the rest of a training, names the number
/// of a save. `save_and_keep` leaves what leads back to save n before it beside the file, as `<path>.journal.<n>`, until the
/// other file is on the disk, too; a program that opens both takes the table to the save that the other one names:
///     users.save_and_keep();
///     save_checkpoint(rest, "rest.rowan");                 with users.saves()
///     users.forget_saves_before(users.saves());
///     ...
///     users.go_back(saves);                                of the checkpoint that was loaded
///
/// **Height.** A table that was made with `.grows` gets more rows by `grow`; a save keeps the height.
///
/// **Locks.** The file is locked until the TableFile and all tensors that share its memory are gone, also in child
/// processes that were forked from this one. Of these only one may use the table, and only the process that opened it
/// removes the journal, when it is empty. On file systems without locks nothing keeps another from opening it.
///
/// **Power.** After a power failure the same is true if `.power_safe` was set, and if the disk keeps what it has
/// confirmed. Otherwise the file may be in a state between two saves, which opening detects only in part: load a
/// checkpoint.
///
/// **Memory.** Pages that changed are written by the system when it needs memory, others are dropped. The process's
/// resident memory counts all pages that it has used, up to the whole table, although the system can take them back at
/// any time; `release()` gives them back. A TableFile itself has one bit for each row and two for each page. One that grows is
/// mapped twice, and reserves addresses for 512 GiB or four times its rows.
///
/// **Disk.** On file systems that reserve space, a full disk is an IoError of `change`, and nothing has changed. On
/// those that copy on write, such as Btrfs, it may end the process with SIGBUS, as an unreadable disk does. So may on
/// tmpfs a read of rows that were never written, which takes memory there.
/// requires   calls for one TableFile come from one thread at a time; nobody else changes the file's size
template <class T = float, class Files = detail::PosixFiles>
class TableFile {
    static_assert(element<T> && !std::is_same_v<T, bool>, "rowan::TableFile<T>: T is an element type other than bool");

public:
    using value_type = T;
    using names = Ids<>;  ///< of rows, see row_table

    /// Opens a file, as of its last save.
    /// errors   IoError if a system call fails, or another TableFile has the file or its journal open; TypeError if the
    ///          elements of its rows are not T; FormatError if it is damaged or shortened, its journal is missing,
    ///          damaged, shortened or another file, or it is none; std::bad_alloc; then the file is unchanged, or, if
    ///          the journal was read only in part, the journal still restores it. Rows have no checksums: a damaged row
    ///          is not detected
    /// cost     O(height / 64); the pages that were changed after the last save are copied back
    explicit TableFile(std::string const& path, TableFileOptions options = {})
        : TableFile(detail::TableStores<Files>::open(path, options.power_safe,
                                                     [](detail::TableLayout const& layout) { check_type(layout); })) {}

    /// Makes a new file, whose rows are zero, and opens it.
    /// errors   IoError if there is a file of this name, or a system call fails; FormatError if `<path>.journal` has
    ///          records of another table, or is another file; ShapeError if the height is negative, the table too
    ///          large, or its rows have no elements and are more than the file's bytes; Error if a state's name is
    ///          empty, longer than 255 bytes, or the name of another, or there are more than 1000 states;
    ///          std::bad_alloc; then there is no file
    /// cost     O(height / 64); with `.allocate` the system's cost of that
    static TableFile create(std::string const& path, TableFileShape const& shape, TableFileOptions options = {}) {
        return create(path, shape, nullptr, options);
    }
    /// Makes a new file, whose rows `first(row, span<T>)` writes, which are zero before, and opens it.
    /// requires   several threads may call `first` concurrently
    /// errors   those above; exceptions of `first`
    /// cost     one write of the table
    template <class First>
    static TableFile create(std::string const& path, TableFileShape const& shape, First const& first,
                            TableFileOptions options = {}) {
        auto file = made(path, shape, first, options, false);
        file.store_->publish();
        return file;
    }
    /// As create, but the file has no name before its first `save`, which throws the IoError if there is a file of it. A
    /// program that ends before leaves none, or, killed, one with a temporary name, which the next create removes. The first
    /// save replaces a file whose own first save was save_and_keep, and which neither go_back nor forget_saves_before nor
    /// another save followed: its program was killed before anything named it.
    /// errors   those of create; IoError if another program has that file
    /// cost     that of create
    template <class First>
    static TableFile create_unsaved(std::string const& path, TableFileShape const& shape, First const& first,
                                    TableFileOptions options = {}) {
        return made(path, shape, first, options, true);
    }

    std::int64_t height() const noexcept {
        return static_cast<std::int64_t>(store_->layout().height);
    }                                                                            ///< the number of rows
    std::size_t width() const noexcept { return parts()[0].width.value_or(1); }  ///< the number of elements of a row
    bool grows() const noexcept { return store_->layout().first_rows != 0; }     ///< whether the height can change
    std::string const& path() const noexcept { return store_->path(); }          ///< absolute, without symbolic links
    /// The number of saves since the file was made, for example to find out which batches a file has seen; without the first
    /// one after create_unsaved, which makes it.
    std::uint64_t saves() const noexcept { return store_->generation() - 1; }
    /// Whether it has no save yet, or `change` or `grow` was called since the last one.
    bool changed() const noexcept { return store_->changed(); }
    /// A number that no other table has.
    std::uint64_t id() const noexcept { return store_->layout().id; }
    /// The states that the file holds.
    std::span<TableState const> states() const noexcept { return parts().subspan(1); }

    /// The rows, [height, width]. Call `change` before they are written. Tensors that share their memory keep the file
    /// mapped.
    Tensor<T>& rows() noexcept { return rows_; }
    Tensor<T> const& rows() const noexcept { return rows_; }

    /// A state, [height, w], or [height] if it has no width. Call `change` before it is written.
    /// errors   Error if there is no such state, or another tensor was assigned to it; TypeError if its elements are not
    ///          S; std::bad_alloc
    /// cost     O(states)
    template <class S>
    Tensor<S>& state(std::string_view name) {
        std::size_t const part = find(name);
        if (part == parts().size()) throw Error({path(), " has no state \"", name, "\""});
        std::string const what = "the state \"" + parts()[part].name + "\"";
        check_element<S>(what.c_str(), parts()[part]);
        auto& [tensor, show] = states_[part - 1];
        if (tensor == nullptr) {
            tensor = std::make_shared<Tensor<S>>(borrow<S>(part));
            show = [](TableFile const& file, std::size_t k, void* to) {
                *static_cast<Tensor<S>*>(to) = file.borrow<S>(k);
            };
        }
        auto& found = *static_cast<Tensor<S>*>(tensor.get());
        check_held(found, what);
        return found;
    }

    /// Whether there is a state of this name, with elements of S.
    /// errors   std::bad_alloc
    /// cost     O(states)
    template <class S>
    bool has_state(std::string_view name) const {
        std::size_t const part = find(name);
        return part < parts().size() && parts()[part] == TableState::of<S>(parts()[part].name, parts()[part].width);
    }

    /// The rows of these numbers: see row_view.
    /// errors   IndexError if one is not in [0, height); std::bad_alloc
    /// cost     a copy of the numbers
    auto view(Cpu exec, Ids<> rows) {
        auto at = detail::RowNumbers<Cpu>::checked(exec, "rows", rows, height());
        return detail::ViewOfIds<TableFile>(*this, at.reshaped(rows.shape()));
    }
    auto view(Ids<> rows) { return view(Cpu{}, rows); }

    /// Prepares rows, and their states, for being written, and adds them to `touched()`. Duplicates are allowed. From
    /// then on they may be written any number of times until the next `save`.
    /// errors   IndexError if a row is not in [0, height); Error if another tensor was assigned to rows(); IoError if the
    ///          journal cannot be written, the disk is full, or after a failed `save`; FormatError if another file has taken the journal's place; std::bad_alloc; no
    ///          row has changed
    /// cost     two passes over the rows; for each page that was not changed since the last save 4 KiB are read, from
    ///          the disk if need be, and written to the journal, which the next save empties
    void change(Cpu exec, Ids<> rows) {
        check_held(rows_, "rows()");
        detail::check_ids(exec, "rows", rows, height());
        store_->change(exec, rows);
        touched_.add(rows);
    }
    void change(Ids<> rows) { change(Cpu{}, rows); }

    /// Adds rows of zeros, to a table that was made with `.grows`; after a KeyedFile had the file, perhaps rows of its keys.
    /// Tensors that were returned keep the rows that they had, and rows() and state() have all.
    /// errors   ShapeError if the height is less than before, or the file would have more than 2^62 bytes; Error if the table
    ///          does not grow; IoError as `change`, or if the file cannot be larger; std::bad_alloc, also if there are no
    ///          addresses; no height has changed
    /// cost     O(height / 64); where the rows do not fit into the file, this becomes twice as large, without space on the disk
    ///          for rows that are not written
    void grow(Height height) {
        if (std::int64_t{height} < this->height())
            throw ShapeError("height", std::int64_t{height}, {"at least ", this->height()});
        resize(height);
    }

    /// Writes all changes to the disk. They are what a program that opens the file later finds.
    /// errors   IoError if a system call fails: then neither `change` nor `save` can be called, and a TableFile that is
    ///          opened again has the rows of this save or of the one before
    /// cost     one write of the pages that changed, and two waits for the disk; nothing if neither `change` nor `grow` was called
    void save() { store_->save(false); }
    /// As save, and the table can go back to the save before it, until that is forgotten, or the table has changed and is saved
    /// by `save`, or begins to be saved a second time.
    /// errors   those of save
    /// cost     that of save; the journal keeps its place on the disk
    void save_and_keep() { store_->save(true); }
    /// A random number of this save, the last one or one that the table can go back to: another save with its number, after
    /// the table went back, has another one.
    /// requires   it is such a save
    /// errors   none
    /// cost     O(1)
    std::uint64_t mark(std::uint64_t saves) const { return store_->mark(saves + 1); }
    /// The height of this save, the last one or one that the table can go back to.
    /// requires   it is such a save
    /// errors   none
    /// cost     O(1)
    std::int64_t height(std::uint64_t saves) const { return static_cast<std::int64_t>(store_->height(saves + 1)); }
    /// Checks that go_back would do.
    /// errors   those of go_back
    /// cost     a read of the journals
    void check_way(std::uint64_t saves) const { store_->check_way(saves + 1); }
    /// Makes rows and states what they were as of this save, the last one or one before, and forgets all later changes. touched()
    /// does not have these rows: begin a new chain of delta checkpoints.
    /// errors   FormatError if there is no such save, or its journal is missing or damaged; Error if the file was never saved;
    ///          IoError if a system call fails; std::bad_alloc
    /// cost     a read and a write of the pages that were changed since
    void go_back(std::uint64_t saves) {
        try {
            store_->go_back(saves + 1);
            if (height() > touched_.height()) touched_.grow(height());
        } catch (...) {
            show();
            throw;
        }
        show();
    }
    /// Forgets what leads back to saves before this one.
    /// errors   IoError after a failed `save`, or if a system call fails; std::bad_alloc
    /// cost     removes a file or two
    void forget_saves_before(std::uint64_t saves) { store_->forget_before(saves + 1); }

    /// Asks the system to load rows and states that will be used soon, and returns at once.
    /// errors   IndexError if a row is not in [0, height); std::bad_alloc
    /// cost     a sort of the pages and a system call for each run of them
    void prefetch(Ids<> rows) const {
        detail::check_ids(Cpu{}, "rows", rows, height());
        store_->prefetch(rows);
    }

    /// Takes the pages out of the process's resident memory. They stay in the system's cache as long as there is room.
    void release() noexcept { store_->release(); }

    /// The rows that `change` was called for since the file was opened or this set cleared, for delta checkpoints:
    ///     delta.add("users", users.touched().of(users.rows()));
    ///     users.touched().clear();
    TouchedRows& touched() noexcept { return touched_; }
    TouchedRows const& touched() const noexcept { return touched_; }

    /// Whether a tensor is rows() or one of the states.
    template <class S>
    bool holds(Tensor<S> const& tensor) const noexcept {
        return store_->holds(std::as_bytes(std::span(tensor.data(), tensor.size())));
    }

private:
    friend struct detail::TableFileAccess;

    struct State {
        std::shared_ptr<void> tensor = nullptr;  // a Tensor<S>, made when it is asked for
        void (*show)(TableFile const& file, std::size_t part, void* tensor) = nullptr;
    };

    explicit TableFile(std::unique_ptr<detail::AnyTableStore> store)
        : store_(std::move(store)), rows_(borrow<T>(0)), touched_(store_->layout().height),
          states_(parts().size() - 1) {}

    template <class First>
    static TableFile made(std::string const& path, TableFileShape const& shape, First const& first,
                          TableFileOptions options, bool replaces_first) {
        std::vector<TableState> parts{TableState::of<T>("", shape.width)};
        parts.insert(parts.end(), shape.states.begin(), shape.states.end());
        auto const height = static_cast<std::size_t>(std::int64_t{shape.height});
        detail::TableLayout layout(0, height, std::move(parts),
                                   shape.grows ? detail::TableLayout::room_for(height) : 0);
        detail::NewTable how{shape.allocate, options.power_safe, replaces_first};
        if constexpr (!std::is_same_v<First, std::nullptr_t>) {
            how.reserve = true;
            how.fill = [&](std::byte* rows) {
                T* const data = reinterpret_cast<T*>(rows);
                std::size_t const grain = (std::size_t{1} << 16) / std::max<std::size_t>(shape.width, 1);
                parallel_for(Cpu{}, height, grain, [&](std::size_t row, std::size_t end) {
                    for (; row < end; ++row)
                        first(static_cast<std::int64_t>(row), std::span(data + row * shape.width, shape.width));
                });
            };
        }
        return TableFile(detail::TableStores<Files>::create(path, std::move(layout), how));
    }

    void resize(Height height) {
        auto const before = store_->layout().height;
        store_->resize(static_cast<std::uint64_t>(std::int64_t{height}));
        try {
            if (height > touched_.height()) touched_.grow(height);
        } catch (...) {
            store_->shrink(before);
            throw;
        }
        show();
    }
    /// Gives rows(), states and touched() the height of the file.
    void show() noexcept {
        touched_.shrink(height());
        rows_ = borrow<T>(0);
        for (std::size_t k = 0; k < states_.size(); ++k) {
            if (states_[k].tensor != nullptr) states_[k].show(*this, 1 + k, states_[k].tensor.get());
        }
    }

    std::span<TableState const> parts() const noexcept { return store_->layout().parts; }

    /// The number of a state among the parts, or of all parts.
    std::size_t find(std::string_view name) const {
        std::size_t part = 1;
        while (part < parts().size() && parts()[part].name != name) ++part;
        return part;
    }
    template <class S>
    void check_held(Tensor<S> const& tensor, std::string const& what) const {
        if (!holds(tensor)) throw Error({what, " of ", path(), " is another tensor than that of the file"});
    }

    template <class S>
    Tensor<S> borrow(std::size_t part) const {
        auto const& layout = store_->layout();
        auto const height = static_cast<std::size_t>(layout.height);
        typename Tensor<S>::shape_type shape{height};
        if (layout.parts[part].width) shape = {height, *layout.parts[part].width};
        auto memory = store_->part(part);
        return Tensor<S>::borrow(reinterpret_cast<S*>(memory.get()), shape, memory);
    }

    template <class S>
    static void check_element(char const* what, TableState const& found) {
        auto const wanted = TableState::of<S>(found.name, found.width);
        if (found == wanted) return;
        auto const text = [](TableState const& s) {
            return s.type_name + " of " + std::to_string(s.element_size) + " bytes, number " + std::to_string(s.wire);
        };
        bool const same_name = found.type_name == wanted.type_name;
        throw TypeError(what, same_name ? text(found) : found.type_name, same_name ? text(wanted) : wanted.type_name);
    }
    static void check_type(detail::TableLayout const& layout) { check_element<T>("the table", layout.parts[0]); }

    std::unique_ptr<detail::AnyTableStore> store_;
    Tensor<T> rows_;
    TouchedRows touched_;
    std::vector<State> states_;
};

namespace detail {

/// The steps of functions of tables by keys whose rows are in files.
struct TableFileAccess {
    /// Changes the height. New rows have what others had there.
    template <class File>
    static void resize(File& file, Height height) {
        file.resize(height);
    }
    template <class File>
    static void shrink(File& file, Height height) noexcept {
        file.store_->shrink(static_cast<std::uint64_t>(std::int64_t{height}));
        file.show();
    }
    /// Fills a row of all states with zeros.
    template <class File>
    static void reset_states(File& file, std::int64_t row) {
        for (std::size_t k = 1; k < file.parts().size(); ++k) {
            std::size_t const bytes = file.store_->layout().row_bytes(k);
            std::memset(file.store_->data(k) + static_cast<std::size_t>(row) * bytes, 0, bytes);
        }
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
