// tests/op/clip.cpp
#include <rowan/op/elementwise/clip.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "catch.hpp"

#include <cmath>
#include <limits>

namespace test_clip {

using rowan::clip_op, rowan::Cpu, rowan::SelectedRows, rowan::Tensor;

TEST_CASE("clip cuts elements to an interval", "[op]") {
    CHECK((rowan::clip(Cpu{}, Tensor<float>{-3, -1, 0.5f, 1, 7}) == Tensor<float>{-1, -1, 0.5f, 1, 1}));
    float const nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    auto const special = rowan::clip(Cpu{}, Tensor<float>{nan, inf, -inf}, {-2, 3});
    CHECK((std::isnan(special(0)) && special(1) == 3 && special(2) == -2));
}

TEST_CASE("clip of a row-sparse gradient sums duplicates first", "[op]") {
    SelectedRows<float> const g(4, {2, 0, 2}, {{0.75f, -3}, {0.5f, 9}, {0.75f, 2.5f}});
    auto const cut = rowan::clip(Cpu{}, g);
    CHECK((rowan::to_dense(cut) == rowan::clip(Cpu{}, rowan::to_dense(g))));
    CHECK((cut.value() == Tensor<float>{{0.5f, 1}, {1, -0.5f}}));
    CHECK(cut.merged());
}

}  // namespace test_clip
