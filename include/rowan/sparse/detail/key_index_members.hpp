// rowan/sparse/detail/key_index_members.hpp: the member functions of KeyIndex.
#pragma once

#include <rowan/sparse/key_index.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

struct KeyIndexAccess {
    /// The key of a row, which a key has.
    template <class Key>
    static Key const& key(KeyIndex<Key> const& index, std::int64_t row) {
        return index.map_.key(row);
    }

    /// The uses of a row, which a key has, if the options record them.
    template <class Key>
    static KeyUses const& uses(KeyIndex<Key> const& index, std::int64_t row) {
        return index.uses_[static_cast<std::size_t>(row)];
    }
    /// As find_or_insert, of a list in which key i stands for times[i] occurrences, or null: for one. Calls commit()
    /// when all but what cannot fail is done.
    /// errors   also those of commit; the index is unchanged
    template <class Key, class Commit>
    static Tensor<std::int64_t> insert(KeyIndex<Key>& index, Cpu exec, Keys<Key> const& keys, std::int64_t const* times,
                                       std::vector<std::int64_t>& inserted, Commit const& commit) {
        return index.insert(exec, keys, times, inserted, commit);
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

template <key_type Key>
KeyIndex<Key>::KeyIndex(KeyIndexOptions const& options)
    : options_(options), map_(options.hash_seed, options.default_row), seen_(options.hash_seed) {
    if (options.capacity < 0) throw ValueError("capacity", options.capacity, "0 or more");
    if (options.sightings < 0) throw ValueError("sightings", options.sightings, "0 or more");
    if (!(options.probability >= 0 && options.probability <= 1))
        throw ValueError("probability", options.probability, "in [0, 1]");
}

template <key_type Key>
Tensor<std::int64_t> KeyIndex<Key>::find(Cpu exec, Keys<Key> keys) const {
    auto rows = Tensor<std::int64_t>::from_shape(keys.shape());
    std::int64_t* const to = rows.data();
    std::int64_t const none = options_.default_row ? 0 : -1;
    detail::KeyIndexAccess::for_keys(exec, keys.size(), [&](std::size_t begin, std::size_t end) {
        map_.find_each(keys, begin, end, [=](std::size_t i, std::int64_t row) { to[i] = row < 0 ? none : row; });
    });
    return rows;
}

template <key_type Key>
template <class Commit>
Tensor<std::int64_t> KeyIndex<Key>::insert(Cpu exec, Keys<Key> const& keys, std::int64_t const* times,
                                           std::vector<std::int64_t>& inserted, Commit const& commit) {
    std::size_t const n = keys.size();
    check_lengths(keys);
    auto rows = Tensor<std::int64_t>::from_shape(keys.shape());
    std::int64_t* const to = rows.data();
    std::size_t const before = inserted.size();
    auto const add = [&](detail::KeyPositions positions) {
        if (options_.record_uses) detail::grow_to(uses_, static_cast<std::size_t>(height()) + positions.size);
        map_.insert(exec, keys, positions, static_cast<std::size_t>(options_.capacity), to, inserted, commit);
    };
    if (options_.sightings == 1 && (detail::KeyIndexAccess::threads(exec, n) == 1 || mostly_new_)) {
        add({n});
    } else {
        detail::KeyIndexAccess::for_keys(exec, n, [&](std::size_t begin, std::size_t end) {
            map_.find_each(keys, begin, end, [=](std::size_t i, std::int64_t row) { to[i] = row; });
        });
        detail::Buffer<std::size_t> missing;
        for (std::size_t i = 0; i < n; ++i) {
            if (to[i] < 0) missing.push_back(i);
        }
        if (options_.sightings == 1) {
            add({missing.size(), missing.data()});
        } else if (missing.empty()) {
            add({0});
        } else {
            seen_.count(exec, keys, times, missing, options_, step_, [&](std::span<std::size_t const> admitted) {
                add({admitted.size(), admitted.data()});
            });
        }
    }
    mostly_new_ = inserted.size() - before > n / 2;
    if (options_.record_uses) record(exec, rows, times, std::span(inserted).subspan(before));
    if (options_.default_row) {
        for (std::size_t i = 0; i < n; ++i) to[i] = std::max<std::int64_t>(to[i], 0);
    }
    return rows;
}

template <key_type Key>
void KeyIndex<Key>::record(Cpu exec, Tensor<std::int64_t> const& rows, std::int64_t const* times,
                           std::span<std::int64_t const> added) {
    uses_.resize(static_cast<std::size_t>(height()));
    for (std::int64_t const row : added) uses_[static_cast<std::size_t>(row)] = {};
    constexpr std::size_t ahead = 16;
    constexpr std::int64_t most_uses = std::numeric_limits<std::int64_t>::max();
    detail::KeyIndexAccess::for_keys(exec, rows.size(), [&](std::size_t begin, std::size_t end) {
        std::int64_t const* const row = rows.data();
        for (std::size_t i = begin; i < end; ++i) {
            if (i + ahead < end && row[i + ahead] >= 0)
                __builtin_prefetch(&uses_[static_cast<std::size_t>(row[i + ahead])], 1);
            if (row[i] < 0) continue;
            KeyUses& uses = uses_[static_cast<std::size_t>(row[i])];
            std::int64_t const n = times == nullptr ? 1 : times[i];
            if (std::atomic_ref(uses.count).fetch_add(n, std::memory_order_relaxed) > most_uses - n)
                std::atomic_ref(uses.count).store(most_uses, std::memory_order_relaxed);  // it has wrapped
            std::atomic_ref(uses.step).store(step_, std::memory_order_relaxed);
        }
    });
}

template <key_type Key>
Key KeyIndex<Key>::key(std::int64_t row) const {
    check_used(row);
    return map_.key(row);
}

template <key_type Key>
std::vector<Key> KeyIndex<Key>::keys() const {
    return keys_of(rows());
}

template <key_type Key>
std::vector<Key> KeyIndex<Key>::keys_of(std::span<std::int64_t const> rows) const {
    std::vector<Key> keys;
    keys.reserve(rows.size());
    for (std::int64_t const row : rows) keys.push_back(map_.key(row));
    return keys;
}

template <key_type Key>
KeyUses KeyIndex<Key>::uses(std::int64_t row) const {
    check_recorded("uses");
    check_used(row);
    return uses_[static_cast<std::size_t>(row)];
}

template <key_type Key>
std::vector<std::int64_t> KeyIndex<Key>::evict_unused(std::int64_t since) {
    auto const leaving = seen_.unused(since);
    auto rows = evict("evict_unused", [=](KeyUses const& uses) { return uses.step < since; });
    seen_.remove(leaving);
    return rows;
}

template <key_type Key>
std::vector<std::int64_t> KeyIndex<Key>::evict_rare(std::int64_t count) {
    return evict("evict_rare", [=](KeyUses const& uses) { return uses.count < count; });
}

template <key_type Key>
template <class Leaves>
std::vector<std::int64_t> KeyIndex<Key>::evict(char const* function, Leaves const& leaves) {
    check_recorded(function);
    auto rows = map_.rows();
    std::erase_if(rows, [&](std::int64_t row) { return !leaves(uses_[static_cast<std::size_t>(row)]); });
    map_.reserve_free(rows.size());
    map_.erase(rows);
    return rows;
}

template <key_type Key>
std::vector<std::int64_t> KeyIndex<Key>::erase(Keys<Key> keys) {
    std::vector<std::int64_t> rows;
    map_.find_each(keys, 0, keys.size(), [&](std::size_t, std::int64_t row) {
        if (row >= 0) rows.push_back(row);
    });
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    map_.reserve_free(rows.size());
    map_.erase(rows);
    return rows;
}

template <key_type Key>
KeyIndexStatistics KeyIndex<Key>::statistics() const {
    auto const& slots = map_.slots();
    return {.keys = size(),
            .seen = seen_.size(),
            .slots = slots.size(),
            .load = static_cast<double>(size()) / static_cast<double>(slots.size()),
            .longest_probe = slots.longest_probe(),
            .bytes = map_.bytes() + seen_.bytes() + uses_.capacity() * sizeof(KeyUses)};
}

template <key_type Key>
KeyIndexContents<Key> KeyIndex<Key>::contents() const {
    KeyIndexContents<Key> c{.height = height(), .step = step_, .rows = rows()};
    c.keys = keys_of(c.rows);
    if (options_.record_uses) {
        for (std::int64_t const row : c.rows) c.uses.push_back(uses_[static_cast<std::size_t>(row)]);
    }
    seen_.list(c.seen, c.sightings);
    return c;
}

template <key_type Key>
void KeyIndex<Key>::assign(KeyIndexContents<Key> const& contents) {
    auto const& c = contents;
    auto const same_size = [](char const* field, std::size_t size, std::size_t want) {
        if (size != want) throw ShapeError(field, std::to_string(size), std::to_string(want));
    };
    same_size("rows.size()", c.rows.size(), c.keys.size());
    if (options_.record_uses) same_size("uses.size()", c.uses.size(), c.keys.size());
    same_size("sightings.size()", c.sightings.size(), c.seen.size());
    if (std::cmp_greater(c.keys.size(), options_.capacity))
        throw ShapeError("keys.size()", std::to_string(c.keys.size()), "at most " + std::to_string(options_.capacity));
    std::int64_t const least = options_.default_row;
    if (c.height < least) throw ValueError("height", c.height, std::to_string(least) + " or more");
    detail::check_ascending("rows", c.rows, least, c.height);
    for (std::size_t i = 0; i < c.sightings.size(); ++i) {
        if (c.sightings[i].count < 1) throw IndexError("sightings", i, c.sightings[i].count, "is not positive");
    }
    check_lengths(c.keys);
    check_lengths(c.seen);
    std::uint64_t const hash_seed = random_hash_seed();
    detail::KeyMap<Key> map(hash_seed, options_.default_row);
    map.fill(c.keys, c.rows, c.height);
    Keys<Key> const waiting = c.seen;
    map.find_each(waiting, 0, waiting.size(), [](std::size_t i, std::int64_t row) {
        if (row >= 0) throw IndexError("seen", i, "is also the key of row " + std::to_string(row));
    });
    detail::KeySightings<Key> seen(hash_seed);
    seen.fill(c.seen, c.sightings);
    detail::Buffer<KeyUses> uses;
    if (options_.record_uses) {
        uses.resize(static_cast<std::size_t>(c.height));
        for (std::size_t i = 0; i < c.rows.size(); ++i) {
            auto& to = uses[static_cast<std::size_t>(c.rows[i])] = c.uses[i];
            if (to.count < 0) to.count = std::numeric_limits<std::int64_t>::max();  // it has wrapped
        }
    }
    map_ = std::move(map);
    seen_ = std::move(seen);
    uses_ = std::move(uses);
    step_ = c.step;
    options_.hash_seed = hash_seed;
}

template <key_type Key>
void KeyIndex<Key>::check_lengths(Keys<Key> const& keys) {
    if constexpr (std::same_as<Key, std::string>) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i].size() > longest_key)
                throw IndexError(
                    "keys", i,
                    "has " + std::to_string(keys[i].size()) + " bytes, the most are " + std::to_string(longest_key));
        }
    }
}

template <key_type Key>
void KeyIndex<Key>::check_used(std::int64_t row) const {
    if (!map_.has(row)) throw IndexError("row", IndexError::no_position, row, "is not the row of a key");
}

template <key_type Key>
void KeyIndex<Key>::check_recorded(char const* function) const {
    if (!options_.record_uses) throw Error(std::string(function) + ": the options of the index do not record uses");
}

}  // namespace rowan::inline v0
