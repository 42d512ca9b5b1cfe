// rowan/sparse/keyed_table.hpp: KeyedTable, a table whose rows belong to keys, and which grows with them.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/arithmetic.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/sparse/detail/rows_in_memory.hpp>
#include <rowan/sparse/detail/table_step.hpp>
#include <rowan/sparse/growing_tensor.hpp>
#include <rowan/sparse/key_index.hpp>
#include <rowan/sparse/keys.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

struct KeyedTableAccess;

}  // namespace detail

/// The rows of a KeyedTable.
struct KeyedTableOptions {
    std::size_t width = 0;   ///< numbers per row
    double low = -0.05;      ///< the first values of a row are uniform in [low, high), and rounded to T
    double high = 0.05;      ///< as low
    std::uint64_t seed = 0;  ///< of the first values
    KeyIndexOptions keys{};  ///< which keys get rows
};

/// Number k of the first row of a key, from bits of the key and the seed.
using FirstValue = std::function<double(std::uint64_t bits, std::size_t k)>;

/// A table with a row for each key, and the states of its optimizer, which get new rows together.
///
///     KeyedTable<float> table({.width = 64});
///     table.add_state<float>("moment", {64});                       // AdaGrad's
///     auto view = table.view(keys);                                 // new keys have rows, which the step keeps
///     auto x = gather(view.rows(), view.at());
///     adagrad(view, x_grad);
///     auto y = gather(table.value(), table.index(), keys);          // in inference; zeros for unknown keys
///
/// By hand: rows = table.find_or_insert(keys), and any algorithm on table.value().
///
/// Number k of the first row of a key depends on the seed, the key and k alone: it is the same in each run, on each
/// rank and in any order of arrival. A row that an evicted key had begins anew for the next one, in the states also.
/// Tensors that the table returned stay valid as it grows, with the rows that they had. `Rows` is where they are: in memory,
/// or in a file, see KeyedFile.
template <class T, key_type Key = std::int64_t, class Rows = detail::RowsInMemory<T>>
class KeyedTable {
public:
    using value_type = T;
    using names = Keys<Key>;  ///< of rows, see row_table

    /// An empty table. With `keys.capacity`, addresses are reserved for as many rows; otherwise as GrowingTensor does.
    /// With `first`, first values are its results, rounded to T, instead of uniform ones.
    /// errors   ValueError if low, high or their difference is not finite, or a number for the keys is not in its
    ///          range; those of GrowingTensor
    /// cost     O(1)
    explicit KeyedTable(KeyedTableOptions const& options, FirstValue first = {})
        : options_(checked(options)), first_(std::move(first)), rows_(options.width, most_rows(options.keys)),
          index_(options.keys) {
        limit();
        if (options.keys.default_row) add_default_row();
    }
    /// An empty table with such rows, of which there are none yet.
    /// errors   those above; ShapeError if there are rows, or their width is another
    /// cost     O(1)
    KeyedTable(KeyedTableOptions const& options, Rows rows, FirstValue first = {})
        : options_(checked(options)), first_(std::move(first)), rows_(std::move(rows)), index_(options.keys) {
        check_width();
        if (height() != 0) throw ShapeError("rows.height()", height(), "0: of a new table");
        limit();
        if (options.keys.default_row) add_default_row();
    }
    /// A table that was saved, with rows where they are.
    /// errors   those above; as KeyIndex::assign; ShapeError if `saved` has another height than the rows
    /// cost     that of KeyIndex::assign
    KeyedTable(KeyedTableOptions const& options, KeyIndexContents<Key> const& saved, Rows rows, FirstValue first = {})
        : options_(checked(options)), first_(std::move(first)), rows_(std::move(rows)), index_(options.keys) {
        check_width();
        if (saved.height != height()) throw ShapeError("rows.height()", height(), saved.height);
        limit();
        index_.assign(saved);
    }

    KeyIndex<Key> const& index() const noexcept { return index_; }      ///< the rows by keys
    std::size_t size() const noexcept { return index_.size(); }         ///< the number of keys
    std::int64_t height() const noexcept { return rows_.height(); }     ///< the number of rows
    std::size_t width() const noexcept { return options_.width; }       ///< the number of elements of a row
    Tensor<T>& value() noexcept { return rows_.tensor(); }              ///< the rows: [height, width]
    Tensor<T> const& value() const noexcept { return rows_.tensor(); }  ///< the rows: [height, width]
    Rows& where() noexcept { return rows_; }                            ///< where the rows are
    Rows const& where() const noexcept { return rows_; }                ///< where the rows are

