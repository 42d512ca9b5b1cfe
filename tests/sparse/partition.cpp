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
            for (int const at : {10, 20, 21, 30, 32, 70, 73}) {  // the number of ranks, and the first
                int const ranks = at / 10;
                Partition const p{height, block, ranks, at % 10};
                if (height > 0) REQUIRE(p.owner(0) == at % 10);
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

TEST_CASE("blocks go to ranks in turn, from the first rank on", "[distributed]") {
    Partition const p{10, 2, 3, 2};
    for (int const row : {0, 1, 6, 7}) CHECK(p.owner(row) == 2);
    for (int const row : {2, 3, 8, 9}) CHECK(p.owner(row) == 0);
    for (int const row : {4, 5}) CHECK(p.owner(row) == 1);
    for (std::int64_t const block : {10, 1000}) {  // whole on one rank
        Partition const whole{10, block, 3, 1};
        CHECK((whole.rows_of(0) == 0 && whole.rows_of(1) == 10 && whole.rows_of(2) == 0));
        CHECK(whole.place(7).rank == 1);
    }
}

TEST_CASE("the greatest table", "[distributed]") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t block : {std::int64_t{1}, std::int64_t{64}, most}) {
        Partition const p{most, block, 3, 1};
        CHECK(p.rows_of(0) + p.rows_of(1) + p.rows_of(2) == most);
        for (auto row : {most - 1, most / 2, std::int64_t{0}}) CHECK(p.global(p.owner(row), p.local(row)) == row);
    }
}

TEST_CASE("bad partitions", "[distributed]") {
    CHECK_THROWS_WITH(Partition({-1, 64, 2}).check(), "partition.height is -1, expected at least 0");
    CHECK_THROWS_WITH(Partition({1, 0, 2}).check(), "partition.block is 0, expected at least 1");
    CHECK_THROWS_WITH(Partition({1, 64, 0}).check(), "partition.ranks is 0, expected at least 1");
    CHECK_THROWS_WITH(Partition({1, 64, 2, 2}).check(), "partition.first is 2, expected a rank in [0, 2)");
    CHECK_THROWS_WITH(Partition({1, 64, 2, -1}).check(), "partition.first is -1, expected a rank in [0, 2)");
}

}  // namespace test_partition
