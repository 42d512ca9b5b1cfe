// tests/key_model.hpp: a slow model of KeyIndex, and keys with given hashes.
#pragma once

#include <rowan/sparse/key_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace test {

using Rows = std::vector<std::int64_t>;

/// What a KeyIndex does, key by key.
template <class Key>
struct Model {
    struct Seen {
        std::int64_t count, step;
    };

    explicit Model(rowan::KeyIndexOptions const& o) : options(o), height(o.default_row ? 1 : 0) {}

    Rows find(std::vector<Key> const& keys) const {
        Rows found;
        for (Key const& key : keys) {
            auto const at = rows.find(key);
            found.push_back(at != rows.end() ? at->second : options.default_row ? 0 : -1);
        }
        return found;
    }

    /// The rows; or nothing if there are too many keys, then `beyond` is the position of the first of them.
    std::optional<Rows> find_or_insert(std::vector<Key> const& keys, Rows& inserted, std::size_t& beyond) {
        std::optional<Model> before;
        if (options.capacity <= 1'000'000) before = *this;
        std::size_t const known = inserted.size();
        std::set<Key> admitted;
        for (Key const& key : keys) {
            if (rows.contains(key) || admitted.contains(key)) continue;
            Seen& s = seen[key];
            s = {s.count + 1, step};
            if (admits(key, s.count)) admitted.insert(key);
        }
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (rows.contains(keys[i]) || !admitted.contains(keys[i])) continue;
            if (static_cast<std::int64_t>(rows.size()) == options.capacity) {
                *this = *before;
                inserted.resize(known);
                beyond = i;
                return {};
            }
            std::int64_t const row = free.empty() ? height++ : free.extract(free.begin()).value();
            rows[keys[i]] = row;
            uses[row] = {};
            seen.erase(keys[i]);
            inserted.push_back(row);
        }
        for (Key const& key : keys) {
            if (rows.contains(key)) uses[rows[key]] = {uses[rows[key]].count + 1, step};
        }
        return find(keys);
    }

    bool admits(Key const& key, std::int64_t count) const {
        if (options.sightings > 0 && count >= options.sightings) return true;
        return rowan::detail::uniform_at(~rowan::hash_key(key, options.seed), static_cast<std::uint64_t>(count)) <
               options.probability;
    }

    template <class Leaves>
    Rows remove(Leaves const& leaves) {
        Rows removed;
        std::erase_if(rows, [&](auto const& pair) {
            if (!leaves(pair.first, uses[pair.second])) return false;
            removed.push_back(pair.second);
            free.insert(pair.second);
            return true;
        });
        std::ranges::sort(removed);
        return removed;
    }
    Rows evict_unused(std::int64_t since) {
        std::erase_if(seen, [&](auto const& pair) { return pair.second.step < since; });
        return remove([&](Key const&, rowan::KeyUses const& u) { return u.step < since; });
    }
    Rows evict_rare(std::int64_t count) {
        return remove([&](Key const&, rowan::KeyUses const& u) { return u.count < count; });
    }
    Rows erase(std::vector<Key> const& keys) {
        std::set<Key> const gone(keys.begin(), keys.end());
        return remove([&](Key const& key, rowan::KeyUses const&) { return gone.contains(key); });
    }

    rowan::KeyIndexOptions options;
    std::int64_t height;
    std::int64_t step = 0;
    std::map<Key, std::int64_t> rows;
    std::set<std::int64_t> free;
    std::map<Key, Seen> seen;
    std::map<std::int64_t, rowan::KeyUses> uses;
};

inline Rows list(rowan::Tensor<std::int64_t> const& rows) { return Rows(rows.data(), rows.data() + rows.size()); }

/// How an index differs from its model, or "".
template <class Key>
std::string difference(rowan::KeyIndex<Key> const& index, Model<Key> const& model) {
    if (index.size() != model.rows.size()) return "size";
    if (index.height() != model.height) return "height";
    if (index.step() != model.step) return "step";
    std::map<std::int64_t, Key> by_row;
    for (auto const& [key, row] : model.rows) by_row[row] = key;
    Rows rows;
    std::vector<Key> keys;
    for (auto const& [row, key] : by_row) {
        rows.push_back(row);
        keys.push_back(key);
        if (index.key(row) != key) return "key";
        if (!model.options.record_uses) continue;
        rowan::KeyUses const got = index.uses(row), want = model.uses.at(row);
        if (got.count != want.count || got.step != want.step) return "uses of row " + std::to_string(row);
    }
    if (index.rows() != rows) return "rows";
    if (index.keys() != keys) return "keys";
    if (list(index.find(keys)) != rows) return "find";
    auto const numbers = index.statistics();
    if (numbers.keys != rows.size()) return "statistics().keys";
    if (numbers.seen != (model.options.sightings == 1 ? 0 : model.seen.size())) return "statistics().seen";
    if (!(numbers.load <= 0.75) ||
        numbers.load != static_cast<double>(numbers.keys) / static_cast<double>(numbers.slots))
        return "statistics().load";
    if (numbers.longest_probe > numbers.keys || (numbers.longest_probe == 0) != rows.empty())
        return "statistics().longest_probe";
    return "";
}

/// The key with this hash.
inline std::int64_t key_with_hash(std::uint64_t hash, std::uint64_t seed) {
    auto const inverse = [](std::uint64_t odd) {
        std::uint64_t x = odd;
        for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
        return x;
    };
    hash ^= hash >> 31 ^ hash >> 62;
    hash *= inverse(0x94D049BB133111EB);
    hash ^= hash >> 27 ^ hash >> 54;
    hash *= inverse(0xBF58476D1CE4E5B9);
    hash ^= hash >> 30 ^ hash >> 60;
    return static_cast<std::int64_t>(hash - rowan::detail::mix_bits(seed + rowan::detail::golden_step));
}

}  // namespace test
