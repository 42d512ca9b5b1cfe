// rowan/sparse/key_index.hpp: KeyIndex, the rows of a table by keys: hashes, names, user numbers.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/sparse/key_index_contents.hpp>
#include <rowan/sparse/key_index_options.hpp>
#include <rowan/sparse/keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0 {

template <key_type Key>
class KeyInsertion;

namespace detail {

struct KeyIndexAccess;

}  // namespace detail

/// Gives keys the numbers of rows: 0, 1, 2, … in the order in which they occur first, whatever the number of threads.
/// Several threads may call const functions at the same time.
///
///     KeyIndex<std::int64_t> index;
///     auto rows = index.find_or_insert(keys);        // in training: new keys get the next rows
///     auto known = index.find(keys);                 // in inference: -1 for keys without a row
///
/// With `sightings` = k, a key has no row (-1, or row 0 with `default_row`) before the call in which it is seen for the
/// k-th time. Whether a sighting gives it one by `probability` depends on the key, the seed and the number of the
/// sighting alone. A copy is deep; an index that was moved from can only be assigned to.
template <key_type Key>
class KeyIndex {
public:
    /// The most bytes of a key that is a string.
    static constexpr std::size_t longest_key = 65'535;

    /// errors   ValueError if a number in the options is not in its range
    /// cost     O(1)
    explicit KeyIndex(KeyIndexOptions const& options = {});

    KeyIndex(KeyIndex const& other);
    KeyIndex(KeyIndex&& other) noexcept;
    KeyIndex& operator=(KeyIndex const& other);
    KeyIndex& operator=(KeyIndex&& other) noexcept;
    ~KeyIndex();

    /// As they were given, but for hash_seed after assign.
    KeyIndexOptions const& options() const noexcept { return options_; }
    std::size_t size() const noexcept;  ///< the number of keys that have a row
    /// The least height of a table with all rows: the highest row that a key ever had, and 1 more.
    std::int64_t height() const noexcept;

    /// The rows of keys; of keys that have none, -1, or 0 if the options have a default row.
    /// shapes   keys of any shape -> the same
    /// errors   ValueError if exec.threads is negative; std::bad_alloc
    /// cost     about one cache miss for a key, 32 of them at a time; on several threads
    Tensor<std::int64_t> find(Cpu exec, Keys<Key> keys) const;
    Tensor<std::int64_t> find(Keys<Key> keys) const { return find(Cpu{}, keys); }

    /// The rows of keys; new keys get rows, if the options admit them: the lowest free ones, in the order in which the
    /// keys occur first. A key that occurs several times has the same row everywhere in the result.
    /// shapes   keys of any shape -> the same
    /// errors   IndexError for the first key beyond the capacity, and for a string longer than longest_key; ValueError
    ///          if exec.threads is negative; std::bad_alloc; the index is unchanged
    /// cost     that of find, and for new keys another cache miss, on several threads if there are many; amortised, one
    ///          copy of the hash table for each doubling
    Tensor<std::int64_t> find_or_insert(Cpu exec, Keys<Key> keys) {
        std::vector<std::int64_t> inserted;
        return find_or_insert(exec, keys, inserted);
    }
    Tensor<std::int64_t> find_or_insert(Keys<Key> keys) { return find_or_insert(Cpu{}, keys); }
    /// The rows of keys, where the rows that are new are appended to `inserted`, in the order of their keys.
    /// requires `inserted` is not the list of the keys
    /// errors   as without `inserted`; then it is unchanged, too
    /// cost     that of find_or_insert without it
    Tensor<std::int64_t> find_or_insert(Cpu exec, Keys<Key> keys, std::vector<std::int64_t>& inserted);
    /// As find_or_insert, of a list in which key i stands for times[i] occurrences, or null: for one. What changes is
    /// provisional until `commit` of the result: see KeyInsertion.
    /// errors   as find_or_insert
    /// cost     as find_or_insert
    KeyInsertion<Key> begin_insert(Cpu exec, Keys<Key> keys, std::int64_t const* times = nullptr);

    /// The rows of a batch of sequences of keys, such as a LoDTensor, with its levels.
    /// errors   as for a tensor
    /// cost     as for a tensor
    template <detail::sequences_of_keys<Key> Sequences>
    Sequences find(Sequences const& keys) const {
        return {find(keys.value()), keys.lod()};
    }
    /// The rows of a batch of sequences of keys, with its levels; new keys get rows.
    /// errors   as for a tensor
    /// cost     as for a tensor
    template <detail::sequences_of_keys<Key> Sequences>
    Sequences find_or_insert(Sequences const& keys) {
        return {find_or_insert(keys.value()), keys.lod()};
    }

    /// The key of a row.
    /// errors   IndexError if no key has the row
    /// cost     O(1)
    Key key(std::int64_t row) const;
    /// The rows that belong to keys, ascending.
    /// errors   std::bad_alloc
    /// cost     O(height)
    std::vector<std::int64_t> rows() const;
    /// The keys, in the order of their rows.
    /// errors   std::bad_alloc
    /// cost     O(height)
    std::vector<Key> keys() const;

    /// The step that find_or_insert records, 0 at first.
    std::int64_t step() const noexcept { return step_; }
    void set_step(std::int64_t step) noexcept { step_ = step; }  ///< sets it
    /// The uses of a row by find_or_insert.
    /// errors   Error if the options do not record uses; IndexError if no key has the row
    /// cost     O(1)
    KeyUses uses(std::int64_t row) const;

