// tests/sparse/key_index.cpp: KeyIndex against a slow model of it.
#include <rowan/sparse/key_index.hpp>

#include "catch.hpp"
#include "forked.hpp"
#include "inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace test_key_index {

using namespace rowan;

namespace {

using Rows = std::vector<std::int64_t>;
using Ints = KeyIndex<std::int64_t>;
using Texts = KeyIndex<std::string>;
using Random = inputs::Random;

/// What a KeyIndex does, key by key.
template <class Key>
struct Model {
    struct Seen {
        std::int64_t count, step;
    };

    explicit Model(KeyIndexOptions const& o) : options(o), height(o.default_row ? 1 : 0) {}

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
        return detail::uniform_at(hash_key(key, options.seed), static_cast<std::uint64_t>(count)) < options.probability;
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
        return remove([&](Key const&, KeyUses const& u) { return u.step < since; });
    }
    Rows evict_rare(std::int64_t count) {
        return remove([&](Key const&, KeyUses const& u) { return u.count < count; });
    }
    Rows erase(std::vector<Key> const& keys) {
        std::set<Key> const gone(keys.begin(), keys.end());
        return remove([&](Key const& key, KeyUses const&) { return gone.contains(key); });
    }

    KeyIndexOptions options;
    std::int64_t height;
    std::int64_t step = 0;
    std::map<Key, std::int64_t> rows;
    std::set<std::int64_t> free;
    std::map<Key, Seen> seen;
    std::map<std::int64_t, KeyUses> uses;
};

Rows list(Tensor<std::int64_t> const& rows) { return Rows(rows.data(), rows.data() + rows.size()); }

/// How an index differs from its model, or "".
template <class Key>
std::string difference(KeyIndex<Key> const& index, Model<Key> const& model) {
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
        KeyUses const got = index.uses(row), want = model.uses.at(row);
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

/// One of few keys, so that they occur again.
template <class Key>
Key key_of(std::int64_t i) {
    if constexpr (std::same_as<Key, std::string>) {
        std::string text(static_cast<std::size_t>(i), 'x');
        if (i % 3 == 1) text.back() = '\0';
        return text;
    } else {
        constexpr auto most = std::numeric_limits<Key>::max();
        Key const few[] = {0, most, static_cast<Key>(-1), static_cast<Key>(most + 1ULL), most / 2};
        return i < 5 ? few[i] : static_cast<Key>(static_cast<std::uint64_t>(i) << (i % 7 * 8));
    }
}

/// Does one operation, which follows from a number, to both. Returns how they differ, or "".
template <class Key>
std::string step(Cpu exec, std::uint32_t number, KeyIndex<Key>& index, Model<Key>& model) {
    Random random(number / 16);
    std::vector<Key> keys(static_cast<std::size_t>(random.below(24)));
    std::int64_t const kinds = 1 + random.below(40);
    for (Key& key : keys) key = key_of<Key>(random.below(kinds));
    std::int64_t const n = random.below(6);
    bool const recorded = model.options.record_uses;
    switch (number % 16) {
        case 0:
            return list(index.find(exec, keys)) == model.find(keys) ? "" : "find";
        case 1:
            return index.erase(keys) == model.erase(keys) ? "" : "erase";
        case 2:
            return !recorded || index.evict_rare(n) == model.evict_rare(n) ? "" : "evict_rare";
        case 3:
            return !recorded || index.evict_unused(model.step - n) == model.evict_unused(model.step - n)
                       ? ""
                       : "evict_unused";
        case 4:
            index.reserve(static_cast<std::size_t>(n * n * n));
            return "";
        case 5:
        case 6:
            index.set_step(model.step += n);
            return "";
        default:
            break;
    }
    Rows got{-7}, want{-7};
    std::size_t beyond = 0;
    auto const rows = model.find_or_insert(keys, want, beyond);
    try {
        auto const out = index.find_or_insert(exec, keys, got);
        if (!rows) return "no error";
        if (out.shape() != Keys<Key>(keys).shape() || list(out) != *rows) return "find_or_insert";
    } catch (IndexError const& e) {
        if (rows || e.position() != beyond) return e.what();
    }
    return got == want ? "" : "inserted";
}

template <class Key>
void check_scripts() {
    CHECK(rc::check([] {
        KeyIndexOptions options;
        options.capacity = *rc::gen::element<std::int64_t>(0, 3, 20, 1000, 1000, 1000);
        options.default_row = *rc::gen::arbitrary<bool>();
        options.sightings = *rc::gen::element<std::int64_t>(0, 1, 1, 2, 3);
        options.probability = *rc::gen::element(0.0, 0.0, 0.3, 1.0);
        options.record_uses = *rc::gen::arbitrary<bool>();
        options.seed = *rc::gen::arbitrary<std::uint64_t>();
        Cpu const exec{.threads = *rc::gen::element(1, 2, 8)};
        KeyIndex<Key> index(options);
        Model<Key> model(options);
        for (std::uint32_t const number :
             *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 1U << 24))) {
            auto text = step(exec, number, index, model);
            if (text.empty()) text = difference(index, model);
            if (!text.empty()) RC_FAIL(text);
        }
    }));
}

