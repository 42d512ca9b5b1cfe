// rowan/sparse/detail/key_sightings.hpp: KeySightings, the counts of keys that have been seen but have no row yet.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/error.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/sparse/detail/key_map.hpp>
#include <rowan/sparse/key_index_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

template <key_type Key>
class KeySightings {
public:
    explicit KeySightings(std::uint64_t seed) : map_(seed, 0) {}

    std::size_t size() const noexcept { return map_.size(); }
    std::size_t bytes() const noexcept { return map_.bytes() + uses_.capacity() * sizeof(KeyUses); }

    /// What a call of count has changed.
    struct Counted {
        std::int64_t height = 0;            // of the keys that were seen before
        std::vector<std::int64_t> added;    // keys that were not, by number
        std::vector<std::int64_t> at;       // the keys that were counted, by number
        std::vector<KeyUses> before;        // their counts before
        std::vector<std::int64_t> leaving;  // those that the options admit, by number
        std::vector<std::size_t> admitted;  // their positions
    };

    /// Counts a sighting of each key at `positions`, or times[p] of key p. Then either `admit` or `undo` is called.
    /// errors   std::bad_alloc; the counts are unchanged
    Counted count(Cpu exec, Keys<Key> const& keys, std::int64_t const* times, std::span<std::size_t const> positions,
                  KeyIndexOptions const& options, std::int64_t step) {
        Counted c;
        c.height = map_.height();
        Buffer<std::int64_t> number(keys.size());
        c.at.reserve(positions.size());
        c.before.reserve(positions.size());
        map_.insert(exec, keys, {positions.size(), positions.data()}, ~std::size_t{0}, number.data(), c.added);
        try {
            uses_.resize(static_cast<std::size_t>(map_.height()));
            for (std::int64_t const i : c.added) uses_[static_cast<std::size_t>(i)] = {};
            for (std::size_t const p : positions) {
                KeyUses& uses = uses_[static_cast<std::size_t>(number[p])];
                c.at.push_back(number[p]);
                c.before.push_back(uses);
                uses.step = step;
                std::int64_t const n = times == nullptr ? 1 : times[p];
                for (std::int64_t i = 0; i < n && uses.count >= 0; ++i) {  // -1: it leaves
                    // A file may hold any count.
                    if (uses.count < std::numeric_limits<std::int64_t>::max()) ++uses.count;
                    if (!admits(options, keys[p], uses.count)) continue;
                    c.leaving.push_back(number[p]);
                    ++leaving_;
                    uses.count = -1;
                }
            }
            for (std::size_t const p : positions) {
                if (uses_[static_cast<std::size_t>(number[p])].count < 0) c.admitted.push_back(p);
            }
            map_.reserve_free(leaving_);
        } catch (...) {
            undo(c);
            throw;
        }
        return c;
    }
    /// Forgets the keys that the options admit.
    void admit(Counted const& c) noexcept {
        map_.erase(c.leaving);
        leaving_ -= c.leaving.size();
    }
    /// Sets the counts to those before.
    void undo(Counted const& c) noexcept {
        leaving_ -= c.leaving.size();
        for (std::size_t i = c.before.size(); i-- > 0;) uses_[static_cast<std::size_t>(c.at[i])] = c.before[i];
        map_.undo(c.height, c.added);
        uses_.resize(static_cast<std::size_t>(c.height));
    }

    /// The keys, by number, that were not seen in step `since` or later; there is room to remove them.
    /// errors   std::bad_alloc; the counts are unchanged
    std::vector<std::int64_t> unused(std::int64_t since) {
        auto rows = map_.rows();
        std::erase_if(rows, [&](std::int64_t row) { return uses_[static_cast<std::size_t>(row)].step >= since; });
        map_.reserve_free(leaving_ + rows.size());
        return rows;
    }
    /// Removes them.
    void remove(std::span<std::int64_t const> rows) noexcept { map_.erase(rows); }

    /// Adds the keys, in ascending order, and how often they were seen, to lists.
    void list(std::vector<Key>& keys, std::vector<KeyUses>& sightings) const {
        auto rows = map_.rows();
        std::ranges::sort(rows, {}, [&](std::int64_t row) -> Key const& { return map_.key(row); });
        for (std::int64_t const row : rows) {
            keys.push_back(map_.key(row));
            sightings.push_back(uses_[static_cast<std::size_t>(row)]);
        }
    }
    /// Sets the counts of keys, where no key has been counted.
    /// errors   IndexError if a key repeats; std::bad_alloc; then this is of no use
    void fill(std::span<Key const> keys, std::span<KeyUses const> sightings) {
        std::vector<std::int64_t> rows(keys.size());
        std::iota(rows.begin(), rows.end(), std::int64_t{0});
        try {
            map_.fill(keys, rows, static_cast<std::int64_t>(keys.size()));
        } catch (IndexError const& e) {
            throw IndexError("seen", e.position(), "repeats another key");
        }
        uses_.assign(sightings.begin(), sightings.end());
    }

private:
    static bool admits(KeyIndexOptions const& options, KeyView<Key> key, std::int64_t count) {
        if (options.sightings > 0 && count >= options.sightings) return true;
        // The inverted hash: those of the hash are the first values of the key in a KeyedTable with the same seed.
        return uniform_at(~hash_key(key, options.seed), static_cast<std::uint64_t>(count)) < options.probability;
    }

    KeyMap<Key> map_;
    Buffer<KeyUses> uses_;     // by row of map_
    std::size_t leaving_ = 0;  // keys that wait for `admit` or `undo`
};

}  // namespace rowan::inline v0::detail
