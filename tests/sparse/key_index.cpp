// tests/sparse/key_index.cpp: few keys, and bad arguments; key_index_model.cpp and key_index_large.cpp test the rest.
#include <rowan/sparse/key_index.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace test_key_index {

using namespace rowan;

namespace {

using Rows = std::vector<std::int64_t>;
using Ints = KeyIndex<std::int64_t>;
using Texts = KeyIndex<std::string>;

Rows list(Tensor<std::int64_t> const& rows) { return Rows(rows.data(), rows.data() + rows.size()); }

}  // namespace

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
    CHECK_THROWS_AS(Ints({.default_row = true}).key(0), IndexError);
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

TEST_CASE("an index takes the largest count of sightings, and refuses a key that has a row and is also waiting", "[key_index]") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    Ints index({.sightings = 0});
    KeyIndexContents<std::int64_t> contents{.height = 1, .keys = {5}, .rows = {0}, .seen = {7}, .sightings = {{most, 0}}};
    index.assign(contents);
    CHECK((list(index.find_or_insert({7, 5, 7})) == Rows{-1, 0, -1}));
    CHECK(index.contents().sightings.at(0).count == most);
    contents.seen = {5};
    CHECK_THROWS_WITH(index.assign(contents), "seen[0] is also the key of row 0");
    contents.seen = {6, 6};
    contents.sightings = {{1, 0}, {1, 0}};
    CHECK_THROWS_WITH(index.assign(contents), "seen[1] repeats another key");
    CHECK(index.contents().seen == Rows{7});
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

TEST_CASE("counts of uses end at the largest number", "[key_index]") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    Ints index({.record_uses = true});
    index.find_or_insert({10, 20, 30, 40});
    auto contents = index.contents();
    contents.uses[0].count = most - 2;
    contents.uses[1].count = most;
    contents.uses[2].count = std::numeric_limits<std::int64_t>::min() + 5;  // of a file from before they did
    index.assign(contents);
    auto const counts = [&] {
        return std::vector<std::int64_t>{index.uses(0).count, index.uses(1).count, index.uses(2).count, index.uses(3).count};
    };
    CHECK(counts() == std::vector<std::int64_t>{most - 2, most, most, 1});
    index.find_or_insert({10, 20, 30, 40});
    CHECK(counts() == std::vector<std::int64_t>{most - 1, most, most, 2});
    for (int const threads : {1, 4}) {
        std::vector<std::int64_t> many(50'000);
        for (std::size_t i = 0; i < many.size(); ++i) many[i] = 10 * static_cast<std::int64_t>(i % 4 + 1);
        index.find_or_insert(Cpu{threads}, many);
        CHECK(counts() == std::vector<std::int64_t>{most, most, most, 2 + (threads == 1 ? 12'500 : 25'000)});
    }
    CHECK(index.evict_rare(most) == std::vector<std::int64_t>{3});
}

}  // namespace test_key_index