    /// Adds a tensor that grows with the table, whose rows have this shape and first values `first`: the state of an
    /// optimizer. The reference is valid as long as the table. Without `keys.capacity`, the table can have only as many
    /// rows as there are addresses for in each of its tensors.
    /// errors   those of GrowingTensor; then the table is unchanged
    /// cost     one write of its rows
    template <class S>
    GrowingTensor<S>& add_state(typename Tensor<S>::shape_type const& row_shape, S first = {}) {
        return add_state<S>({}, row_shape, first);
    }
    /// With a name, by which optimizers find it: see slot.
    /// errors   as add_state; Error if the table has a state of this name
    /// cost     as add_state
    template <class S>
    GrowingTensor<S>& add_state(std::string name, typename Tensor<S>::shape_type const& row_shape, S first = {}) {
        auto& rows = rows_.template add_state<S>(std::move(name), row_shape, first);
        limit();
        return rows;
    }

    /// A state by its name: [height, row shape].
    /// errors   Error if there is none; TypeError if its elements are not S
    /// cost     O(states)
    template <class S>
    Tensor<S>& state(std::string_view name) {
        return rows_.template state<S>(name);
    }
    /// Whether there is a state of this name, with elements of S.
    /// errors   none
    /// cost     O(states)
    template <class S>
    bool has_state(std::string_view name) const {
        return rows_.template has_state<S>(name);
    }

    /// The rows of keys; new keys get rows, if the options admit them.
    /// shapes   keys of any shape -> the same
    /// errors   as KeyIndex::find_or_insert; std::bad_alloc; then the table is unchanged
    /// cost     that of KeyIndex::find_or_insert, and one write of the new rows, on several threads
    Tensor<std::int64_t> find_or_insert(Cpu exec, Keys<Key> keys) {
        if constexpr (Rows::in_memory) {
            make_room(exec, keys.size());
            std::vector<std::int64_t> inserted;
            auto rows = index_.find_or_insert(exec, keys, inserted);
            add(exec, inserted);
            return rows;
        } else {
            detail::KeyIndexAccess::check_settled(index_, "find_or_insert");
            View view = this->view(exec, keys);
            auto rows = view.at().share();
            view.commit();
            return rows;
        }
    }
    Tensor<std::int64_t> find_or_insert(Keys<Key> keys) { return find_or_insert(Cpu{}, keys); }

    /// The rows of a batch of sequences of keys, such as a LoDTensor, with its levels; new keys get rows.
    /// errors   as for a tensor
    /// cost     as for a tensor
    template <detail::sequences_of_keys<Key> Sequences>
    Sequences find_or_insert(Sequences const& keys) {
        return {find_or_insert(keys.value()), keys.lod()};
    }

    class View;

    /// The rows of keys: see row_view. New keys and their rows are provisional until its commit, see KeyInsertion.
    /// Without it, table and states have their heights again, but for states that you have grown meanwhile, and the table
    /// its keys, uses and sightings; free rows may have other values. `times` says how often each key occurs.
    /// errors   as find_or_insert
    /// cost     as find_or_insert
    View view(Cpu exec, Keys<Key> keys, std::int64_t const* times = nullptr) {
        make_room(exec, keys.size());
        View view(*this, height(), index_.begin_insert(exec, keys, times));
        add(exec, view.inserted());
        return view;
    }
    View view(Keys<Key> keys) { return view(Cpu{}, keys); }

    void set_step(std::int64_t step) noexcept { index_.set_step(step); }  ///< as KeyIndex::set_step
    /// Removes keys that were not used since a step, as KeyIndex::evict_unused. Their rows keep their values until new
    /// keys get them.
    std::vector<std::int64_t> evict_unused(std::int64_t since) { return index_.evict_unused(since); }
    /// Removes keys that were used fewer times, as KeyIndex::evict_rare.
    std::vector<std::int64_t> evict_rare(std::int64_t count) { return index_.evict_rare(count); }
    /// Removes keys, as KeyIndex::erase.
    std::vector<std::int64_t> erase(Keys<Key> keys) { return index_.erase(keys); }

    /// Of a table in a file: prepares rows for being written by hand, as TableFile::change.
    /// errors   those of TableFile::change
    /// cost     that of TableFile::change
    void change(Cpu exec, Ids<> const& rows) requires(!Rows::in_memory) { rows_.change(exec, rows); }

