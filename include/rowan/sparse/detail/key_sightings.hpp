// rowan/sparse/detail/key_sightings.hpp: KeySightings, the counts of keys that have been seen but have no row yet.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/sparse/detail/key_map.hpp>
#include <rowan/sparse/key_index_options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

template <key_type Key>
class KeySightings {
public:
    explicit KeySightings(std::uint64_t seed) : map_(seed, 0) {}

    std::size_t size() const noexcept { return map_.size(); }
    std::size_t bytes() const noexcept { return map_.bytes() + uses_.capacity() * sizeof(KeyUses); }

    /// Counts a sighting of each key at `positions`, and calls insert(admitted) with the positions of those that the
    /// options admit now; then they are counted here no more.
    /// errors   those of insert, and std::bad_alloc; the counts are unchanged
    template <class Insert>
    void count(Cpu exec, Keys<Key> const& keys, std::span<std::size_t const> positions, KeyIndexOptions const& options,
               std::int64_t step, Insert const& insert) {
        std::int64_t const height = map_.height();
        std::vector<std::int64_t> added;
        Buffer<std::int64_t> at(keys.size());  // the position in uses_
        map_.insert(exec, keys, {positions.size(), positions.data()}, ~std::size_t{0}, at.data(), added);
        Buffer<KeyUses> before;
        try {
            uses_.resize(static_cast<std::size_t>(map_.height()));
            for (std::int64_t const i : added) uses_[static_cast<std::size_t>(i)] = {};
            before.reserve(positions.size());
            std::vector<std::int64_t> leaving;
            Buffer<std::size_t> admitted;
            for (std::size_t const p : positions) {
                KeyUses& uses = uses_[static_cast<std::size_t>(at[p])];
                before.push_back(uses);
                uses.step = step;
                if (uses.count < 0) continue;  // it leaves
                ++uses.count;
                if (!admits(options, keys[p], uses.count)) continue;
                leaving.push_back(at[p]);
                uses.count = -1;
            }
            for (std::size_t const p : positions) {
                if (uses_[static_cast<std::size_t>(at[p])].count < 0) admitted.push_back(p);
            }
            map_.reserve_free(leaving.size());
            insert(std::span<std::size_t const>(admitted));
            map_.erase(leaving);
        } catch (...) {
            for (std::size_t i = before.size(); i-- > 0;) uses_[static_cast<std::size_t>(at[positions[i]])] = before[i];
            map_.undo(height, added);
            uses_.resize(static_cast<std::size_t>(height));
            throw;
        }
    }

    /// Removes the keys that were not seen in step `since` or later.
    void evict_unused(std::int64_t since) {
        std::vector<std::int64_t> rows;
        for (std::size_t i = 0; i < uses_.size(); ++i) {
            if (uses_[i].count > 0 && uses_[i].step < since) rows.push_back(static_cast<std::int64_t>(i));
        }
        map_.reserve_free(rows.size());
        map_.erase(rows);
        for (std::int64_t const row : rows) uses_[static_cast<std::size_t>(row)].count = -1;
    }

private:
    static bool admits(KeyIndexOptions const& options, KeyView<Key> key, std::int64_t count) {
        if (options.sightings > 0 && count >= options.sightings) return true;
        return uniform_at(hash_key(key, options.seed), static_cast<std::uint64_t>(count)) < options.probability;
    }

    KeyMap<Key> map_;
    Buffer<KeyUses> uses_;  // by row of map_; the count of a free one is negative
};

}  // namespace rowan::inline v0::detail
