// rowan/sparse/key_index_inl.hpp: definitions of rowan/sparse/key_index.hpp.
#pragma once

#include <rowan/sparse/key_index.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/sparse/detail/key_map.hpp>
#include <rowan/sparse/detail/key_sightings.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// What keys have.
template <key_type Key>
struct KeyIndex<Key>::Rows {
    using Changes = typename KeyInsertion<Key>::Changes;
    using Counted = std::optional<typename detail::KeySightings<Key>::Counted>;

    explicit Rows(KeyIndexOptions const& options)
        : map(options.hash_seed, options.default_row), seen(options.hash_seed) {}
    Rows(Rows const&) = default;
    ~Rows() {
        if (!open.empty()) withdraw(*open.front());
    }

    Counted insert(Cpu exec, KeyIndexOptions const& options, std::int64_t step, Keys<Key> const& keys,
                   std::int64_t const* times, std::int64_t* to, std::vector<std::int64_t>& inserted);
    void record(Cpu exec, KeyIndexOptions const& options, std::int64_t step, Tensor<std::int64_t> const& rows,
                std::int64_t const* times, Counted const& counted) noexcept;
    void withdraw(Changes const& oldest) noexcept;
    template <class Leaves>
    std::vector<std::int64_t> evict(char const* function, KeyIndexOptions const& options, Leaves const& leaves);
    std::vector<Key> keys_of(std::span<std::int64_t const> rows) const;
    void check_used(std::int64_t row) const;
    static void check_lengths(Keys<Key> const& keys);
    static void check_recorded(char const* function, KeyIndexOptions const& options);

    detail::KeyMap<Key> map;
    detail::KeySightings<Key> seen;  // keys that have no row yet
    detail::Buffer<KeyUses> uses;    // by row
    bool mostly_new = false;         // most keys of the last batch were: the next one's are not searched for first
    std::vector<Changes*> open;      // what insertions have changed, the oldest first
};

template <key_type Key>
KeyIndex<Key>::KeyIndex(KeyIndexOptions const& options) : options_(options), rows_(std::make_unique<Rows>(options)) {
    if (options.capacity < 0) throw ValueError("capacity", options.capacity, "0 or more");
    if (options.sightings < 0) throw ValueError("sightings", options.sightings, "0 or more");
    if (!(options.probability >= 0 && options.probability <= 1))
        throw ValueError("probability", options.probability, "in [0, 1]");
}

template <key_type Key>
KeyIndex<Key>::KeyIndex(KeyIndex const& other)
    : options_(other.options_), step_(other.step_),
      rows_((other.check_settled("copy"), std::make_unique<Rows>(*other.rows_))) {}
template <key_type Key>
KeyIndex<Key>::KeyIndex(KeyIndex&& other) noexcept = default;
template <key_type Key>
KeyIndex<Key>& KeyIndex<Key>::operator=(KeyIndex const& other) {
    return *this = KeyIndex(other);
}
template <key_type Key>
KeyIndex<Key>& KeyIndex<Key>::operator=(KeyIndex&& other) noexcept = default;
template <key_type Key>
KeyIndex<Key>::~KeyIndex() = default;

template <key_type Key>
std::size_t KeyIndex<Key>::size() const noexcept {
    return rows_->map.size();
}

template <key_type Key>
std::int64_t KeyIndex<Key>::height() const noexcept {
    return rows_->map.height();
}

template <key_type Key>
Tensor<std::int64_t> KeyIndex<Key>::find(Cpu exec, Keys<Key> keys) const {
    auto rows = Tensor<std::int64_t>::from_shape(keys.shape());
    std::int64_t* const to = rows.data();
    std::int64_t const none = options_.default_row ? 0 : -1;
    detail::KeyIndexAccess::for_keys(exec, keys.size(), [&](std::size_t begin, std::size_t end) {
        rows_->map.find_each(keys, begin, end, [=](std::size_t i, std::int64_t row) { to[i] = row < 0 ? none : row; });
    });
    return rows;
}

/// What an insertion has changed, and what it will record.
template <key_type Key>
struct KeyInsertion<Key>::Changes {
    Changes(KeyIndex<Key> const& of, Cpu exec, Keys<Key> const& keys, std::int64_t const* n)
        : index(of.rows_.get()), options(of.options_), threads(detail::KeyIndexAccess::threads(exec, keys.size())),
          step(of.step_), height(of.height()), was_mostly_new(index->mostly_new) {
        if (options.record_uses && n != nullptr) times.assign(n, n + keys.size());
        index->open.push_back(this);
    }
    Changes(Changes&&) = delete;
    ~Changes() {
        if (index != nullptr) index->withdraw(*this);
    }

