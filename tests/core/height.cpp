#include "catch.hpp"

#include <rowan/core/height.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace test_height {

using rowan::Height;
using rowan::ShapeError;

TEST_CASE("a height is made from any integer type", "[height]") {
    CHECK(std::int64_t{Height(7)} == 7);
    CHECK(std::int64_t{Height(std::size_t{7})} == 7);
    CHECK(std::int64_t{Height(static_cast<unsigned char>(200))} == 200);
    CHECK(std::int64_t{Height(std::numeric_limits<std::int64_t>::max())} == std::numeric_limits<std::int64_t>::max());
    STATIC_REQUIRE_FALSE(std::is_convertible_v<double, Height>);
}

TEST_CASE("a Height throws for negative values and for 2^63", "[height][error]") {
    CHECK_THROWS_WITH(Height(-1), "height is -1, expected in [0, 2^63 - 1]");
    CHECK_THROWS_WITH(Height(std::uint64_t{1} << 63), "height is 9223372036854775808, expected in [0, 2^63 - 1]");
    CHECK_THROWS_AS(rowan::RowPlan({0}, std::numeric_limits<std::uint64_t>::max()), ShapeError);
}

}  // namespace test_height
