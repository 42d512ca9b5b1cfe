// tests/sparse/hash_rows.cpp: rows of keys without an index.
#include <rowan/sparse/hash_rows.hpp>

#include "catch.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test_hash_rows {

using rowan::Cpu, rowan::hash_key, rowan::hash_rows, rowan::Tensor;

TEST_CASE("a key has the row of its hash modulo the height, the same on any number of threads", "[hash_rows]") {
    std::vector<std::int64_t> keys;
    for (std::int64_t i = 0; i < 70'000; ++i) keys.push_back(i * i * 7919 - 5);
    keys.push_back(std::numeric_limits<std::int64_t>::min());
    auto const rows = hash_rows(Cpu{1}, keys, 1009, {.hashes = 2, .seed = 5});
    REQUIRE(rows.shape() == Tensor<float>::shape_type{keys.size(), 2});
    std::vector<int> used(1009);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        for (std::size_t j = 0; j < 2; ++j)
            REQUIRE(static_cast<std::uint64_t>(rows(i, j)) == hash_key(keys[i], 5 + j) % 1009);
        ++used[static_cast<std::size_t>(rows(i, 0))];
    }
    for (int const n : used) CHECK((n > 30 && n < 120));  // 69 on average, a standard deviation of 8
    for (int const threads : {2, 8}) CHECK(hash_rows(Cpu{threads}, keys, 1009, {.hashes = 2, .seed = 5}) == rows);
    CHECK(hash_rows(keys, 1009, {.seed = 6}) != hash_rows(keys, 1009, {.seed = 5}));
}

TEST_CASE("hash_rows keeps the shape, and takes strings", "[hash_rows]") {
    CHECK(hash_rows(Tensor<std::int64_t>{{1, 2}, {3, 1}}, 10).shape() == Tensor<float>::shape_type{2, 2});
    CHECK(hash_rows(Tensor<std::int64_t>{{1, 2}, {3, 1}}, 10, {.hashes = 3}).shape() == Tensor<float>::shape_type{2, 2, 3});
    auto const names = hash_rows<std::string>({"a", "b", "a"}, 1'000'000);
    CHECK(names(0) == names(2));
    CHECK(names(0) != names(1));
    CHECK(hash_rows({7}, std::numeric_limits<std::int64_t>::max())(0) >= 0);
    CHECK(hash_rows(std::vector<std::int64_t>{}, 0).size() == 0);
    CHECK_THROWS_WITH(hash_rows({7}, 0), "height is 0, expected 1 or more");
    CHECK_THROWS_WITH(hash_rows({7}, 5, {.hashes = 0}), "hashes is 0, expected 1 or more");
}

}  // namespace test_hash_rows