    typename KeyIndex<Key>::Rows* index;  // null: it is withdrawn
    KeyIndexOptions options;
    int threads;                // for its keys
    std::int64_t step, height;  // of the index before
    bool was_mostly_new;
    std::vector<std::int64_t> inserted, times;
    typename KeyIndex<Key>::Rows::Counted counted;
};

template <key_type Key>
Tensor<std::int64_t> KeyIndex<Key>::find_or_insert(Cpu exec, Keys<Key> keys, std::vector<std::int64_t>& inserted) {
    check_settled("find_or_insert");
    auto rows = Tensor<std::int64_t>::from_shape(keys.shape());
    auto const counted = rows_->insert(exec, options_, step_, keys, nullptr, rows.data(), inserted);
    rows_->record(exec, options_, step_, rows, nullptr, counted);
    return rows;
}

template <key_type Key>
KeyInsertion<Key> KeyIndex<Key>::begin_insert(Cpu exec, Keys<Key> keys, std::int64_t const* times) {
    KeyInsertion<Key> insertion;
    insertion.rows_ = Tensor<std::int64_t>::from_shape(keys.shape());
    insertion.changes_ = std::make_unique<typename KeyInsertion<Key>::Changes>(*this, exec, keys, times);
    auto& c = *insertion.changes_;
    c.counted = rows_->insert(exec, options_, step_, keys, times, insertion.rows_.data(), c.inserted);
    return insertion;
}

/// Gives keys rows, and appends the new ones. Then either `record` or `withdraw` follows, and needs no memory.
template <key_type Key>
auto KeyIndex<Key>::Rows::insert(Cpu exec, KeyIndexOptions const& options, std::int64_t step, Keys<Key> const& keys,
                                 std::int64_t const* times, std::int64_t* to, std::vector<std::int64_t>& inserted)
    -> Counted {
    check_lengths(keys);
    std::size_t const n = keys.size(), before = inserted.size();
    int const threads = detail::KeyIndexAccess::threads(exec, n);
    if (threads > 1) detail::prepare_helpers();
    Counted counted;
    auto const add = [&](detail::KeyPositions positions) {
        if (options.record_uses) detail::grow_to(uses, static_cast<std::size_t>(map.height()) + positions.size);
        map.insert(exec, keys, positions, static_cast<std::size_t>(options.capacity), to, inserted);
    };
    if (options.sightings == 1 && (threads == 1 || mostly_new)) {
        add({n});
    } else {
        detail::KeyIndexAccess::for_keys(exec, n, [&](std::size_t begin, std::size_t end) {
            map.find_each(keys, begin, end, [=](std::size_t i, std::int64_t row) { to[i] = row; });
        });
        detail::Buffer<std::size_t> missing;
        for (std::size_t i = 0; i < n; ++i) {
            if (to[i] < 0) missing.push_back(i);
        }
        if (options.sightings == 1) {
            add({missing.size(), missing.data()});
        } else if (!missing.empty()) {
            counted = seen.count(exec, keys, times, missing, options, step);
            try {
                add({counted->admitted.size(), counted->admitted.data()});
            } catch (...) {
                seen.undo(*counted);
                throw;
            }
        }
    }
    mostly_new = inserted.size() - before > n / 2;
    if (options.record_uses) {
        uses.resize(std::max(uses.size(), static_cast<std::size_t>(map.height())));
        for (std::int64_t const row : std::span(inserted).subspan(before)) uses[static_cast<std::size_t>(row)] = {};
    }
    if (options.default_row) {
        for (std::size_t i = 0; i < n; ++i) to[i] = std::max<std::int64_t>(to[i], 0);
    }
    return counted;
}

