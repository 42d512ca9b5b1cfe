// rowan/sparse/detail/key_map.hpp: KeyMap, keys and their row numbers, found and inserted in batches.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/detail/partition.hpp>
#include <rowan/sparse/detail/key_positions.hpp>
#include <rowan/sparse/detail/key_slots.hpp>
#include <rowan/sparse/keys.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// Keys and their row numbers. New keys get the lowest free row, in the order in which they are inserted.
template <key_type Key>
class KeyMap {
public:
    /// The seed decides where keys lie in the hash table, and nothing else.
    KeyMap(std::uint64_t seed, std::int64_t first_row) : seed_(seed), first_(first_row), height_(first_row) {}

    std::size_t size() const noexcept { return static_cast<std::size_t>(height_ - first_) - free_.size(); }
    std::int64_t height() const noexcept { return height_; }  ///< the highest row that a key ever had, + 1
    KeySlots const& slots() const noexcept { return slots_; }

    /// The row of a key, or -1.
    std::int64_t find(KeyView<Key> key) const { return row_of(hash_key(key, seed_), key); }

    /// Calls f(i, row) for i in [begin, end), with the row of keys[i], or -1. Slots are prefetched.
    template <class F>
    void find_each(Keys<Key> const& keys, std::size_t begin, std::size_t end, F const& f) const {
        for_hashes(keys, {end - begin, nullptr, begin},
                   [&](std::size_t i, std::uint64_t hash) { f(i, row_of(hash, keys[i])); });
    }

    /// Whether a row belongs to a key.
    bool has(std::int64_t row) const {
        return row >= first_ && row < height_ && find(keys_[static_cast<std::size_t>(row)]) == row;
    }
    Key const& key(std::int64_t row) const { return keys_[static_cast<std::size_t>(row)]; }

    /// Gives each of the keys at `positions` a row if it has none, so that there are at most `capacity` keys. Sets
    /// to[p] to the row of key p, and appends the new rows to `inserted`, in the order of their first positions.
    /// errors   IndexError for the first key beyond the capacity; std::bad_alloc; the map is unchanged
    void insert(Cpu exec, Keys<Key> const& keys, KeyPositions positions, std::size_t capacity, std::int64_t* to,
                std::vector<std::int64_t>& inserted) {
        std::size_t const before = inserted.size();
        std::int64_t const height = height_;
        try {
            for (std::size_t done = 0; done < positions.size;) {
                if (slots_.room() - size() <= slots_.size() / 16) slots_.reserve(slots_.room() + 1);
                std::size_t const take = std::min({positions.size - done, slots_.room() - size(), most_at_once});
                std::size_t const more = std::min(take, capacity - size());  // at most so many are new
                int const threads = take < parallel_from || more < take ? 1 : thread_count(exec);
                keys_.resize(static_cast<std::size_t>(height_) + more);
                if (threads > 1 && !std::same_as<Key, std::string>) {
                    grow_to(inserted, inserted.size() + more);
                    insert_by_ranges(threads, keys, positions.part(done, take), to, inserted);
                } else {
                    insert_in_order(keys, positions.part(done, take), capacity, to, inserted);
                }
                done += take;
            }
        } catch (...) {
            undo(height, std::span(inserted).subspan(before));
            inserted.resize(before);
            throw;
        }
        keys_.resize(static_cast<std::size_t>(height_));
    }

    /// Undoes the last insert that was not undone: removes the keys that got these rows since the height was `height`.
    void undo(std::int64_t height, std::span<std::int64_t const> inserted) noexcept {
        for (std::int64_t const row : inserted) {
            free_slot(row);
            if (row < height) put_free(row);  // does not allocate: the row was taken from there
        }
        height_ = height;
        keys_.resize(std::min(keys_.size(), static_cast<std::size_t>(height)));  // row 0 may have no element yet
    }

    /// Gives keys their rows, which ascend and are in [first row, height), in a map that is empty.
    /// errors   IndexError for the first key that repeats another; std::bad_alloc; then the map is of no use
    void fill(Keys<Key> const& keys, std::span<std::int64_t const> rows, std::int64_t height) {
        if (height > std::int64_t{1} << 56) throw std::bad_alloc();
        slots_.reserve(rows.size());
        keys_.resize(static_cast<std::size_t>(height));
        free_.reserve(static_cast<std::size_t>(height - first_) - rows.size());
        height_ = first_;
        for_hashes(keys, {rows.size()}, [&](std::size_t i, std::uint64_t hash) {
            auto const key = keys[i];
            std::size_t const at =
                slots_.find(slots_.home(hash), hash, [&](std::int64_t row) { return same(row, key); });
            if (slots_[at].row != 0)
                throw refused(i, key, "is also the key of row " + std::to_string(slots_[at].row - 1));
            slots_[at] = {hash, rows[i] + 1};
            keys_[static_cast<std::size_t>(rows[i])] = key;
            while (height_ < rows[i]) free_.push_back(height_++);
            ++height_;
        });
        while (height_ < height) free_.push_back(height_++);  // ascending numbers are a heap
    }

