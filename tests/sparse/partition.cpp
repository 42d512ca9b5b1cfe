// tests/sparse/partition.cpp
#include <rowan/sparse/partition.hpp>

#include "catch.hpp"

#include <cstdint>
#include <limits>

namespace test_partition {

using rowan::Partition;

TEST_CASE("every row has one owner and one number there", "[distributed]") {
    for (std::int64_t height : {0, 1, 9, 10, 64, 130}) {
        for (std::int64_t block : {1, 2, 64, 1000}) {
            for (int ranks : {1, 2, 3, 7}) {
                Partition const p{height, block, ranks};
                std::int64_t rows = 0;
                for (int r = 0; r < ranks; ++r) {
                    for (std::int64_t i = 0; i < p.rows_of(r); ++i) {
                        auto const row = p.global(r, i);
                        REQUIRE((row >= 0 && row < height));
                        REQUIRE(p.owner(row) == r);
                        REQUIRE(p.local(row) == i);
                        REQUIRE((i == 0 || p.global(r, i - 1) < row));
                    }
                    rows += p.rows_of(r);
                }
                REQUIRE(rows == height);
            }
        }
    }
}

TEST_CASE("the greatest table", "[distributed]") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t block : {std::int64_t{1}, std::int64_t{64}, most}) {
        Partition const p{most, block, 3};
        CHECK(p.rows_of(0) + p.rows_of(1) + p.rows_of(2) == most);
        for (auto row : {most - 1, most / 2, std::int64_t{0}}) CHECK(p.global(p.owner(row), p.local(row)) == row);
    }
}

TEST_CASE("bad partitions", "[distributed]") {
    CHECK_THROWS_WITH(Partition({-1, 64, 2}).check(), "partition.height is -1, expected at least 0");
    CHECK_THROWS_WITH(Partition({1, 0, 2}).check(), "partition.block is 0, expected at least 1");
    CHECK_THROWS_WITH(Partition({1, 64, 0}).check(), "partition.ranks is 0, expected at least 1");
}

}  // namespace test_partition