template <key_type Key>
void KeyIndex<Key>::Rows::record(Cpu exec, KeyIndexOptions const& options, std::int64_t step,
                                 Tensor<std::int64_t> const& rows, std::int64_t const* times,
                                 Counted const& counted) noexcept {
    if (counted) seen.admit(*counted);
    if (!options.record_uses) return;
    constexpr std::size_t ahead = 16;
    constexpr std::int64_t most_uses = std::numeric_limits<std::int64_t>::max();
    detail::KeyIndexAccess::for_keys(exec, rows.size(), [&](std::size_t begin, std::size_t end) {
        std::int64_t const* const row = rows.data();
        for (std::size_t i = begin; i < end; ++i) {
            if (i + ahead < end && row[i + ahead] >= 0)
                __builtin_prefetch(&uses[static_cast<std::size_t>(row[i + ahead])], 1);
            if (row[i] < options.default_row) continue;
            KeyUses& used = uses[static_cast<std::size_t>(row[i])];
            std::int64_t const n = times == nullptr ? 1 : times[i];
            if (std::atomic_ref(used.count).fetch_add(n, std::memory_order_relaxed) > most_uses - n)
                std::atomic_ref(used.count).store(most_uses, std::memory_order_relaxed);  // it has wrapped
            std::atomic_ref(used.step).store(step, std::memory_order_relaxed);
        }
    });
}

template <key_type Key>
void KeyIndex<Key>::Rows::withdraw(Changes const& oldest) noexcept {
    while (oldest.index != nullptr) {
        Changes& changes = *open.back();
        map.undo(changes.height, changes.inserted);
        if (changes.counted) seen.undo(*changes.counted);
        mostly_new = changes.was_mostly_new;
        open.pop_back();
        changes.index = nullptr;
    }
}

template <key_type Key>
KeyInsertion<Key>::KeyInsertion() = default;
template <key_type Key>
KeyInsertion<Key>::KeyInsertion(KeyInsertion&& other) noexcept = default;
template <key_type Key>
KeyInsertion<Key>::~KeyInsertion() = default;

template <key_type Key>
bool KeyInsertion<Key>::open() const noexcept {
    return changes_ != nullptr && changes_->index != nullptr;
}

template <key_type Key>
std::span<std::int64_t const> KeyInsertion<Key>::inserted() const noexcept {
    if (!open()) return {};
    return changes_->inserted;
}

template <key_type Key>
void KeyInsertion<Key>::check_oldest() const {
    if (changes_ == nullptr) return;
    if (!open()) throw Error("commit: the insertion is withdrawn");
    if (changes_->index->open.front() != changes_.get()) throw Error("commit: an older insertion is open");
}

template <key_type Key>
void KeyInsertion<Key>::commit() {
    check_oldest();
    if (changes_ == nullptr) return;
    auto& c = *changes_;
    auto& open = c.index->open;
    c.index->record(Cpu{c.threads}, c.options, c.step, rows_, c.times.empty() ? nullptr : c.times.data(), c.counted);
    open.erase(open.begin());
    c.index = nullptr;
    changes_.reset();
}

template <key_type Key>
void KeyIndex<Key>::check_settled(char const* function) const {
    if (!rows_->open.empty()) throw Error({function, ": an insertion into the index is open"});
}

template <key_type Key>
Key KeyIndex<Key>::key(std::int64_t row) const {
    rows_->check_used(row);
    return rows_->map.key(row);
}

template <key_type Key>
std::vector<std::int64_t> KeyIndex<Key>::rows() const {
    return rows_->map.rows();
}

template <key_type Key>
std::vector<Key> KeyIndex<Key>::keys() const {
    return rows_->keys_of(rows());
}

template <key_type Key>
std::vector<Key> KeyIndex<Key>::Rows::keys_of(std::span<std::int64_t const> rows) const {
    std::vector<Key> keys;
    keys.reserve(rows.size());
    for (std::int64_t const row : rows) keys.push_back(map.key(row));
    return keys;
}

template <key_type Key>
KeyUses KeyIndex<Key>::uses(std::int64_t row) const {
    Rows::check_recorded("uses", options_);
    rows_->check_used(row);
    return rows_->uses[static_cast<std::size_t>(row)];
}

template <key_type Key>
std::vector<std::int64_t> KeyIndex<Key>::evict_unused(std::int64_t since) {
    check_settled("evict_unused");
    auto const leaving = rows_->seen.unused(since);
    auto rows = rows_->evict("evict_unused", options_, [=](KeyUses const& uses) { return uses.step < since; });
    rows_->seen.remove(leaving);
    return rows;
}

template <key_type Key>
std::vector<std::int64_t> KeyIndex<Key>::evict_rare(std::int64_t count) {
    check_settled("evict_rare");
    return rows_->evict("evict_rare", options_, [=](KeyUses const& uses) { return uses.count < count; });
}