    /// Makes room for so many more free rows.
    /// errors   std::bad_alloc; the map is unchanged
    void reserve_free(std::size_t more) { grow_to(free_, free_.size() + more); }

    /// Frees rows that belong to keys, for which there is room.
    void erase(std::span<std::int64_t const> rows) noexcept {
        for (std::int64_t const row : rows) {
            free_slot(row);
            put_free(row);
        }
    }

    /// Makes room for `n` keys.
    /// errors   std::bad_alloc; the map is unchanged
    void reserve(std::size_t n) {
        if (n > keys_.max_size()) throw std::bad_array_new_length();
        keys_.reserve(n);
        slots_.reserve(n);
    }

    /// The rows that belong to keys, ascending.
    std::vector<std::int64_t> rows() const {
        auto free = free_;
        std::sort(free.begin(), free.end());
        std::vector<std::int64_t> rows;
        rows.reserve(size());
        auto next = free.begin();
        for (std::int64_t row = first_; row < height_; ++row) {
            if (next != free.end() && *next == row) {
                ++next;
            } else {
                rows.push_back(row);
            }
        }
        return rows;
    }

    std::size_t bytes() const noexcept {
        std::size_t bytes = slots_.size() * sizeof(KeySlots::Slot) + keys_.capacity() * sizeof(Key);
        if constexpr (std::same_as<Key, std::string>) {
            for (Key const& key : keys_) bytes += key.capacity() > Key().capacity() ? key.capacity() + 1 : 0;
        }
        return bytes + free_.capacity() * sizeof(std::int64_t);
    }

private:
    static constexpr std::size_t ahead = 32;                            // keys: covers the latency of memory
    static constexpr std::size_t parallel_from = std::size_t{1} << 14;  // keys
    static constexpr std::size_t most_at_once = std::size_t{1} << 17;   // keys, whose slots stay in the cache
    static constexpr std::size_t outside = ~std::size_t{0};             // a slot in another range

    // Calls f(i, hash of keys[i]) for each position i, whose slot was prefetched.
    template <class F>
    void for_hashes(Keys<Key> const& keys, KeyPositions positions, F const& f) const {
        std::array<std::uint64_t, ahead> hashes;
        auto const ask = [&](std::size_t j) {
            std::uint64_t const hash = hashes[j % ahead] = hash_key(keys[positions[j]], seed_);
            slots_.prefetch(slots_.home(hash));
        };
        for (std::size_t j = 0; j < std::min(positions.size, ahead); ++j) ask(j);
        for (std::size_t j = 0; j < positions.size; ++j) {
            std::uint64_t const hash = hashes[j % ahead];
            if (j + ahead < positions.size) ask(j + ahead);
            f(positions[j], hash);
        }
    }

    std::int64_t row_of(std::uint64_t hash, KeyView<Key> key) const {
        return slots_[slots_.find(slots_.home(hash), hash, [&](std::int64_t row) { return same(row, key); })].row - 1;
    }
    // Whether a row with the hash of a key has that key. Different numbers have different hashes.
    bool same(std::int64_t row, KeyView<Key> key) const {
        if constexpr (std::same_as<Key, std::string>) {
            return keys_[static_cast<std::size_t>(row)] == key;
        } else {
            return true;
        }
    }

    static IndexError refused(std::size_t i, KeyView<Key> key, std::string const& reason) {
        if constexpr (std::same_as<Key, std::string>) {
            return IndexError("keys", i, reason);
        } else {
            return IndexError("keys", i, static_cast<std::int64_t>(key), reason);
        }
    }

    std::int64_t next_row() {
        if (free_.empty()) return height_++;
        std::pop_heap(free_.begin(), free_.end(), std::greater{});
        std::int64_t const row = free_.back();
        free_.pop_back();
        return row;
    }
    void put_free(std::int64_t row) {
        free_.push_back(row);
        std::push_heap(free_.begin(), free_.end(), std::greater{});
    }
    void free_slot(std::int64_t row) {
        Key& key = keys_[static_cast<std::size_t>(row)];
        std::uint64_t const hash = hash_key(KeyView<Key>(key), seed_);
        slots_.erase(slots_.find(slots_.home(hash), hash, [&](std::int64_t other) { return other == row; }));
        if constexpr (std::same_as<Key, std::string>) key = Key();
    }

