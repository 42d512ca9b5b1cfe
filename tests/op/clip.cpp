// tests/op/clip.cpp
#include <rowan/op/elementwise/clip.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "any_threads.hpp"

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

TEST_CASE("an infinite bound of clip is none on its side, and NaN is no bound", "[op]") {
    double const nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    Tensor<double> const x{nan, -inf, -3, 0.5, inf}, g{1, 2, 3, 4, 5};
    auto const same = [](Tensor<double> const& a, Tensor<double> const& b) { return test::same_bits(a, b); };
    CHECK(same(rowan::clip(Cpu{}, x, {.min = 0, .max = inf}), {nan, 0, 0, 0.5, inf}));
    CHECK(same(rowan::clip(Cpu{}, x, {.min = -inf, .max = 0}), {nan, -inf, -3, 0, 0}));
    CHECK(same(rowan::clip(Cpu{}, x, {.min = -inf, .max = inf}), x));
    CHECK((clip_op::backward(Cpu{}, x, g, {.min = 0, .max = inf}) == Tensor<double>{1, 0, 0, 4, 5}));
    CHECK((clip_op::backward(Cpu{}, x, g, {.min = -inf, .max = inf}) == g));
    SelectedRows<double> const rows(4, {2, 0, 2}, {{0.75}, {-9}, {0.5}});
    CHECK((rowan::clip(Cpu{}, rows, {.min = -inf, .max = 1}).value() == Tensor<double>{{-9}, {1}}));
    CHECK_THROWS_WITH(rowan::clip(Cpu{}, x, {.min = nan, .max = inf}), "min is nan, expected a finite number, or -infinity for no bound");
    CHECK_THROWS_WITH(rowan::clip(Cpu{}, x, {.min = -inf, .max = nan}), "max is nan, expected a finite number, or infinity for no bound");
    CHECK_THROWS_WITH(rowan::clip(Cpu{}, x, {.min = inf, .max = inf}), "min is inf, expected a finite number, or -infinity for no bound");
    CHECK_THROWS_WITH(rowan::clip(Cpu{}, rows, {.min = -inf, .max = -inf}), "max is -inf, expected a finite number, or infinity for no bound");
    CHECK_THROWS_WITH(rowan::clip(Cpu{}, rows, {.min = 1, .max = inf}), "min is 1, expected 0 to be in [min, max], as absent rows stay 0");
}

TEST_CASE("clip of a row-sparse gradient sums duplicates first", "[op]") {
    SelectedRows<float> const g(4, {2, 0, 2}, {{0.75f, -3}, {0.5f, 9}, {0.75f, 2.5f}});
    auto const cut = rowan::clip(Cpu{}, g);
    CHECK((rowan::to_dense(cut) == rowan::clip(Cpu{}, rowan::to_dense(g))));
    CHECK((cut.value() == Tensor<float>{{0.5f, 1}, {1, -0.5f}}));
    CHECK(cut.merged());
}

}  // namespace test_clip
