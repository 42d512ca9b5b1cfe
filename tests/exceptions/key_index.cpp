// tests/exceptions/key_index.cpp: no failed allocation changes a KeyIndex.
#include "catch.hpp"
#include "failing_new.hpp"

#include <rowan/core/kept_memory.hpp>
#include <rowan/sparse/gather_keys.hpp>
#include <rowan/sparse/key_index.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace test_key_index_memory {

namespace {

using rowan::Cpu, rowan::KeyIndex, rowan::KeyIndexOptions;

template <class Key>
std::vector<Key> keys_from(std::size_t first, std::size_t n) {
    std::vector<Key> keys(n);
    for (std::size_t i = 0; i < n; ++i) {
        if constexpr (std::same_as<Key, std::string>) {
            keys[i] = "a key of more than sixteen bytes " + std::to_string(first + i);
        } else {
            keys[i] = static_cast<Key>((first + i) * (first + i));
        }
    }
    return keys;
}

/// What can be seen of an index: also which rows are free, and how often keys without a row were seen.
template <class Key>
std::vector<std::int64_t> seen(KeyIndex<Key> const& index) {
    auto const height = static_cast<std::int64_t>(index.height());
    std::vector<std::int64_t> all{static_cast<std::int64_t>(index.size()), height, static_cast<std::int64_t>(index.statistics().seen)};
    for (std::int64_t const row : index.rows()) {
        auto const uses = index.uses(row);
        all.insert(all.end(), {row, static_cast<std::int64_t>(std::hash<Key>()(Key(index.key(row)))), uses.count, uses.step});
    }
    if (index.options().capacity == 0) return all;
    KeyIndex<Key> copy = index;
    for (int i = 0; i < 3; ++i) {
        auto const rows = copy.find_or_insert(Cpu{1}, keys_from<Key>(0, std::min<std::size_t>(100 + 2 * index.size(), 500)));
        all.insert(all.end(), rows.data(), rows.data() + rows.size());
    }
    return all;
}

/// Lets the n-th allocation of `call` fail, n = 1, 2, …, or all from the n-th on, until it succeeds. Each time the index must be as before.
template <class Key, class Call>
std::size_t survives(KeyIndex<Key> const& start, Call const& call) {
    rowan::limit_kept_memory(0);  // so that a freed block is not live
    auto const before = seen(start);
    KeyIndex<Key> first = start;
    call(first);  // static objects allocate here
    auto const after = seen(first);
    for (std::size_t n = 1;; ++n) {
        bool const ever_after = n % 2 == 0;
        CAPTURE(n, ever_after);
        KeyIndex<Key> index = start;
        bool threw = false;
        test::fail_allocation((n + 1) / 2, ever_after);
        try {
            call(index);
        } catch (std::bad_alloc const&) {
            threw = true;
        }
        test::fail_allocation(0);
        if (!threw) return n / 2;
        CHECK((seen(index) == before));
        call(index);
        CHECK((seen(index) == after));
        REQUIRE(n < 1000);
    }
}

template <class Key>
void check(KeyIndexOptions options, std::size_t n) {
    options.record_uses = true;
    CAPTURE(n, options.sightings);
    Cpu const exec{.threads = n > 1000 ? 2 : 1};
    KeyIndex<Key> start(options);
    CHECK(survives(start, [&](auto& index) { index.find_or_insert(exec, keys_from<Key>(0, n)); }) > 0);
    for (std::int64_t i = 0; i < options.sightings; ++i) start.find_or_insert(exec, keys_from<Key>(0, n));
    start.erase(keys_from<Key>(n / 4, n / 2));
    start.set_step(1);
    start.find_or_insert(exec, keys_from<Key>(n / 2, n));
    start.set_step(2);
    auto const more = keys_from<Key>(n / 8, 2 * n), few = keys_from<Key>(0, n);
    CHECK(survives(start, [&](auto& index) { index.find_or_insert(exec, more); }) > 0);
    CHECK(survives(start, [&](auto& index) { index.find(exec, more); }) > 0);
    if (exec.threads > 1) return;  // the others use one thread
    CHECK(survives(start, [&](auto& index) { index.erase(few); }) > 0);
    CHECK(survives(start, [&](auto& index) { index.evict_unused(1); }) > 0);
    CHECK(survives(start, [&](auto& index) { index.evict_unused(2); }) > 0);
    CHECK(survives(start, [&](auto& index) { index.evict_rare(2); }) > 0);
    CHECK(survives(start, [&](auto& index) { index.reserve(10 * n); }) > 0);
}

}  // namespace

TEST_CASE("out of memory: an index of few keys does not change", "[exceptions][key_index]") {
    for (std::int64_t const sightings : {1, 2}) {
        check<std::int64_t>({.sightings = sightings}, 40);
        check<std::string>({.default_row = true, .sightings = sightings}, 40);
    }
}

TEST_CASE("out of memory: an index into which threads insert does not change", "[exceptions][key_index]") {
    check<std::int64_t>({.sightings = 1}, 16'000);  // threads insert 2^14 keys or more: those of `more` that there is room for
    check<std::int64_t>({.sightings = 2}, 9'000);
}

TEST_CASE("out of memory: insertions end without memory", "[exceptions][key_index]") {
    constexpr std::size_t n = 20'000;
    rowan::limit_kept_memory(0);
    for (std::int64_t const sightings : {1, 2}) {
        for (bool const commit : {true, false}) {
            KeyIndex<std::string> index({.sightings = sightings, .record_uses = true});
            index.find_or_insert(keys_from<std::string>(0, sightings == 1 ? 1 : 2 * n));
            std::optional one(index.begin_insert(Cpu{2}, keys_from<std::string>(0, n))), two(index.begin_insert(Cpu{2}, keys_from<std::string>(n, n)));
            test::fail_allocation(1, true);
            if (commit) {
                one->commit();  // alone in a process, this calls the first threads
                two->commit();
            } else {
                one.reset();
            }
            test::fail_allocation(0);
            CHECK(index.size() == (commit ? 2 * n : sightings == 1 ? 1 : 0));
        }
    }
}

TEST_CASE("out of memory: gather by keys writes nothing", "[exceptions][key_index]") {
    KeyIndex<std::int64_t> index;
    index.find_or_insert({5, 6});
    rowan::Tensor<float> const table{{1, 2}, {3, 4}};
    rowan::Tensor<float> out{{7, 7}, {7, 7}, {7, 7}};
    std::size_t n = 0;
    for (bool threw = true; threw; ++n) {
        test::fail_allocation(n + 1);
        try {
            gather_into(table, index, {6, 9, 5}, out);
            threw = false;
        } catch (std::bad_alloc const&) {
        }
        test::fail_allocation(0);
        if (threw) CHECK((out == rowan::Tensor<float>{{7, 7}, {7, 7}, {7, 7}}));
    }
    CHECK(n > 1);
    CHECK((out == rowan::Tensor<float>{{3, 4}, {0, 0}, {1, 2}}));
}

}  // namespace test_key_index_memory
