// tests/core/ids.cpp: Ids, from everything that holds row numbers.
#include <rowan/core/ids.hpp>

#include "catch.hpp"
#include "xtensor.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace test_ids {

using rowan::Ids;
using rowan::Tensor;
using Shape = Ids<>::shape_type;

namespace {

std::vector<std::int64_t> list(Ids<> const& ids) {
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < ids.size(); ++i) numbers.push_back(ids[i]);
    return numbers;
}
std::vector<std::int64_t> braced(Ids<> ids) { return list(ids); }

}  // namespace

TEST_CASE("ids come from braces, containers, spans and tensors", "[ids]") {
    std::vector<std::int64_t> const want{3, 1, 4};
    std::vector<std::int32_t> const narrow{3, 1, 4};
    std::array<std::int64_t, 3> const array{3, 1, 4};
    CHECK(braced({3, 1, 4}) == want);
    CHECK(list(want) == want);
    CHECK(list(narrow) == want);
    CHECK(list(array) == want);
    CHECK(list(std::span(narrow)) == want);
    CHECK(list(Tensor<std::int32_t>{3, 1, 4}) == want);
    CHECK(list(Tensor<std::int64_t>{3, 1, 4}) == want);
}

TEST_CASE("ids have the shape of their tensor, else one dim", "[ids]") {
    CHECK(Ids<>(Tensor<std::int32_t>{{1, 2}, {3, 4}, {5, 6}}).shape() == Shape{3, 2});
    CHECK(Ids<>(Tensor<std::int64_t>::full({}, 5)).shape() == Shape{});
    CHECK(Ids<>(Tensor<std::int64_t>::full({}, 5)).size() == 1);
    CHECK(Ids<>(std::vector<std::int64_t>{1, 2}).shape() == Shape{2});
    CHECK(Ids<>(Tensor<std::int32_t>::from_shape({2, 0})).shape() == Shape{2, 0});
}

TEST_CASE("an empty list of ids has size 0", "[ids]") {
    CHECK((Ids<>().size() == 0 && Ids<>().shape() == Shape{0}));
    CHECK(braced({}).empty());
    CHECK(list(std::vector<std::int32_t>{}).empty());
}

TEST_CASE("visit passes the ids in their own width", "[ids]") {
    auto const width = [](Ids<> const& ids) { return ids.visit([](auto span) { return sizeof(span[0]) * 10 + span.size(); }); };
    CHECK(width(std::vector<std::int32_t>{1, 2}) == 42);
    CHECK(width(std::vector<std::int64_t>{1, 2, 3}) == 83);
    CHECK(width({}) == 80);
}

TEST_CASE("ids come from lists and xtensor expressions of other integers, copied", "[ids]") {
    std::vector<std::int64_t> const want{3, 1, 4};
    CHECK(list(std::vector<std::size_t>{3, 1, 4}) == want);
    CHECK(list(std::vector<std::uint8_t>{3, 1, 4}) == want);
    CHECK(list(std::vector<std::uint32_t>{0xffffffff})[0] == 0xffffffff);
    CHECK(list(std::vector<long long>{-1})[0] == -1);
    CHECK(list(std::deque<int>{3, 1, 4}) == want);
    xt::xarray<unsigned> const x{{3, 1}, {4, 0}};
    CHECK((Ids<>(x).shape() == Shape{2, 2} && Ids<>(x)[2] == 4));
    CHECK(Ids<>(x + 1u)[0] == 4);
    auto const copy = [](Ids<> ids) { return ids; }(std::vector<std::size_t>{5});
    CHECK(copy[0] == 5);
    CHECK(list(std::vector<std::size_t>{~std::size_t{0} >> 1})[0] == std::numeric_limits<std::int64_t>::max());
    CHECK_THROWS_WITH(Ids<>(std::vector<std::size_t>{1, ~std::size_t{0}}),
                      "row numbers[1] = 18446744073709551615 is not in [0, 9223372036854775807)");
}

TEST_CASE("truth values and characters do not convert to ids", "[ids]") {  // fractions neither: tests/fail/ids_fractions.cpp
    CHECK(!std::is_constructible_v<Ids<>, std::vector<bool>>);
    CHECK(!std::is_constructible_v<Ids<>, std::string>);
    CHECK(!std::is_constructible_v<Ids<>, Tensor<bool>>);
    CHECK(std::is_constructible_v<Ids<>, std::vector<std::int32_t>>);
}

}  // namespace test_ids