/// The key with this hash.
std::int64_t key_with_hash(std::uint64_t hash, std::uint64_t seed) {
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
    return static_cast<std::int64_t>(hash - detail::mix_bits(seed + detail::golden_step));
}

/// A string of 16 bytes with this hash.
std::string text_with_hash(std::uint64_t first, std::uint64_t hash, std::uint64_t seed) {
    std::uint64_t const between = detail::mix_bits((hash_key(std::uint64_t{16}, seed) ^ first) + detail::golden_step);
    std::uint64_t const mixed = static_cast<std::uint64_t>(key_with_hash(hash, seed)) +
                                detail::mix_bits(seed + detail::golden_step) - detail::golden_step;
    std::string text;
    for (std::uint64_t const word : {first, between ^ mixed}) {
        for (int shift = 0; shift < 64; shift += 8) text += static_cast<char>(word >> shift & 0xFF);
    }
    return text;
}

/// Many keys, with duplicates. Some have hashes just below a multiple of 2^58: when threads insert, ranges of slots end
/// there, and the last slots of the table are full.
Rows large_batch(std::size_t n, std::int64_t kinds, std::uint64_t seed, std::uint64_t random_seed) {
    Random random(random_seed);
    Rows keys(n);
    for (auto& key : keys) {
        key = random.below(kinds);
        if (random.below(3) != 0) continue;
        auto const end = static_cast<std::uint64_t>(random.below(64)) << 58;
        key = key_with_hash(end - 1 - (static_cast<std::uint64_t>(random.below(150)) << 40), seed);
    }
    return keys;
}

template <class Key>
std::vector<Key> converted(Rows const& keys) {
    std::vector<Key> list;
    for (std::int64_t const key : keys) {
        if constexpr (std::same_as<Key, std::string>) {
            list.push_back("key " + std::to_string(key));
        } else {
            list.push_back(static_cast<Key>(key));
        }
    }
    return list;
}

