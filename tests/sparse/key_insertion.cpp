// tests/sparse/key_insertion.cpp: insertions of keys that are dropped leave nothing, and committed ones are find_or_insert.
#include <rowan/sparse/key_index.hpp>
#include <rowan/sparse/keyed_table.hpp>

#include "catch.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace test_key_insertion {

using namespace rowan;

namespace {

template <class Key>
Key key_of(std::uint64_t n) {
    if constexpr (std::is_same_v<Key, std::string>) {
        return "key " + std::to_string(n) + std::string(n % 40, 'x');
    } else {
        return static_cast<Key>(n * 0x9E3779B97F4A7C15);
    }
}

template <class Key>
std::vector<Key> batch(std::minstd_rand& random, std::size_t size, std::uint64_t distinct) {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < size; ++i) keys.push_back(key_of<Key>(random() % distinct));
    return keys;
}

template <class Key>
bool same(KeyIndex<Key> const& a, KeyIndex<Key> const& b) {
    auto const x = a.contents(), y = b.contents();
    auto const equal = [](auto const& u, auto const& v) {
        if (u.size() != v.size()) return false;
        for (std::size_t i = 0; i < u.size(); ++i) {
            if (u[i].count != v[i].count || u[i].step != v[i].step) return false;
        }
        return true;
    };
    return x.height == y.height && x.step == y.step && x.keys == y.keys && x.rows == y.rows && x.seen == y.seen && equal(x.uses, y.uses) &&
           equal(x.sightings, y.sightings);
}

std::vector<KeyIndexOptions> all_options() {
    return {{.record_uses = true}, {.default_row = true, .sightings = 3, .record_uses = true}, {.sightings = 0, .probability = 0.3}, {.sightings = 2}};
}

}  // namespace

TEMPLATE_TEST_CASE("a dropped insertion leaves nothing, a committed one is find_or_insert", "[key_insertion]", std::int64_t, std::uint64_t, std::string) {
    for (auto const& options : all_options()) {
        for (int const threads : {1, 4}) {
            std::minstd_rand random(7);
            Cpu const exec{threads};
            KeyIndex<TestType> index(options), plain(options);
            for (std::int64_t step = 0; step < 40; ++step) {
                index.set_step(step);
                plain.set_step(step);
                std::size_t const size = step % 10 == 9 ? 20'000 : 50;
                std::uint64_t const distinct = step % 10 == 9 ? 30'000 : 200;
                auto const first = batch<TestType>(random, size, distinct), second = batch<TestType>(random, size, distinct);
                std::vector<std::int64_t> times(size);
                for (auto& n : times) n = static_cast<std::int64_t>(random() % 3 + 1);
                {
                    auto one = index.begin_insert(exec, first);
                    auto two = index.begin_insert(exec, second, times.data());
                    CHECK(index.find(second).shape() == two.rows().shape());
                }  // the later one ends first
                REQUIRE(same(index, plain));
                {
                    auto one = index.begin_insert(exec, first);
                    auto two = index.begin_insert(exec, second);
                    auto const rows = one.rows().share();
                    one.commit();
                    CHECK(one.inserted().empty());
                    CHECK((rows == plain.find_or_insert(exec, first)));
                }
                REQUIRE(same(index, plain));
                {
                    auto one = index.begin_insert(exec, second);
                    auto moved = std::move(one);
                    moved.commit();
                    moved.commit();
                    CHECK((moved.rows() == plain.find_or_insert(exec, second)));
                }
                REQUIRE(same(index, plain));
                if (options.record_uses && step % 8 == 7) CHECK(index.evict_unused(step - 4) == plain.evict_unused(step - 4));
            }
        }
    }
}

TEST_CASE("an insertion that throws leaves nothing, also beside another", "[key_insertion][bad_input]") {
    KeyIndex<std::int64_t> index({.capacity = 5, .sightings = 2});
    index.find_or_insert({1, 1, 2});
    auto const before = index;
    {
        auto const one = index.begin_insert(Cpu{}, {2, 3, 3, 4});
        auto const with_one = index;
        CHECK_THROWS_AS(index.begin_insert(Cpu{}, {5, 5, 6, 6, 7, 7, 8, 8}), IndexError);
        CHECK(same(index, with_one));
    }
    CHECK(same(index, before));
}

TEST_CASE("a KeyedTable has its height and its rows again after an insertion that is dropped", "[key_insertion]") {
    KeyedTable<float> table({.width = 3, .keys = {.record_uses = true}}), plain({.width = 3, .keys = {.record_uses = true}});
    auto& moment = table.add_state<float>({3}, 0.5F);
    auto const same_rows = [&] {
        return table.height() == plain.height() && table.value() == plain.value() && moment.height() == plain.height() && same(table.index(), plain.index());
    };
    std::minstd_rand random(3);
    for (int step = 0; step < 20; ++step) {
        auto const first = batch<std::int64_t>(random, 30, 100), second = batch<std::int64_t>(random, 30, 100);
        {
            auto one = table.begin_insert(Cpu{}, first);
            CHECK(table.height() == table.index().height());
            auto two = table.begin_insert(Cpu{}, second);
            for (std::int64_t const row : two.inserted()) CHECK(moment.tensor()(static_cast<std::size_t>(row), 2) == 0.5F);
        }
        REQUIRE(same_rows());
        auto one = table.begin_insert(Cpu{}, first);
        one.commit();
        CHECK((one.rows() == plain.find_or_insert(first)));
        REQUIRE(same_rows());
    }
}

}  // namespace test_key_insertion
