// tests/sparse/keys.cpp
#include <rowan/sparse/keys.hpp>

#include "catch.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace test_keys {

using namespace rowan;

namespace {

template <class Key>
std::vector<Key> all(Keys<Key> keys) {
    std::vector<Key> list;
    for (std::size_t i = 0; i < keys.size(); ++i) list.emplace_back(keys[i]);
    return list;
}

using Numbers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;
using Shape = Tensor<float>::shape_type;

template <class Key, class From>
inline constexpr bool converts = std::convertible_to<From, Keys<Key>>;

}  // namespace

TEST_CASE("keys are a list, a vector, an array, a span or a tensor", "[keys]") {
    Numbers const numbers{3, -1, 3};
    std::array<std::int64_t, 3> const array{3, -1, 3};
    CHECK(all<std::int64_t>({3, -1, 3}) == numbers);
    CHECK(all<std::int64_t>(numbers) == numbers);
    CHECK(all<std::int64_t>(array) == numbers);
    CHECK(all<std::int64_t>(std::span(numbers)) == numbers);
    CHECK(all<std::int64_t>(std::span(array).subspan(1)) == Numbers{-1, 3});
    CHECK(all<std::int64_t>(Tensor<std::int64_t>{{3}, {-1}, {3}}) == numbers);
    CHECK(all<std::int64_t>({}).empty());
    CHECK(all<std::int64_t>(Numbers{}).empty());

    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    CHECK(all<std::uint64_t>({0, most}) == std::vector<std::uint64_t>{0, most});

    Texts const texts{"a", "", std::string("\0b", 2)};
    std::vector<std::string_view> const views(texts.begin(), texts.end());
    CHECK(all<std::string>(texts) == texts);
    CHECK(all<std::string>(std::span(texts)) == texts);
    CHECK(all<std::string>(views) == texts);
    CHECK(all<std::string>(std::span(views).first(1)) == Texts{"a"});
    CHECK(all<std::string>({"a", "b"}) == Texts{"a", "b"});
    CHECK(all<std::string>({}).empty());
}

TEST_CASE("keys of another type are not converted", "[keys]") {
    STATIC_REQUIRE(converts<std::int64_t, Numbers>);
    STATIC_REQUIRE_FALSE(converts<std::int64_t, std::vector<int>>);
    STATIC_REQUIRE_FALSE(converts<std::int64_t, std::vector<std::uint64_t>>);
    STATIC_REQUIRE_FALSE(converts<std::uint64_t, Numbers>);
    STATIC_REQUIRE_FALSE(converts<std::uint64_t, Tensor<std::int64_t>>);
    STATIC_REQUIRE_FALSE(converts<std::int64_t, Tensor<std::int32_t>>);
    STATIC_REQUIRE_FALSE(converts<std::string, Numbers>);
    STATIC_REQUIRE_FALSE(converts<std::string, std::string>);
    STATIC_REQUIRE_FALSE(key_type<int>);
    STATIC_REQUIRE_FALSE(key_type<std::string_view>);
}

TEST_CASE("keys have the shape of a tensor, or the one that is given", "[keys]") {
    Numbers const six{1, 2, 3, 4, 5, 6};
    CHECK(Keys<std::int64_t>(six).shape() == Shape{6});
    CHECK(Keys<std::int64_t>(six, {2, 3}).shape() == Shape{2, 3});
    CHECK(Keys<std::int64_t>(six, {1, 6, 1}).shape() == Shape{1, 6, 1});
    CHECK(Keys<std::int64_t>(six, {2, 3})[4] == 5);
    CHECK(Keys<std::int64_t>(std::span(six).first(0), {2, 0}).shape() == Shape{2, 0});
    CHECK(Keys<std::int64_t>(std::span(six).first(1), {}).shape() == Shape{});
    CHECK(Keys<std::int64_t>(Tensor<std::int64_t>{{1, 2}, {3, 4}}).shape() == Shape{2, 2});
    CHECK(Keys<std::int64_t>(Tensor<std::int64_t>::from_shape({3, 0})).shape() == Shape{3, 0});

    Texts const two{"x", "y"};
    CHECK(Keys<std::string>(two, {2, 1}).shape() == Shape{2, 1});
    CHECK(Keys<std::string>(two, {2, 1})[1] == "y");

    CHECK_THROWS_WITH((Keys<std::int64_t>(six, {2, 2})), "keys.size() is 6, expected 4");
    CHECK_THROWS_WITH((Keys<std::int64_t>(six, {})), "keys.size() is 6, expected 1");
    CHECK_THROWS_WITH((Keys<std::int64_t>(six, {3, 3})), "keys.size() is 6, expected 9");
    CHECK_THROWS_AS((Keys<std::string>(two, {0})), ShapeError);
}

