// tests/sparse/key_insertion.cpp: insertions of keys that are dropped leave nothing, and committed ones are find_or_insert.
#include <rowan/sparse/key_index.hpp>
#include <rowan/sparse/keyed_table.hpp>

#include "catch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
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
                std::size_t const size = step == 29 ? 9'000 : 50;
                std::uint64_t const distinct = step == 29 ? 14'000 : 200;
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
        auto const rows = index.rows();
        CHECK_THROWS_AS(index.begin_insert(Cpu{}, {5, 5, 6, 6, 7, 7, 8, 8}), IndexError);
        CHECK(index.rows() == rows);
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
            auto one = table.view(Cpu{}, first);
            CHECK(table.height() == table.index().height());
            auto two = table.view(Cpu{}, second);
            for (std::int64_t const row : two.inserted()) CHECK(moment.tensor()(static_cast<std::size_t>(row), 2) == 0.5F);
        }
        REQUIRE(same_rows());
        auto one = table.view(Cpu{}, first);
        one.commit();
        CHECK((one.at() == plain.find_or_insert(first)));
        REQUIRE(same_rows());
    }
}

TEST_CASE("an insertion that is open is the only change of the index", "[key_insertion][bad_input]") {
    KeyIndex<std::int64_t> index({.sightings = 2, .record_uses = true});
    index.find_or_insert({1, 1, 2, 3, 3});
    auto const before = index;
    auto const contents = index.contents();
    std::vector<std::int64_t> inserted{7};
    {
        auto one = index.begin_insert(Cpu{}, {2, 4, 4});
        auto two = index.begin_insert(Cpu{}, {5, 5, 2});
        for (bool const younger : {true, false}) {
            if (!younger) auto const dropped = std::move(two);
            CHECK_THROWS_AS(index.find_or_insert({1, 9}), Error);
            CHECK_THROWS_AS(index.find_or_insert(Cpu{}, {1, 9}, inserted), Error);
            CHECK_THROWS_AS(index.erase({1}), Error);
            CHECK_THROWS_AS(index.evict_unused(9), Error);
            CHECK_THROWS_AS(index.evict_rare(9), Error);
            CHECK_THROWS_AS(index.assign(contents), Error);
            CHECK_THROWS_AS(index.contents(), Error);
            CHECK_THROWS_AS(KeyIndex<std::int64_t>(index), Error);
            if (younger) CHECK_THROWS_WITH(two.commit(), "commit: an older insertion is open");
            CHECK(one.inserted().size() == 2);
            CHECK(two.inserted().size() == younger);
        }
    }
    CHECK(same(index, before));
    CHECK(inserted == std::vector<std::int64_t>{7});
    auto plain = before;
    auto one = index.begin_insert(Cpu{}, {2, 4, 4});
    auto two = index.begin_insert(Cpu{}, {5, 5, 2});
    one.commit();
    two.commit();
    plain.find_or_insert({2, 4, 4});
    plain.find_or_insert({5, 5, 2});
    CHECK(same(index, plain));
}

TEST_CASE("an insertion that is dropped withdraws those that are younger", "[key_insertion]") {
    for (auto const& options : all_options()) {
        KeyIndex<std::int64_t> index(options);
        index.find_or_insert({1, 1, 2, 3, 3, 3, 9});
        index.erase({1});
        auto const before = index;
        std::optional<KeyInsertion<std::int64_t>> one(index.begin_insert(Cpu{}, {2, 4, 4, 4}));
        auto two = index.begin_insert(Cpu{}, {5, 5, 5, 2, 6}), three = index.begin_insert(Cpu{}, {6, 6, 7});
        one.reset();
        CHECK((!two.open() && two.inserted().empty() && two.rows().size() == 5));
        CHECK(same(index, before));
        auto plain = before;
        CHECK((index.find_or_insert({6, 6, 6, 2}) == plain.find_or_insert({6, 6, 6, 2})));
        CHECK_THROWS_WITH(two.commit(), "commit: the insertion is withdrawn");
        CHECK_THROWS_AS(three.commit(), Error);
        CHECK(same(index, plain));
    }
    KeyIndex<std::int64_t> index;
    auto one = index.begin_insert(Cpu{}, {1, 2});
    auto moved = std::move(index);
    CHECK((one.open() && moved.size() == 2));
    moved = KeyIndex<std::int64_t>();
    CHECK(!one.open());
    CHECK_THROWS_AS(one.commit(), Error);
    CHECK(moved.size() == 0);
}

