// tests/sparse/key_index_large.cpp: KeyIndex with many keys, with equal hashes, and on several threads.
#include <rowan/sparse/key_index.hpp>

#include "catch.hpp"
#include "forked.hpp"
#include "inputs.hpp"
#include "key_model.hpp"
#include "sanitizers.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace test_key_index_large {

using namespace rowan;

namespace {

using Ints = KeyIndex<std::int64_t>;
using Texts = KeyIndex<std::string>;
using test::difference, test::key_with_hash, test::list, test::Model, test::Rows;

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
    inputs::Random random(random_seed);
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
    for (int const threads : sanitizers::any ? std::vector{8} : std::vector{1, 2, 8}) indices.emplace(threads, KeyIndex<Key>(options));
    Model<Key> model(options);
    std::uint64_t batch = 0;
    for (std::size_t const n : {std::size_t{20'000}, std::size_t{45'000}, std::size_t{3}, std::size_t{30'000}}) {
        model.step = static_cast<std::int64_t>(++batch);
        auto const keys = converted<Key>(large_batch(n, static_cast<std::int64_t>(n), options.hash_seed, batch));
        auto const gone = converted<Key>(large_batch(9000, 40'000, options.hash_seed, batch + 100));
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

TEST_CASE("large batches give the rows of the model on any number of threads", "[key_index][threads]") {
    check_large<std::int64_t>({.hash_seed = 5});
    check_large<std::int64_t>({.default_row = true, .sightings = 2, .probability = 0.25, .record_uses = true});
    if (!sanitizers::any) check_large<std::uint64_t>({.record_uses = true, .hash_seed = 1});
    check_large<std::string>({});
}

TEST_CASE("keys whose searches begin at the last slot", "[key_index][threads]") {
    constexpr auto last = ~std::uint64_t{0};
    for (int const threads : {1, 8}) {
        Ints index({.hash_seed = 9});
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
    Texts index({.record_uses = true, .hash_seed = 4});
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

TEST_CASE("keys that are chosen to meet in one place do not under a hash seed that is drawn", "[key_index][threads]") {
    constexpr std::size_t n = 100'000, few = 2000;
    Rows numbers(n);
    std::vector<std::string> texts(n);
    for (std::size_t i = 0; i < n; ++i) {
        numbers[i] = key_with_hash(i, 0);  // the upper bits of the hashes are 0
        texts[i] = text_with_hash(i, i, 0);
    }
    auto const check = [&]<class Key>(std::vector<Key> const& keys) {
        KeyIndex<Key> known;
        known.find_or_insert(std::span(keys).first(few));
        CHECK(known.statistics().longest_probe == few);
        Rows want(n);
        for (std::size_t i = 0; i < n; ++i) want[i] = static_cast<std::int64_t>(i);
        for (int const threads : {1, 8}) {
            KeyIndex<Key> index({.hash_seed = random_hash_seed()});
            CHECK((list(index.find_or_insert(Cpu{threads}, keys)) == want));
            CHECK((list(index.find(Cpu{threads}, keys)) == want));
            CHECK(index.statistics().longest_probe < 500);
            index.erase(std::span(keys).first(few));
            known.assign(index.contents());  // as a load of a file
            CHECK(known.options().hash_seed != 0);
            CHECK(known.size() == n - few);
            CHECK(known.statistics().longest_probe < 500);
        }
    };
    check(numbers);
    check(texts);
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

}  // namespace test_key_index_large