    void insert_in_order(Keys<Key> const& keys, KeyPositions positions, std::size_t capacity, std::int64_t* to,
                         std::vector<std::int64_t>& inserted) {
        for_hashes(keys, positions, [&](std::size_t at, std::uint64_t hash) {
            auto const key = keys[at];
            std::size_t const i =
                slots_.find(slots_.home(hash), hash, [&](std::int64_t row) { return same(row, key); });
            if (slots_[i].row == 0) {
                if (size() == capacity)
                    throw refused(at, key, "is new, and there are " + std::to_string(capacity) + " keys, the most");
                if (inserted.size() == inserted.capacity()) grow_to(inserted, inserted.size() + positions.size);
                std::int64_t const row = free_.empty() ? height_ : free_.front();
                keys_[static_cast<std::size_t>(row)] = key;
                slots_[i] = {hash, next_row() + 1};
                inserted.push_back(row);
            }
            to[at] = slots_[i].row - 1;
        });
    }

    // Inserts numbers: each thread those whose hashes are in a range, in order, with -(position in `positions` + 1) for
    // the row; then the new ones get their rows in order. What would leave its range is inserted after all ranges.
    void insert_by_ranges(int threads, Keys<Key> const& keys, KeyPositions positions, std::int64_t* to,
                          std::vector<std::int64_t>& inserted) {
        std::size_t const n = positions.size;
        std::size_t const ranges = std::bit_ceil(static_cast<std::size_t>(threads)) * 4;
        Buffer<std::uint64_t> hashes(n);
        Buffer<std::size_t> order(n), slot(n, outside);
        Buffer<std::int64_t> rows(n);
        Buckets buckets(ranges, threads);
        parallel_for(Cpu{threads}, n, 1 << 12, [&](std::size_t begin, std::size_t end) {
            for (std::size_t j = begin; j < end; ++j) hashes[j] = hash_key(keys[positions[j]], seed_);
        });
        int const shift = 64 - std::countr_zero(ranges);
        auto const range = [&](std::size_t j) { return static_cast<std::size_t>(hashes[j] >> shift); };
        buckets.fill(n, range, [&](std::size_t place, std::size_t j) { order[place] = j; });

        auto const place = [&](std::size_t j, std::size_t i) {
            slot[j] = i;
            if (slots_[i].row == 0) slots_[i] = {hashes[j], -static_cast<std::int64_t>(j) - 1};
        };
        for_each_share(threads, ranges, [&](std::size_t r) {
            std::size_t const end = slots_.size() / ranges * (r + 1);
            for (std::size_t k = buckets.starts[r]; k < buckets.starts[r + 1]; ++k) {
                if (k + ahead < n) slots_.prefetch(slots_.home(hashes[order[k + ahead]]));
                std::size_t const j = order[k];
                std::size_t i = slots_.home(hashes[j]);
                while (i < end && slots_[i].row != 0 && slots_[i].hash != hashes[j]) ++i;
                if (i < end) place(j, i);
            }
        });
        for (std::size_t const j : order) {
            if (slot[j] == outside)
                place(j, slots_.find(slots_.home(hashes[j]), hashes[j], [](std::int64_t) { return true; }));
        }
        for (std::size_t j = 0; j < n; ++j) {
            rows[j] = slots_[slot[j]].row == -static_cast<std::int64_t>(j) - 1 ? next_row() : -1;
            if (rows[j] >= 0) inserted.push_back(rows[j]);
        }
        auto const each = [&](auto const& f) {
            parallel_for(Cpu{threads}, n, 1 << 12, [&](std::size_t begin, std::size_t end) {
                for (std::size_t j = begin; j < end; ++j) f(j);
            });
        };
        each([&](std::size_t j) {
            if (rows[j] < 0) return;
            slots_[slot[j]].row = rows[j] + 1;
            keys_[static_cast<std::size_t>(rows[j])] = keys[positions[j]];
        });
        each([&](std::size_t j) { to[positions[j]] = slots_[slot[j]].row - 1; });
    }

    std::uint64_t seed_;
    std::int64_t first_, height_;
    KeySlots slots_;
    Buffer<Key> keys_;                // by row
    std::vector<std::int64_t> free_;  // rows below the height that no key has: a heap, the lowest in front
};

}  // namespace rowan::inline v0::detail