/// Large batches on several threads, with rows that become free in between.
template <class Key>
void check_large(KeyIndexOptions const& options) {
    CAPTURE(options.sightings, options.record_uses);
    std::map<int, KeyIndex<Key>> indices;
    for (int const threads : {1, 2, 8}) indices.emplace(threads, KeyIndex<Key>(options));
    Model<Key> model(options);
    std::uint64_t batch = 0;
    for (std::size_t const n : {std::size_t{20'000}, std::size_t{45'000}, std::size_t{3}, std::size_t{30'000}}) {
        model.step = static_cast<std::int64_t>(++batch);
        auto const keys = converted<Key>(large_batch(n, static_cast<std::int64_t>(n), options.seed, batch));
        auto const gone = converted<Key>(large_batch(9000, 40'000, options.seed, batch + 100));
        Rows inserted;
        std::size_t beyond = 0;
        auto const want = model.find_or_insert(keys, inserted, beyond);
        auto const found = model.find(gone);
        bool const erases = batch > 1;  // the second batch follows one of new keys
        auto const erased = erases ? model.erase(gone) : Rows{};
        auto const evicted = erases && options.record_uses ? model.evict_unused(model.step) : Rows{};
        for (auto& [threads, index] : indices) {
            CAPTURE(threads, batch);
            Rows got;
            index.set_step(model.step);
            CHECK((list(index.find_or_insert(Cpu{threads}, keys, got)) == want));
            CHECK((got == inserted));
            CHECK((list(index.find(Cpu{threads}, gone)) == found));
            if (erases) CHECK((index.erase(gone) == erased));
            if (erases && options.record_uses) CHECK((index.evict_unused(model.step) == evicted));
            CHECK(difference(index, model) == "");
        }
    }
}

}  // namespace

TEST_CASE("operations on few keys do what the model does", "[key_index][property]") {
    SECTION("std::int64_t") { check_scripts<std::int64_t>(); }
    SECTION("std::uint64_t") { check_scripts<std::uint64_t>(); }
    SECTION("std::string") { check_scripts<std::string>(); }
}

TEST_CASE("large batches give the rows of the model on any number of threads", "[key_index][threads]") {
    check_large<std::int64_t>({.seed = 5});
    check_large<std::int64_t>({.default_row = true, .sightings = 2, .probability = 0.25, .record_uses = true});
    check_large<std::uint64_t>({.record_uses = true, .seed = 1});
    check_large<std::string>({});
}

TEST_CASE("keys whose searches begin at the last slot", "[key_index][threads]") {
    constexpr auto last = ~std::uint64_t{0};
    for (int const threads : {1, 8}) {
        Ints index({.seed = 9});
        Rows keys;
        for (std::uint64_t i = 0; i < 17'000; ++i)
            keys.push_back(i % 17 == 0 ? key_with_hash(last - i, 9) : static_cast<std::int64_t>(i));
        Rows want(keys.size());
        for (std::size_t i = 0; i < want.size(); ++i) want[i] = static_cast<std::int64_t>(i);
        for (auto const& key : {keys.front(), keys[17]}) CHECK(hash_key(key, 9) >> 32 == last >> 32);
        CHECK((list(index.find_or_insert(Cpu{threads}, keys)) == want));
        CHECK((list(index.find(keys)) == want));
        CHECK(index.statistics().longest_probe >= 1000);
        // Those behind an erased slot move up, also over the end of the table.
        Rows some;
        for (std::size_t i = 0; i < keys.size(); i += 51) some.push_back(keys[i]);
        CHECK(index.erase(some).size() == some.size());
        for (std::size_t i = 0; i < want.size(); i += 51) want[i] = -1;
        CHECK((list(index.find(keys)) == want));
        CHECK(index.size() == keys.size() - some.size());
    }
}

TEST_CASE("different strings may have the same hash", "[key_index]") {
    Texts index({.record_uses = true, .seed = 4});
    std::vector<std::string> texts;
    Rows want;
    for (std::uint64_t i = 0; i < 50; ++i) {
        texts.push_back(text_with_hash(i, 0xFFFF'FFFF'1234'5678, 4));
        want.push_back(static_cast<std::int64_t>(i));
        REQUIRE(hash_key(std::string_view(texts.back()), 4) == 0xFFFF'FFFF'1234'5678);
    }
    CHECK(list(index.find_or_insert(texts)) == want);
    CHECK(list(index.find(texts)) == want);
    CHECK(index.erase({texts[7], texts[49]}) == Rows{7, 49});
    want[7] = want[49] = -1;
    CHECK(list(index.find(texts)) == want);
    CHECK(index.key(48) == texts[48]);
    CHECK_THROWS_AS(index.key(49), IndexError);
}

TEST_CASE("one key, a million times", "[key_index]") {
    for (int const threads : {1, 8}) {
        Texts texts({.record_uses = true});
        Ints ints({.record_uses = true});
        CHECK((list(ints.find_or_insert(Cpu{threads}, Rows(1'000'000, -1))) == Rows(1'000'000, 0)));
        CHECK(
            (list(texts.find_or_insert(Cpu{threads}, std::vector<std::string>(100'000, "again"))) == Rows(100'000, 0)));
        CHECK((ints.size() == 1 && ints.uses(0).count == 1'000'000));
        CHECK((texts.size() == 1 && texts.uses(0).count == 100'000));
    }
}

TEST_CASE("batches keep their shape, also without keys", "[key_index]") {
    using Shape = Tensor<std::int64_t>::shape_type;
    Ints index({.default_row = true});
    for (Shape const& shape : {Shape{0}, Shape{2, 0}, Shape{0, 3}}) {
        auto const none = Tensor<std::int64_t>::from_shape(shape);
        CHECK(index.find(none).shape() == shape);
        CHECK(index.find_or_insert(none).shape() == shape);
    }
    CHECK((index.size() == 0 && index.height() == 1 && index.rows().empty() && index.keys().empty()));
    CHECK((index.find_or_insert(Tensor<std::int64_t>{{5, 6}, {7, 5}}) == Tensor<std::int64_t>{{1, 2}, {3, 1}}));
    CHECK((index.find(Tensor<std::int64_t>{{5}, {8}}) == Tensor<std::int64_t>{{1}, {0}}));
    CHECK(index.erase({}).empty());
    // A shape whose size overflows to 0.
    CHECK_THROWS_AS(index.find({std::span<std::int64_t const>(), {std::size_t{1} << 33, std::size_t{1} << 31}}),
                    ShapeError);
    CHECK(Ints().height() == 0);
}

TEST_CASE("keys beyond the capacity change nothing", "[key_index][bad_input]") {
    for (std::size_t const n : {std::size_t{4}, std::size_t{50'000}}) {
        KeyIndexOptions const options{.capacity = static_cast<std::int64_t>(n), .sightings = 2, .record_uses = true};
        Ints index(options);
        Model<std::int64_t> model(options);
        std::size_t beyond = 0;
        Rows keys(n), inserted{5}, want{5};
        for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::int64_t>(i * i);
        for (int i = 0; i < 2; ++i) {
            index.find_or_insert(keys);
            model.find_or_insert(keys, want, beyond);
        }
        CHECK((index.erase({1, 4}) == model.erase({1, 4})));
        want = {5};
        index.find_or_insert({-1, 4});
        model.find_or_insert({-1, 4}, want, beyond);
        Rows more{9, -1, 4, -2};  // -1 and 4 get the free rows; -3 does not
        for (std::size_t i = 0; i < n / 2 * 2; ++i) more.push_back(-2 - static_cast<std::int64_t>(i / 2));
        CHECK(!model.find_or_insert(more, want, beyond));
        for (int const threads : {1, 2, 8}) {
            std::string const text =
                "keys[" + std::to_string(beyond) + "] is new, and there are " + std::to_string(n) + " keys, the most";
            CHECK_THROWS_WITH(index.find_or_insert(Cpu{threads}, more, inserted), text);
            CHECK(difference(index, model) == "");
            CHECK(inserted == Rows{5});
        }
        // What the sightings and the free rows are now.
        CHECK((list(index.find_or_insert({-2, -1, 4})) == *model.find_or_insert({-2, -1, 4}, want, beyond)));
        CHECK(difference(index, model) == "");
    }
    Ints none({.capacity = 0});
    CHECK_THROWS_WITH(none.find_or_insert({7}), "keys[0] is new, and there are 0 keys, the most");
    Ints all({.capacity = 60'000});
    Rows many(70'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i) / 2;
    CHECK(all.find_or_insert(Cpu{8}, many).data()[69'999] == 34'999);
    for (auto& key : many) key += 35'000;
    many.front() = 0;
    CHECK_THROWS_WITH(all.find_or_insert(Cpu{8}, many), "keys[50000] is new, and there are 60000 keys, the most");
    CHECK((all.size() == 35'000 && all.height() == 35'000 && all.key(34'999) == 34'999));
    CHECK((list(all.find(many)) == [&] {
        Rows rows(many.size(), -1);
        rows.front() = 0;
        return rows;
    }()));
}

TEST_CASE("a string that is too long changes nothing", "[key_index][bad_input]") {
    Texts index({.sightings = 2});
    std::string const most(Texts::longest_key, 'a'), more = most + "b";
    index.find_or_insert({most});
    CHECK_THROWS_WITH(index.find_or_insert({most, "x", more, more}), "keys[2] has 65536 bytes, the most are 65535");
    CHECK((index.size() == 0 && index.statistics().seen == 1));
    CHECK((list(index.find({more})) == Rows{-1}));
    CHECK((list(index.find_or_insert({most})) == Rows{0}));
    CHECK(index.key(0) == most);
    CHECK(index.statistics().bytes > most.size());
}

TEST_CASE("invalid options, rows and numbers of threads", "[key_index][bad_input]") {
    CHECK_THROWS_WITH(Ints({.capacity = -1}), "capacity is -1, expected 0 or more");
    CHECK_THROWS_WITH(Ints({.sightings = -2}), "sightings is -2, expected 0 or more");
    CHECK_THROWS_WITH(Ints({.probability = 1.5}), "probability is 1.5, expected in [0, 1]");
    CHECK_THROWS_WITH(Ints({.probability = -0.5}), "probability is -0.5, expected in [0, 1]");
    CHECK_THROWS_AS(Ints({.probability = std::nan("")}), ValueError);

    Ints index({.default_row = true, .record_uses = true});
    index.find_or_insert({10, 11, 12});
    index.erase({11});
    for (std::int64_t const row :
         {std::int64_t{2}, std::int64_t{0}, std::int64_t{4}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::max()}) {
        std::string const text = "row = " + std::to_string(row) + " is not the row of a key";
        CHECK_THROWS_WITH(index.key(row), text);
        CHECK_THROWS_WITH(index.uses(row), text);
    }
    CHECK((index.key(1) == 10 && index.key(3) == 12 && index.uses(3).count == 1));
    Texts texts;
    texts.find_or_insert({"a", "b"});
    texts.erase({"a"});
    CHECK_THROWS_AS(texts.key(0), IndexError);
    texts.find_or_insert({"c", ""});  // a free row's key is not the empty one
    texts.erase({"c"});
    CHECK_THROWS_AS(texts.key(0), IndexError);

    CHECK_THROWS_WITH(texts.uses(1), "uses: the options of the index do not record uses");
    CHECK_THROWS_WITH(texts.evict_unused(1), "evict_unused: the options of the index do not record uses");
    CHECK_THROWS_WITH(texts.evict_rare(1), "evict_rare: the options of the index do not record uses");

    for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{30'000}}) {
        Rows keys(n);
        for (std::size_t i = 0; i < n; ++i) keys[i] = -1 - static_cast<std::int64_t>(i);
        CHECK_THROWS_WITH(index.find(Cpu{-1}, keys), "threads is -1, expected 0 (all) or more");
        CHECK_THROWS_WITH(index.find_or_insert(Cpu{-1}, keys), "threads is -1, expected 0 (all) or more");
        CHECK((index.size() == 2 && index.height() == 4));
    }
    index.find_or_insert({20, 21, 22, 23, 24});  // most are new: the next batch is inserted at once
    CHECK_THROWS_AS(index.find_or_insert(Cpu{-1}, {30}), ValueError);
    CHECK((index.size() == 7 && list(index.find({30})) == Rows{0}));
    CHECK_THROWS_AS(index.reserve(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    CHECK_THROWS_AS(index.reserve(std::size_t{1} << 60), std::bad_alloc);
    CHECK(index.size() == 7);
}

TEST_CASE("a copy of an index is another index", "[key_index]") {
    Texts index({.sightings = 2, .record_uses = true});
    index.set_step(3);
    index.find_or_insert({"a", "a", "b"});
    Texts copy = index;
    CHECK((list(copy.find_or_insert({"b", "a"})) == Rows{1, 0}));
    CHECK((index.size() == 1 && copy.size() == 2 && index.uses(0).count == 2 && copy.uses(0).count == 3));
    CHECK((copy.step() == 3 && copy.options().sightings == 2));
    Texts const moved = std::move(copy);
    CHECK((list(moved.find({"a", "b", "c"})) == Rows{0, 1, -1}));
}

TEST_CASE("reserve saves copies of the table, and bytes grow with it", "[key_index]") {
    Ints index;
    auto const slots = index.statistics().slots, bytes = index.statistics().bytes;
    CHECK((slots == 16 && index.statistics().longest_probe == 0));
    index.reserve(10'000);
    auto const reserved = index.statistics();
    CHECK((reserved.slots == 16'384 && reserved.bytes >= bytes + 16'000 * 16 + 10'000 * 8));
    Rows keys(10'000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i);
    index.find_or_insert(keys);
    CHECK((index.statistics().slots == reserved.slots && index.statistics().bytes == reserved.bytes));
    CHECK((index.statistics().longest_probe >= 1 && index.statistics().longest_probe < 200));
}

TEST_CASE("several threads find at the same time, and so does a forked process", "[key_index][threads]") {
    Ints index;
    auto const keys = large_batch(40'000, 30'000, 0, 3);
    auto const rows = list(index.find_or_insert(Cpu{2}, keys));
    std::vector<std::thread> threads;
    std::array<bool, 3> same{};
    for (bool& s : same) threads.emplace_back([&] { s = list(index.find(Cpu{2}, keys)) == rows; });
    for (auto& thread : threads) thread.join();
    CHECK((same == std::array{true, true, true}));
    CHECK(forked::succeeds([&] {
        auto const more = large_batch(40'000, 90'000, 0, 4);
        Ints alone;
        alone.find_or_insert(Cpu{1}, keys);
        return list(index.find(Cpu{2}, keys)) == rows &&
               list(index.find_or_insert(Cpu{2}, more)) == list(alone.find_or_insert(Cpu{1}, more));
    }));
    CHECK((list(index.find(keys)) == rows));
}

}  // namespace test_key_index
