// tests/train/auc.cpp: the area under the ROC curve against pairs of examples.
#include <rowan/train/auc.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <cstdint>

namespace test_auc {

using rowan::Auc, rowan::Tensor;
using Labels = Tensor<std::int64_t>;

TEST_CASE("Auc is the share of pairs in the right order, where ties count half", "[layer][golden]") {
    inputs::Random random(3);
    auto p = Tensor<float>::from_shape({200});
    auto label = Labels::zeros({200});
    for (std::size_t i = 0; i < 200; ++i) {
        p(i) = static_cast<float>(random.below(65)) / 64;  // exact buckets
        label(i) = random.below(64) < static_cast<std::int64_t>(p(i) * 64) ? 1 : 0;
    }
    double right = 0, pairs = 0;
    for (std::size_t i = 0; i < 200; ++i) {
        for (std::size_t j = 0; j < 200; ++j) {
            if (label(i) != 1 || label(j) != 0) continue;
            ++pairs;
            right += p(i) > p(j) ? 1 : p(i) < p(j) ? 0 : 0.5;
        }
    }
    Auc all, parts(64);
    all.update(p, label);
    parts.update(p.slice(0, 150), label.slice(0, 150));
    parts.update(p.slice(150, 200), label.slice(150, 200));
    CHECK(all.value() == Approx(right / pairs).epsilon(1e-14));
    CHECK(parts.value() == all.value());
    // sklearn.metrics.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    for (auto* auc : {&all, &parts}) {
        auc->reset();
        CHECK(std::isnan(auc->value()));
        auc->update(Tensor<double>{0.1, 0.4}, Labels{1, 1});  // scikit-learn 1.6: NaN, too
        CHECK(std::isnan(auc->value()));
        auc->reset();
    }
    parts.update(Tensor<double>{0.1, 0.4, 0.35, 0.8}, Tensor<std::int32_t>{0, 0, 1, 1});
    CHECK(parts.value() == 0.75);
}

TEST_CASE("Auc tells probabilities apart that are next to each other, and zeros not", "[layer][golden]") {
    Auc auc;
    auc.update(Tensor<double>{0.5, 0x1.0000000000001p-1, 1e-300, 0}, Labels{0, 1, 1, 0});
    CHECK(auc.value() == 0.75);
    auc.update(Tensor<float>::from_shape({0}), Labels::from_shape({0}));
    auc.update(Tensor<float>{-0.0F, 1, 1}, Labels{1, 0, 1});
    CHECK(auc.value() == 0.5);
    auto p = Tensor<double>::from_shape({10'000});  // all in one of 4096 buckets
    auto label = Labels::zeros({10'000});
    for (std::size_t i = 1; i <= 10'000; ++i) p(i - 1) = 1e-9 * static_cast<double>(i), label(i - 1) = i % 100 == 0;
    Auc rare, buckets(4095);
    rare.update(p, label);
    buckets.update(p, label);
    CHECK(rare.value() == 0.505);
    CHECK(buckets.value() == 0.5);
}

TEST_CASE("Auc throws for bad inputs and forgets nothing then", "[layer][bad]") {
    Auc auc;
    auc.update(Tensor<float>{{0}, {1}}, Labels{{0}, {1}});
    CHECK_THROWS_WITH(auc.update(Tensor<float>{0.5F, 1}, Labels{1}), "label.size() is 1, expected 2");
    CHECK_THROWS_WITH(auc.update(Tensor<float>{0.5F, 1.5F}, Labels{1, 0}), "probability[1] is 1.5, expected in [0, 1]");
    CHECK_THROWS_WITH(auc.update(Tensor<float>{0.5F, NAN}, Labels{1, 0}), Catch::StartsWith("probability[1] is nan"));
    CHECK_THROWS_WITH(auc.update(Tensor<float>{0.5F, 1}, Labels{1, 2}), "label[1] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(Auc(0), "thresholds is 0, expected at least 1");
    CHECK(auc.value() == 1);
}

}  // namespace test_auc