    /// Replaces keys and rows by those of a saved table, such as in a checkpoint. States get as many rows, with their
    /// first values: assign theirs afterwards, with GrowingTensor::assign.
    /// shapes   value [contents.height, width]
    /// errors   as KeyIndex::assign; ShapeError if the value has another shape, or fewer rows than this table; those of
    ///          GrowingTensor::grow; nothing has changed
    /// cost     that of KeyIndex::assign, one read and one write of the rows, and one write of the states
    void assign(KeyIndexContents<Key> const& contents, Tensor<T> const& value) requires(Rows::in_memory) {
        detail::KeyIndexAccess::check_settled(index_, "assign");
        detail::check_height("value", value, contents.height);
        detail::check_trailing("value", value, this->value().shape());
        if (contents.height < height()) throw ShapeError("height", contents.height, {"at least ", height()});
        rows_.reserve(contents.height);
        KeyIndex<Key> index(index_.options());
        index.assign(contents);
        replace(std::move(index), value);
    }

    /// Replaces the options of a table in a file, and its keys by those that were saved with its rows.
    /// errors   as the constructor; nothing has changed
    /// cost     that of KeyIndex::assign
    void assign(KeyedTableOptions const& options, KeyIndexContents<Key> const& contents,
                FirstValue first = {}) requires(!Rows::in_memory) {
        detail::KeyIndexAccess::check_settled(index_, "assign");
        if (contents.height != height()) throw ShapeError("rows.height()", height(), contents.height);
        KeyIndex<Key> index(checked(options).keys);
        index.assign(contents);
        options_ = options;
        first_ = std::move(first);
        index_ = std::move(index);
        limit();
    }

    /// Writes the first values of a key: what its row would have if it were new.
    /// shapes   to [width]
    /// errors   ShapeError if `to` has another size
    /// cost     O(width)
    void first_values(detail::KeyView<Key> key, std::span<T> to) const {
        if (to.size() != options_.width) throw ShapeError("to.size()", to.size(), options_.width);
        draw(key, to.data());
    }

private:
    friend struct detail::KeyedTableAccess;

    static KeyedTableOptions const& checked(KeyedTableOptions const& options) {
        if (options.keys.capacity < 0) throw ValueError("capacity", options.keys.capacity, "0 or more");
        if (!std::isfinite(options.low)) throw ValueError("low", options.low, "a finite number");
        if (!std::isfinite(options.high)) throw ValueError("high", options.high, "a finite number");
        if (!std::isfinite(options.high - options.low))
            throw ValueError("high - low", options.high - options.low, "a finite number");
        return options;
    }
    static std::int64_t most_rows(KeyIndexOptions const& keys) {
        constexpr std::int64_t unlimited = GrowingTensor<T>::unlimited;
        return keys.capacity < unlimited ? keys.capacity + keys.default_row : unlimited;
    }
    void check_width() const {
        if (value().row_size() != options_.width) throw ShapeError("rows.width()", value().row_size(), options_.width);
    }
    void limit() noexcept { detail::KeyIndexAccess::limit(index_, rows_.most_rows() - options_.keys.default_row); }

    void add_default_row() {
        rows_.grow(1);
        rows_.change(Cpu{}, {0});
        std::ranges::fill(value().row(0), dtype<T>::narrow(typename dtype<T>::sum{}));
    }

    // What may fail before `add` gives the rows that the index has added their first values.
    void make_room(Cpu exec, std::size_t keys) {
        if (thread_count(exec) > 1) detail::prepare_helpers();
        rows_.reserve(height() + std::min(static_cast<std::int64_t>(keys), rows_.most_rows() - height()));
    }
    void add(Cpu exec, std::span<std::int64_t const> inserted) {
        grow(index_.height());
        rows_.change(exec, inserted);
        std::size_t const width = options_.width + rows_.states() + 1;
        detail::parallel_work(exec, inserted.size() * width, inserted.size(), 4096 / width + 1,
                              [&](std::size_t begin, std::size_t end) {
                                  for (std::size_t i = begin; i < end; ++i) reset(inserted[i]);
                              });
    }

    // Replaces keys and rows, and the states, which were those of other keys, by their first values; memory for the rows
    // was reserved, and `value` has no more.
    void replace(KeyIndex<Key>&& index, Tensor<T> const& value) {
        index_ = std::move(index);
        grow(index_.height());
        std::copy_n(value.data(), value.size(), this->value().data());
        for (std::int64_t row = 0; row < height(); ++row) rows_.reset_states(row);
    }

