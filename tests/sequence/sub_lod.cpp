// tests/sequence/sub_lod.cpp: some sequences of a batch, with the levels below them.
#include <rowan/sequence/sub_lod.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace test_sub_lod {

using rowan::Lod, rowan::sub_lod;

namespace {

Lod const two_levels{{0, 3, 4, 8}, {0, 9, 10, 11, 13, 17, 19, 22, 24}};

}  // namespace

TEST_CASE("sequences of the first level include their own sequences", "[sub_lod][golden]") {
    auto const part = sub_lod(two_levels, 0, 1, 3);
    CHECK(part.lod == Lod::from_lengths({{1, 4}, {2, 4, 2, 3, 2}}));
    CHECK((part.row_begin == 11 && part.row_end == 24));
}

TEST_CASE("sequences of a lower level drop the levels above", "[sub_lod]") {
    auto const part = sub_lod(two_levels, 1, 3, 5);
    CHECK(part.lod == Lod::from_lengths({{2, 4}}).slice_levels(0, 1));
    CHECK((part.row_begin == 11 && part.row_end == 17));
    CHECK(sub_lod(two_levels, 0, 0, 3).lod == two_levels);
}

TEST_CASE("an empty range is valid", "[sub_lod]") {
    for (std::size_t i : std::vector<std::size_t>{0, 2, 3}) {
        auto const part = sub_lod(two_levels, 0, i, i);
        CHECK(part.lod == Lod{{0}, {0}});
        CHECK(part.row_begin == part.row_end);
    }
    CHECK(sub_lod(Lod{{0, 0, 0}}, 0, 0, 2).lod == Lod{{0, 0, 0}});
}

TEST_CASE("a level or a range that does not exist throws", "[sub_lod]") {
    auto const message = [](auto const& call) -> std::string {
        try {
            call();
        } catch (rowan::IndexError const& e) {
            return e.what();
        }
        return "";
    };
    CHECK(message([] { sub_lod(two_levels, 2, 0, 1); }) == "level = 2 is not in [0, 2)");
    CHECK(message([] { sub_lod(two_levels, 0, 1, 4); }) == "sequences[1] = 4 is not in [0, 4)");
    CHECK(message([] { sub_lod(two_levels, 0, 2, 1); }) == "sequences[0] = 2 is not in [0, 2)");
}

}  // namespace test_sub_lod