template <key_type Key>
template <class Leaves>
std::vector<std::int64_t> KeyIndex<Key>::Rows::evict(char const* function, KeyIndexOptions const& options,
                                                     Leaves const& leaves) {
    check_recorded(function, options);
    auto rows = map.rows();
    std::erase_if(rows, [&](std::int64_t row) { return !leaves(uses[static_cast<std::size_t>(row)]); });
    map.reserve_free(rows.size());
    map.erase(rows);
    return rows;
}

template <key_type Key>
std::vector<std::int64_t> KeyIndex<Key>::erase(Keys<Key> keys) {
    check_settled("erase");
    std::vector<std::int64_t> rows;
    rows_->map.find_each(keys, 0, keys.size(), [&](std::size_t, std::int64_t row) {
        if (row >= 0) rows.push_back(row);
    });
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    rows_->map.reserve_free(rows.size());
    rows_->map.erase(rows);
    return rows;
}

template <key_type Key>
void KeyIndex<Key>::reserve(std::size_t keys) {
    rows_->map.reserve(keys);
}

template <key_type Key>
KeyIndexStatistics KeyIndex<Key>::statistics() const {
    auto const& slots = rows_->map.slots();
    return {.keys = size(),
            .seen = rows_->seen.size(),
            .slots = slots.size(),
            .load = static_cast<double>(size()) / static_cast<double>(slots.size()),
            .longest_probe = slots.longest_probe(),
            .bytes = rows_->map.bytes() + rows_->seen.bytes() + rows_->uses.capacity() * sizeof(KeyUses)};
}

template <key_type Key>
KeyIndexContents<Key> KeyIndex<Key>::contents() const {
    check_settled("contents");
    KeyIndexContents<Key> c{.height = height(), .step = step_, .rows = rows()};
    c.keys = rows_->keys_of(c.rows);
    if (options_.record_uses) {
        for (std::int64_t const row : c.rows) c.uses.push_back(rows_->uses[static_cast<std::size_t>(row)]);
    }
    rows_->seen.list(c.seen, c.sightings);
    return c;
}

template <key_type Key>
void KeyIndex<Key>::assign(KeyIndexContents<Key> const& contents) {
    check_settled("assign");
    auto const& c = contents;
    auto const same_size = [](char const* field, std::size_t size, std::size_t want) {
        if (size != want) throw ShapeError(field, size, want);
    };
    same_size("rows.size()", c.rows.size(), c.keys.size());
    if (options_.record_uses) same_size("uses.size()", c.uses.size(), c.keys.size());
    same_size("sightings.size()", c.sightings.size(), c.seen.size());
    if (std::cmp_greater(c.keys.size(), options_.capacity))
        throw ShapeError("keys.size()", c.keys.size(), {"at most ", options_.capacity});
    std::int64_t const least = options_.default_row;
    if (c.height < least) throw ValueError("height", c.height, {least, " or more"});
    detail::check_ascending("rows", c.rows, least, c.height);
    for (std::size_t i = 0; i < c.sightings.size(); ++i) {
        if (c.sightings[i].count < 1) throw IndexError("sightings", i, c.sightings[i].count, "is not positive");
    }
    Rows::check_lengths(c.keys);
    Rows::check_lengths(c.seen);
    std::uint64_t const hash_seed = random_hash_seed();
    detail::KeyMap<Key> map(hash_seed, options_.default_row);
    map.fill(c.keys, c.rows, c.height);
    Keys<Key> const waiting = c.seen;
    map.find_each(waiting, 0, waiting.size(), [](std::size_t i, std::int64_t row) {
        if (row >= 0) throw IndexError("seen", i, {"is also the key of row ", row});
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
    rows_->map = std::move(map);
    rows_->seen = std::move(seen);
    rows_->uses = std::move(uses);
    step_ = c.step;
    options_.hash_seed = hash_seed;
}

template <key_type Key>
void KeyIndex<Key>::Rows::check_lengths(Keys<Key> const& keys) {
    if constexpr (std::same_as<Key, std::string>) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i].size() > longest_key)
                throw IndexError("keys", i, {"has ", keys[i].size(), " bytes, the most are ", longest_key});
        }
    }
}

template <key_type Key>
void KeyIndex<Key>::Rows::check_used(std::int64_t row) const {
    if (!map.has(row)) throw IndexError("row", IndexError::no_position, row, "is not the row of a key");
}