    void grow(std::int64_t height) {
        if (height != this->height()) rows_.grow(height);
    }

    void reset(std::int64_t row) {
        draw(detail::KeyIndexAccess::key(index_, row), value().row(static_cast<std::size_t>(row)).data());
        rows_.reset_states(row);
    }

    void draw(detail::KeyView<Key> key, T* to) const {
        std::uint64_t const bits = hash_key(key, options_.seed);
        for (std::size_t k = 0; k < options_.width; ++k) {
            double const x = first_ ? first_(bits, k) : uniform(bits, k);
            to[k] = dtype<T>::narrow(static_cast<typename dtype<T>::sum>(x));
        }
    }

    double uniform(std::uint64_t bits, std::size_t k) const {
        return options_.low + detail::product(options_.high - options_.low, detail::uniform_at(bits, k));
    }

    KeyedTableOptions options_;
    FirstValue first_;
    Rows rows_;
    KeyIndex<Key> index_;
};

/// The rows of a batch of keys, of which new ones are provisional: see KeyedTable::view.
template <class T, key_type Key, class Rows>
class KeyedTable<T, Key, Rows>::View {
public:
    using value_type = T;

    View(View&& other) noexcept = default;
    View& operator=(View&& other) = delete;
    ~View() {
        if (keys_.open()) table_->rows_.shrink(height_);
    }

    Tensor<T>& rows() noexcept { return table_->value(); }                     ///< those of the table
    Tensor<std::int64_t> const& at() const& noexcept { return keys_.rows(); }  ///< the row of each key, or -1
    std::span<std::int64_t const> inserted() const noexcept { return keys_.inserted(); }  ///< the rows that are new
    bool open() const noexcept { return keys_.open(); }  ///< whether it is neither committed nor withdrawn
    /// As KeyedTable::state.
    template <class S>
    Tensor<S>& state(std::string_view name) {
        return table_->template state<S>(name);
    }
    /// As KeyedTable::has_state.
    template <class S>
    bool has_state(std::string_view name) const {
        return table_->template has_state<S>(name);
    }

    /// Prepares rows in a file for being written, and checks that commit will not fail.
    /// errors   Error if this view is committed or withdrawn, or an older one is open; those of TableFile::change
    /// cost     O(1) in memory
    void write(Cpu exec) {
        check();
        if constexpr (!Rows::in_memory) {
            std::vector<std::int64_t> known;
            std::ranges::copy_if(at(), std::back_inserter(known), [](std::int64_t row) { return row >= 0; });
            table_->rows_.change(exec, known);
        }
    }
    /// The check of `write` alone.
    /// errors   Error if this view is committed or withdrawn, or an older one is open
    /// cost     O(1)
    void check() const {
        if (!open()) throw Error("the view is no longer open: a step has kept its keys, or an older view is gone");
        keys_.check_oldest();
    }
    void commit() { keys_.commit(); }  ///< keeps the keys

private:
    friend class KeyedTable;

    View(KeyedTable& table, std::int64_t height, KeyInsertion<Key>&& keys)
        : table_(&table), height_(height), keys_(std::move(keys)) {}

    KeyedTable* table_;
    std::int64_t height_;  // of the table before
    KeyInsertion<Key> keys_;
};

namespace detail {

/// The steps of KeyedTable's functions, for tables on several ranks.
struct KeyedTableAccess {
    /// Makes memory ready for so many rows.
    /// errors   those of GrowingTensor::reserve
    template <class T, class Key>
    static void reserve(KeyedTable<T, Key>& table, std::int64_t height) {
        table.rows_.reserve(height);
    }
    /// Removes keys.
    template <class T, class Key, class Rows>
    static void evict(KeyedTable<T, Key, Rows>& table, KeyEviction const& leaving) noexcept {
        KeyIndexAccess::evict(table.index_, leaving);
    }
    /// Replaces keys and rows by those of an index with the same options, whose height is not less than the table's and
    /// for which memory was reserved, and a value with no more rows. States have their first values. Nothing fails.
    template <class T, class Key>
    static void replace(KeyedTable<T, Key>& table, KeyIndex<Key>&& index, Tensor<T> const& value) {
        table.replace(std::move(index), value);
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
