// tests/train/calibration.cpp: predicted over observed clicks.
#include <rowan/train/calibration.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace test_calibration {

using rowan::bfloat16, rowan::Calibration, rowan::Tensor;
using Labels = Tensor<std::int64_t>;

TEST_CASE("Calibration is the sum of the probabilities divided by that of the labels", "[layer][golden]") {
    Calibration all, parts;
    CHECK(std::isnan(all.value()));
    all.update(Tensor<double>{0.5, 0.25, 0.75, 1}, Labels{1, 0, 0, 1});
    CHECK(all.value() == 1.25);
    parts.update(Tensor<float>{{0.5F}, {0.25F}}, Tensor<std::int32_t>{{1}, {0}});
    parts.update(Tensor<float>::from_shape({0}), Labels::from_shape({0}));
    parts.update(Tensor<bfloat16>{bfloat16(0.75F), bfloat16(1)}, Labels{0, 1});
    CHECK(parts.value() == all.value());
    parts.reset();
    parts.update(Tensor<float>{0, 0}, Labels{0, 0});
    CHECK(std::isnan(parts.value()));
    parts.update(Tensor<float>{0.5F}, Labels{0});
    CHECK(parts.value() == std::numeric_limits<double>::infinity());
    parts.update(Tensor<float>{1}, Labels{1});
    CHECK(parts.value() == 1.5);
}

TEST_CASE("Calibration throws for bad inputs and forgets nothing then", "[layer][bad]") {
    Calibration metric;
    metric.update(Tensor<float>{0.5F}, Labels{1});
    CHECK_THROWS_WITH(metric.update(Tensor<float>{0.5F, 1}, Labels{1}), "label.size() is 1, expected 2");
    CHECK_THROWS_WITH(metric.update(Tensor<float>{0.5F, 1.5F}, Labels{1, 0}), "probability[1] is 1.5, expected in [0, 1]");
    CHECK_THROWS_WITH(metric.update(Tensor<float>{NAN, 0.5F}, Labels{1, 0}), Catch::StartsWith("probability[0] is nan"));
    CHECK_THROWS_WITH(metric.update(Tensor<float>{0.5F, 1}, Labels{1, 2}), "label[1] = 2 is not in [0, 2)");
    CHECK(metric.value() == 0.5);
}

}  // namespace test_calibration
