// tests/sparse/key_index_model.cpp: KeyIndex does what its model does, with few keys.
#include <rowan/sparse/key_index.hpp>

#include "catch.hpp"
#include "inputs.hpp"
#include "key_model.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test_key_index_model {

using namespace rowan;

namespace {

using Ints = KeyIndex<std::int64_t>;
using test::difference, test::list, test::Model, test::Rows;

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
    inputs::Random random(number / 16);
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
        options.hash_seed = *rc::gen::arbitrary<std::uint64_t>();  // of which the model knows nothing
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

}  // namespace

TEST_CASE("operations on few keys do what the model does", "[key_index][property]") {
    SECTION("std::int64_t") { check_scripts<std::int64_t>(); }
    SECTION("std::uint64_t") { check_scripts<std::uint64_t>(); }
    SECTION("std::string") { check_scripts<std::string>(); }
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
                "keys[" + std::to_string(beyond) + "] = " + std::to_string(more[beyond]) + " is new, and there are " + std::to_string(n) + " keys, the most";
            CHECK_THROWS_WITH(index.find_or_insert(Cpu{threads}, more, inserted), text);
            CHECK(difference(index, model) == "");
            CHECK(inserted == Rows{5});
        }
        // What the sightings and the free rows are now.
        CHECK((list(index.find_or_insert({-2, -1, 4})) == *model.find_or_insert({-2, -1, 4}, want, beyond)));
        CHECK(difference(index, model) == "");
    }
    Ints none({.capacity = 0});
    CHECK_THROWS_WITH(none.find_or_insert({7}), "keys[0] = 7 is new, and there are 0 keys, the most");
    Ints all({.capacity = 60'000});
    Rows many(70'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i) / 2;
    CHECK(all.find_or_insert(Cpu{8}, many).data()[69'999] == 34'999);
    for (auto& key : many) key += 35'000;
    many.front() = 0;
    CHECK_THROWS_WITH(all.find_or_insert(Cpu{8}, many), "keys[50000] = 60000 is new, and there are 60000 keys, the most");
    CHECK((all.size() == 35'000 && all.height() == 35'000 && all.key(34'999) == 34'999));
    CHECK((list(all.find(many)) == [&] {
        Rows rows(many.size(), -1);
        rows.front() = 0;
        return rows;
    }()));
}

}  // namespace test_key_index_model