template <key_type Key>
void KeyIndex<Key>::Rows::check_recorded(char const* function, KeyIndexOptions const& options) {
    if (!options.record_uses) throw Error({function, ": the options of the index do not record uses"});
}

namespace detail {

template <class Key>
Key const& KeyIndexAccess::key(KeyIndex<Key> const& index, std::int64_t row) {
    return index.rows_->map.key(row);
}

template <class Key>
KeyUses const& KeyIndexAccess::uses(KeyIndex<Key> const& index, std::int64_t row) {
    return index.rows_->uses[static_cast<std::size_t>(row)];
}

template <class Key>
KeyEviction KeyIndexAccess::unused(KeyIndex<Key> const& index, std::int64_t since, std::int64_t most,
                                   Tensor<std::int64_t> const& kept) {
    auto& all = *index.rows_;
    auto const used = [&](std::int64_t row) { return all.uses[static_cast<std::size_t>(row)].step; };
    std::vector<std::int64_t> now(kept.begin(), kept.end());
    std::ranges::sort(now);
    auto rows = all.map.rows();
    std::erase_if(rows, [&](std::int64_t row) { return std::ranges::binary_search(now, row); });
    auto const staying = std::ranges::partition(rows, [&](std::int64_t row) { return used(row) < since; });
    auto const leaving = rows.size() - staying.size();
    auto const remaining = static_cast<std::int64_t>(all.map.size() - leaving);
    auto more = static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(remaining - most, 0, std::ssize(staying)));
    auto const before = [&](std::int64_t a, std::int64_t b) {
        return used(a) != used(b) ? used(a) < used(b) : all.map.key(a) < all.map.key(b);
    };
    if (more != 0) std::ranges::nth_element(staying, staying.begin() + more - 1, before);
    rows.resize(leaving + static_cast<std::size_t>(more));
    std::ranges::sort(rows);
    all.map.reserve_free(rows.size());
    return {std::move(rows), all.seen.unused(since)};
}

template <class Key>
void KeyIndexAccess::evict(KeyIndex<Key>& index, KeyEviction const& leaving) noexcept {
    index.rows_->map.erase(leaving.rows);
    index.rows_->seen.remove(leaving.seen);
}

ROWAN_TEMPLATE(KeyEviction KeyIndexAccess::unused(KeyIndex<std::int64_t> const&, std::int64_t, std::int64_t,
                                                  Tensor<std::int64_t> const&))
ROWAN_TEMPLATE(KeyEviction KeyIndexAccess::unused(KeyIndex<std::string> const&, std::int64_t, std::int64_t,
                                                  Tensor<std::int64_t> const&))
ROWAN_TEMPLATE(void KeyIndexAccess::evict(KeyIndex<std::int64_t>&, KeyEviction const&) noexcept)
ROWAN_TEMPLATE(void KeyIndexAccess::evict(KeyIndex<std::string>&, KeyEviction const&) noexcept)
ROWAN_TEMPLATE(std::int64_t const& KeyIndexAccess::key(KeyIndex<std::int64_t> const&, std::int64_t))
ROWAN_TEMPLATE(KeyUses const& KeyIndexAccess::uses(KeyIndex<std::int64_t> const&, std::int64_t))
ROWAN_TEMPLATE(std::uint64_t const& KeyIndexAccess::key(KeyIndex<std::uint64_t> const&, std::int64_t))
ROWAN_TEMPLATE(KeyUses const& KeyIndexAccess::uses(KeyIndex<std::uint64_t> const&, std::int64_t))
ROWAN_TEMPLATE(std::string const& KeyIndexAccess::key(KeyIndex<std::string> const&, std::int64_t))
ROWAN_TEMPLATE(KeyUses const& KeyIndexAccess::uses(KeyIndex<std::string> const&, std::int64_t))

}  // namespace detail

ROWAN_TEMPLATE(class KeyIndex<std::int64_t>)
ROWAN_TEMPLATE(class KeyIndex<std::uint64_t>)
ROWAN_TEMPLATE(class KeyIndex<std::string>)
ROWAN_TEMPLATE(class KeyInsertion<std::int64_t>)
ROWAN_TEMPLATE(class KeyInsertion<std::uint64_t>)
ROWAN_TEMPLATE(class KeyInsertion<std::string>)

}  // namespace rowan::inline v0

#endif
