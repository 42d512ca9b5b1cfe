// tests/op/var_spec.cpp
#include <rowan/op/var_spec.hpp>

#include "catch.hpp"

#include <sstream>

namespace test_var_spec {

using rowan::Dims, rowan::UNK;

TEST_CASE("dims are up to eight counts, which may be unknown", "[op]") {
    CHECK_THROWS_WITH((Dims{1, -2}), "dims[1] is -2, expected a count or UNK");
    Dims most{1, 2, 3, 4, 5, 6, 7, UNK};
    CHECK_THROWS_WITH(most.push_back(9), "rank is more, expected at most 8");
    CHECK(most.size() == 8);
    CHECK(Dims{2, 3, 4}.product_from(1) == 12);
    CHECK((Dims{2, 3}.product_from(2) == 1 && Dims{2, UNK}.product_from(0) == UNK));
    std::ostringstream text;
    text << Dims{UNK, 640} << Dims{};
    CHECK(text.str() == "[UNK, 640][]");
}

}  // namespace test_var_spec