    /// Removes the keys that were not used in step `since` or later, also those that have no row yet. Returns the rows
    /// that are free now, ascending; the next new keys get them, the lowest first.
    /// errors   Error if the options do not record uses; std::bad_alloc; then the index is unchanged
    /// cost     O(height)
    std::vector<std::int64_t> evict_unused(std::int64_t since);
    /// Removes the keys with a row that were used fewer than `count` times, otherwise as evict_unused.
    std::vector<std::int64_t> evict_rare(std::int64_t count);
    /// Removes keys, and returns the rows that are free now, ascending. Keys that have no row are ignored.
    /// errors   std::bad_alloc; then the index is unchanged
    /// cost     that of find, and O(log free rows) for each row
    std::vector<std::int64_t> erase(Keys<Key> keys);

    /// Makes room for `keys` keys in all.
    /// errors   std::bad_alloc; the index is unchanged
    /// cost     one copy of the hash table, if it grows
    void reserve(std::size_t keys);

    /// A copy of what the index holds, for a file.
    /// errors   std::bad_alloc
    /// cost     O(height)
    KeyIndexContents<Key> contents() const;
    /// Replaces what the index holds, and draws another options().hash_seed: a file may have any keys. Negative counts of
    /// uses, which have wrapped, become the largest one.
    /// errors   IndexError for a key that repeats, in one list or in both, or is longer than longest_key, for a row
    ///          that is not in [0, height), is 0 although the options have a default row, or does not follow the row
    ///          before it, and for a count of sightings that is not positive; ShapeError if lists do not have the same
    ///          size, or there are more keys than the capacity; ValueError if the height is negative, or 0 although
    ///          there is a default row; those of random_hash_seed; std::bad_alloc; the index is unchanged
    /// cost     that of find_or_insert for all keys
    void assign(KeyIndexContents<Key> const& contents);

    /// errors   none
    /// cost     O(slots)
    KeyIndexStatistics statistics() const;

private:
    friend struct detail::KeyIndexAccess;
    friend class KeyInsertion<Key>;

    struct Rows;

    void check_settled(char const* function) const;

    KeyIndexOptions options_;
    std::int64_t step_ = 0;
    std::unique_ptr<Rows> rows_;
};

/// The rows of a batch of keys, of which new ones are provisional: `commit` keeps them, and counts uses and sightings;
/// otherwise the destructor withdraws them, and the index is as it was. Meanwhile the index finds the new keys.
///
///     auto insertion = index.begin_insert(exec, keys);
///     train(insertion.rows());      // throws: the keys are not there
///     insertion.commit();
///
/// An index may have several that are open. The oldest is committed first, and one that is withdrawn withdraws those that
/// are younger. Until none is open, find_or_insert, erase, evict_*, assign, contents and copies of the index are refused
/// with an Error. An index that is destroyed, or that another moves to, withdraws all.
template <key_type Key>
class KeyInsertion {
public:
    KeyInsertion(KeyInsertion&& other) noexcept;
    KeyInsertion& operator=(KeyInsertion&& other) = delete;
    ~KeyInsertion();

    /// The rows of the keys, as find_or_insert returns them; valid after commit, too.
    Tensor<std::int64_t> const& rows() const& noexcept { return rows_; }
    /// Those that are new, in the order of their keys; none if it is not open.
    std::span<std::int64_t const> inserted() const noexcept;
    bool open() const noexcept;  ///< whether it is neither committed nor withdrawn

    /// Checks that commit does not fail.
    /// errors   Error if it is withdrawn, or an older one is open
    /// cost     O(1)
    void check_oldest() const;

    /// Keeps the keys. Does nothing the second time.
    /// errors   as check_oldest; nothing has changed
    /// cost     an update of the uses of each key, if they are recorded, on several threads; no allocation
    void commit();

private:
    friend class KeyIndex<Key>;

    struct Changes;

    KeyInsertion();

    Tensor<std::int64_t> rows_;
    std::unique_ptr<Changes> changes_;  // null: committed
};

namespace detail {

/// Keys that leave an index.
struct KeyEviction {
    std::vector<std::int64_t> rows{}, seen{};  // of keys with rows, ascending; of those without, by number
};

struct KeyIndexAccess {
    /// The keys that were not used in step `since` or later and, if more than `most` remain, as many of these: those used
    /// longest ago, of these the smallest. None has a row in `kept`. The index may have an open insertion.
    /// requires   it records uses
    /// errors   std::bad_alloc
    template <class Key>
    static KeyEviction unused(KeyIndex<Key> const& index, std::int64_t since, std::int64_t most,
                              Tensor<std::int64_t> const& kept);
    /// Removes them.
    template <class Key>
    static void evict(KeyIndex<Key>& index, KeyEviction const& leaving) noexcept;

    /// The key of a row, which a key has.
    template <class Key>
    static Key const& key(KeyIndex<Key> const& index, std::int64_t row);
    /// The uses of a row, which a key has, if the options record them.
    template <class Key>
    static KeyUses const& uses(KeyIndex<Key> const& index, std::int64_t row);

    /// errors   Error if an insertion is open
    template <class Key>
    static void check_settled(KeyIndex<Key> const& index, char const* function) {
        index.check_settled(function);
    }

    /// Lowers the capacity to `most` keys.
    template <class Key>
    static void limit(KeyIndex<Key>& index, std::int64_t most) noexcept {
        index.options_.capacity = std::min(index.options_.capacity, most);
    }

    /// The number of threads for a batch of n keys. A key takes the time of 16 elements.
    /// errors   ValueError if exec.threads is negative
    static int threads(Cpu exec, std::size_t n) { return threads_for(exec, n * 16); }
    /// The parallel loop over n keys: f(begin, end).
    template <class F>
    static void for_keys(Cpu exec, std::size_t n, F const& f) {
        parallel_work(exec, n * 16, n, grain, f);
    }

    static constexpr std::size_t grain = std::size_t{1} << 12;
};

}  // namespace detail

}  // namespace rowan::inline v0

#include <rowan/sparse/key_index_inl.hpp>