// The numbers are those of a Python program.
TEST_CASE("the hash of a number", "[keys]") {
    constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
    CHECK(hash_key(std::int64_t{0}, 0) == 0x48218226ff3cd4bf);
    CHECK(hash_key(std::int64_t{0}, 7) == 0x74b5abcc66b8bdc1);
    CHECK(hash_key(std::int64_t{1}, 0) == 0xea8568d2e45fd6cb);
    CHECK(hash_key(std::int64_t{42}, 7) == 0xd6c6bcaef5310b01);
    CHECK(hash_key(std::int64_t{-1}, 0) == 0x9e0160293a33aaf7);
    CHECK(hash_key(std::int64_t{-1}, 7) == 0x524257c04fcf117);
    CHECK(hash_key(least, 0) == 0x42f83292896bfc97);
    CHECK(hash_key(most, 7) == 0xc72ef67ecec46ad1);
    CHECK(hash_key(std::numeric_limits<std::uint64_t>::max(), 0) == hash_key(std::int64_t{-1}, 0));
    STATIC_REQUIRE(hash_key(std::uint64_t{1}, 7) == 0x3ca4fbd2393808bc);
}

TEST_CASE("the hash of a string", "[keys]") {
    struct Case {
        std::string_view text;
        std::uint64_t seed_0, seed_7;
    };
    std::string_view const text = "abcdefghijklmnopq";
    Case const cases[] = {
        {"", 0x48218226ff3cd4bf, 0x74b5abcc66b8bdc1},
        {{"\0", 1}, 0x1d614f74e2a26c6, 0x864743f6e603c91e},
        {"a", 0x9076e0c4b429b560, 0x14670cc816b9c853},
        {{"a\0", 2}, 0x442779b6c6fccefe, 0x540757d7698f8a14},
        {"\xff", 0x9e020ed60728e416, 0x207e0b720512d825},
        {text.substr(0, 7), 0x784157d9ce3da062, 0xc142bf8e373eaa5b},
        {text.substr(0, 8), 0xb7f021dc4c9dadfd, 0x2360fb515727153a},
        {text.substr(0, 9), 0x4137321130994fa0, 0x77e5dd8fbdc8a971},
        {text.substr(0, 16), 0xe1f0b8d4f3abee83, 0xb8a7e04e751c399d},
        {text, 0x9ab3449f2c9cc599, 0x810254230b61537b},
    };
    for (Case const& c : cases) {
        CAPTURE(c.text);
        CHECK(hash_key(c.text, 0) == c.seed_0);
        CHECK(hash_key(c.text, 7) == c.seed_7);
    }
}

TEST_CASE("the hash of a string depends on each byte, on the order and on the size", "[keys]") {
    std::set<std::uint64_t> hashes;
    std::size_t n = 0;
    for (std::size_t size = 0; size <= 33; ++size) {
        std::string const zeros(size, '\0');
        hashes.insert(hash_key(std::string_view(zeros), 3)), ++n;
        for (std::size_t at = 0; at < size; ++at) {
            for (char const byte : {'\1', '\x80'}) {
                std::string text = zeros;
                text[at] = byte;
                hashes.insert(hash_key(std::string_view(text), 3)), ++n;
            }
        }
    }
    CHECK(hashes.size() == n);
    // The bytes in front of and behind a text do not matter.
    std::string const around = "xabcdefghiy";
    for (std::size_t size = 0; size <= 9; ++size) {
        std::string const alone = around.substr(1, size);
        CHECK(hash_key(std::string_view(around).substr(1, size), 0) == hash_key(std::string_view(alone), 0));
    }
}

}  // namespace test_keys
