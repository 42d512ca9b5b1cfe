// tests/train/normalized_entropy.cpp: log losses against scikit-learn's, and their quotients.
#include <rowan/train/normalized_entropy.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstdint>

namespace test_normalized_entropy {

using rowan::NormalizedEntropy, rowan::Tensor;
using Labels = Tensor<std::int64_t>;

TEST_CASE("NormalizedEntropy is the log loss divided by that of the share of positive examples", "[layer][golden]") {
    // scikit-learn 1.9.1: log_loss(y, p), and divided by log_loss(y, [mean(y)] * len(y))
    Tensor<double> const p{0.9, 0.1, 0.35, 0.6, 0.05, 0.4, 0.7, 0.2};
    Labels const label{1, 0, 0, 1, 0, 0, 0, 1};
    NormalizedEntropy all, parts;
    CHECK((std::isnan(all.log_loss()) && std::isnan(all.value())));
    all.update(p, label);
    CHECK(all.log_loss() == Approx(0.5659824007609594).epsilon(1e-14));
    CHECK(all.value() == Approx(0.8555227499291641).epsilon(1e-14));
    parts.update(p.slice(0, 3), label.slice(0, 3));
    CHECK(parts.value() == Approx(parts.log_loss() / (std::log(3.0) - 2 * std::log(2.0) / 3)).epsilon(1e-14));
    parts.update(Tensor<double>::from_shape({0}), Labels::from_shape({0}));
    parts.update(p.slice(3, 8), label.slice(3, 8));
    CHECK((parts.log_loss() == all.log_loss() && parts.value() == all.value()));
    // the share itself, and wrong certainty
    parts.reset();
    parts.update(Tensor<float>{{0.25F}, {0.25F}, {0.25F}, {0.25F}}, Tensor<std::int32_t>{{0}, {1}, {0}, {0}});
    CHECK(parts.value() == Approx(1).epsilon(1e-15));
    parts.reset();
    parts.update(Tensor<float>{1, 0, 1}, Labels{0, 1, 1});
    CHECK(parts.log_loss() == Approx(24.029102259411435).epsilon(1e-14));
    CHECK(parts.value() == Approx(37.751087809693395).epsilon(1e-14));
}

TEST_CASE("NormalizedEntropy of one class is NaN", "[layer]") {
    NormalizedEntropy metric;
    metric.update(Tensor<float>{0.5F, 0.5F}, Labels{1, 1});
    CHECK(std::isnan(metric.value()));
    CHECK(metric.log_loss() == Approx(std::log(2.0)).epsilon(1e-15));
    metric.reset();
    metric.update(Tensor<float>{0.5F}, Labels{0});
    CHECK(std::isnan(metric.value()));
}

TEST_CASE("NormalizedEntropy throws for bad inputs and forgets nothing then", "[layer][bad]") {
    NormalizedEntropy metric;
    metric.update(Tensor<float>{0.5F}, Labels{1});
    double const before = metric.log_loss();
    CHECK_THROWS_WITH(metric.update(Tensor<float>{0.5F, 1}, Labels{1}), "label.size() is 1, expected 2");
    CHECK_THROWS_WITH(metric.update(Tensor<float>{0.25F, -0.5F}, Labels{1, 0}), "probability[1] is -0.5, expected in [0, 1]");
    CHECK_THROWS_WITH(metric.update(Tensor<float>{NAN, 0.5F}, Labels{1, 0}), Catch::StartsWith("probability[0] is nan"));
    CHECK_THROWS_WITH(metric.update(Tensor<float>{0.25F, 1}, Labels{1, -1}), "label[1] = -1 is not in [0, 2)");
    CHECK(metric.log_loss() == before);
}

}  // namespace test_normalized_entropy