TEST_CASE("provisional rows have no uses, also those that had another key", "[key_insertion]") {
    KeyIndex<std::int64_t> index({.record_uses = true});
    index.find_or_insert({1, 1, 2});
    index.erase({1});
    auto one = index.begin_insert(Cpu{}, {3, 4, 2});
    CHECK(index.uses(0).count == 0);
    CHECK(index.uses(1).count == 1);
    CHECK(index.uses(2).count == 0);
    one.commit();
    CHECK(index.uses(0).count == 1);
    CHECK(index.uses(1).count == 2);
}

static_assert(std::is_nothrow_move_constructible_v<KeyInsertion<std::int64_t>> && !std::is_move_assignable_v<KeyInsertion<std::int64_t>>);
static_assert(std::is_nothrow_move_constructible_v<KeyedTable<float>::View> && !std::is_move_assignable_v<KeyedTable<float>::View>);

TEST_CASE("an insertion into a KeyedTable removes only rows that it has added", "[key_insertion]") {
    using View = KeyedTable<float>::View;
    auto const table = std::make_unique<KeyedTable<float>>(KeyedTableOptions{.width = 2});
    auto &grown = table->add_state<float>({}), &usual = table->add_state<float>({});
    table->find_or_insert({1, 2});
    grown.grow(4);
    {
        auto const one = table->view(Cpu{}, {3, 4, 5, 6});
        CHECK((grown.height() == 6 && usual.height() == 6));
    }
    CHECK((table->height() == 2 && grown.height() == 2 && usual.height() == 2));
    {
        auto const one = table->view(Cpu{}, {3});
        grown.grow(5);
    }
    CHECK((table->height() == 2 && grown.height() == 5 && usual.height() == 2));
    std::optional<View> one(table->view(Cpu{}, {3})), two(table->view(Cpu{}, {4, 5, 6}));
    CHECK((table->height() == 6 && grown.height() == 6));
    CHECK_THROWS_AS(table->find_or_insert({1}), Error);
    CHECK_THROWS_AS(table->erase({1}), Error);
    CHECK_THROWS_AS(table->assign({.height = 6}, Tensor<float>::zeros({6, 2})), Error);
    CHECK_THROWS_AS(two->commit(), Error);
    one.reset();
    CHECK((table->height() == 2 && grown.height() == 2 && usual.height() == 2));
    table->find_or_insert({3, 4, 5});
    two.reset();
    CHECK((table->height() == 5 && table->index().height() == 5));

    one.emplace(table->view(Cpu{}, {7}));
    one->commit();
    usual.grow(9);
    one.reset();
    CHECK((table->height() == 6 && usual.height() == 9));
    {
        auto moved = table->view(Cpu{}, {8});
        auto const last = std::move(moved);
        CHECK((last.inserted().size() == 1 && moved.inserted().empty()));
    }
    CHECK((table->height() == 6 && table->size() == 6));
}

TEST_CASE("an insertion may outlive its table", "[key_insertion]") {
    auto table = std::make_unique<KeyedTable<float>>(KeyedTableOptions{.width = 2});
    auto const committed = [&] {
        auto one = table->view(Cpu{}, {1});
        one.commit();
        return one;
    }();
    auto open = table->view(Cpu{}, {2});
    table.reset();
    CHECK_THROWS_AS(open.commit(), Error);
    CHECK((committed.at() == Tensor<std::int64_t>{0}));
}

}  // namespace test_key_insertion
