// tests/exceptions/keyed_table.cpp: the n-th allocation fails: the table, its states and its keys are unchanged.
#include <rowan/sparse/keyed_table.hpp>

#include "catch.hpp"
#include "failing_new.hpp"
#include "refused.hpp"

#include <rowan/core/kept_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace test_keyed_table_exceptions {

namespace {

using rowan::Cpu, rowan::KeyedTable, rowan::KeyedTableOptions;

template <class Key>
struct Table {
    KeyedTable<float, Key> table;
    rowan::GrowingTensor<double>& state;

    explicit Table(KeyedTableOptions const& options) : table(options), state(table.template add_state<double>({2}, 0.5)) {}

    std::string seen() const {
        std::string text = test::seen(table.value()) + test::seen(state.tensor()) + test::seen(table.index().rows());
        for (auto const row : table.index().rows()) {
            text += std::to_string(table.index().uses(row).count) + ' ';
            if constexpr (std::same_as<Key, std::string>) {
                text += table.index().key(row);
            } else {
                text += std::to_string(table.index().key(row));
            }
        }
        return text + std::to_string(table.height()) + ' ' + std::to_string(table.index().height()) + ' ' +
               std::to_string(table.index().statistics().seen);
    }
};

template <class Key>
std::vector<Key> keys(std::int64_t begin, std::int64_t end) {
    std::vector<Key> list;
    for (std::int64_t i = begin; i < end; ++i) {
        if constexpr (std::same_as<Key, std::string>) {
            list.push_back("a long name, which is not stored in the string itself " + std::to_string(i));
        } else {
            list.push_back(i * 31);
        }
    }
    return list;
}

/// Fails each allocation of `call`; then the table is as before, and the call still does what it does without failures.
template <class Key, class Call>
void survives(KeyedTableOptions options, Call const& call) {
    rowan::limit_kept_memory(0);
    options.width = 3;
    options.keys.record_uses = true;
    auto const make = [&] {
        auto table = std::make_unique<Table<Key>>(options);
        table->table.find_or_insert(keys<Key>(0, 40));
        table->table.erase(keys<Key>(5, 9));
        table->table.value().fill(1.5F);
        table->state.tensor().fill(2.5);
        return table;
    };
    auto const want = make();
    call(want->table);
    auto const after = want->seen();
    for (bool const ever_after : {false, true}) {
        auto const table = make();
        auto const before = table->seen();
        REQUIRE(before != after);
        std::size_t n = 1;
        for (;; ++n) {
            CAPTURE(n, ever_after);
            bool threw = false;
            test::fail_allocation(n, ever_after);
            try {
                call(table->table);
            } catch (std::bad_alloc const&) {
                threw = true;
            }
            test::fail_allocation(0);
            if (!threw) break;
            CHECK(table->seen() == before);
            REQUIRE(n < 2000);
        }
        CHECK(n > 1);
        CHECK(table->seen() == after);
    }
}

}  // namespace

TEST_CASE("out of memory: a keyed table is unchanged", "[exceptions]") {
    survives<std::int64_t>({}, [](auto& table) { table.find_or_insert(keys<std::int64_t>(20, 100)); });
    survives<std::int64_t>({.keys = {.default_row = true}}, [](auto& table) { table.find_or_insert(keys<std::int64_t>(7, 60)); });
    survives<std::int64_t>({.keys = {.sightings = 2}}, [](auto& table) {
        auto twice = keys<std::int64_t>(30, 90);
        for (auto const key : keys<std::int64_t>(60, 140)) twice.push_back(key);
        table.find_or_insert(twice);
    });
    survives<std::string>({}, [](auto& table) { table.find_or_insert(keys<std::string>(20, 100)); });
    survives<std::int64_t>({}, [](auto& table) { table.evict_unused(1); });
    survives<std::string>({}, [](auto& table) { table.evict_rare(2); });
    survives<std::string>({}, [](auto& table) { table.erase(keys<std::string>(20, 30)); });
}

TEST_CASE("out of memory: a keyed table is unchanged where several threads insert", "[exceptions]") {
    survives<std::int64_t>({}, [](auto& table) { table.find_or_insert(Cpu{.threads = 2}, keys<std::int64_t>(20, 40'000)); });
}

TEST_CASE("out of memory: a growing tensor grows and shrinks as far as memory was reserved", "[exceptions]") {
    rowan::GrowingTensor<float> growing({4});
    growing.reserve(100'000);
    test::fail_allocation(1, true);
    for (std::int64_t height = 1; height <= 100'000; height *= 10) growing.grow(height);
    growing.shrink(10);
    growing.grow(100'000);
    test::fail_allocation(0);
    growing.tensor()(99'999, 3) = 2;
    CHECK(growing.tensor()(99'999, 3) == 2);
}

TEST_CASE("out of memory: a state is added or not", "[exceptions]") {
    KeyedTable<float> table({.width = 3});
    table.find_or_insert({1, 2});
    std::ptrdiff_t const blocks = test::live_blocks();
    for (std::size_t n = 1;; ++n) {
        test::fail_allocation(n);
        try {
            auto& state = table.add_state<float>({3}, 4);
            test::fail_allocation(0);
            CHECK((n > 1 && state.height() == 2 && state.tensor()(1, 2) == 4));
            break;
        } catch (std::bad_alloc const&) {
            test::fail_allocation(0);
            CHECK(test::live_blocks() == blocks);
        }
        table.find_or_insert({1, 2});
        REQUIRE(n < 100);
    }
    table.find_or_insert({3});
    CHECK(table.height() == 3);
}

}  // namespace test_keyed_table_exceptions
