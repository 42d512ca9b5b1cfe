// tests/train/precision_recall.cpp: precision, recall and F1 against scikit-learn's values.
#include <rowan/train/precision_recall.hpp>

#include "catch.hpp"

#include <cmath>
#include <cstdint>

namespace test_precision_recall {

using rowan::PrecisionRecall, rowan::Tensor;
using Labels = Tensor<std::int64_t>;

TEST_CASE("PrecisionRecall has the quotients of each class and their means", "[layer][golden]") {
    PrecisionRecall metric(3);
    CHECK(metric.precision() == 0);
    // sklearn.metrics.precision_recall_fscore_support([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1])
    metric.update(Labels{0, 2, 1}, Labels{0, 1, 2});
    metric.update(Tensor<float>{{9, 1, 2}, {3, 3, -1}, {-INFINITY, 0, -1}}, Tensor<std::int32_t>{0, 1, 2});
    CHECK((metric.precision(0) == 2.0 / 3 && metric.recall(0) == 1 && metric.f1(0) == Approx(0.8).epsilon(1e-15)));
    CHECK((metric.precision(2) == 0 && metric.recall(2) == 0 && metric.f1(2) == 0));
    CHECK((metric.precision() == Approx(2.0 / 9) && metric.recall() == Approx(1.0 / 3) && metric.f1() == Approx(0.8 / 3)));
    metric.reset();
    CHECK(metric.recall() == 0);
}

TEST_CASE("PrecisionRecall throws for bad inputs", "[layer][bad]") {
    PrecisionRecall metric(2);
    CHECK_THROWS_WITH(metric.update(Labels{0, 1}, Labels{0}), "label.size() is 1, expected 2");
    CHECK_THROWS_WITH(metric.update(Labels{0, 2}, Labels{0, 1}), "predicted[1] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(metric.update(Labels{0, 1}, Labels{0, 2}), "label[1] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(metric.update(Tensor<float>{{1, 2, 3}}, Labels{0}), "scores.shape() is [1, 3], expected [n, 2]");
    CHECK_THROWS_WITH(metric.update(Tensor<float>{{1, NAN}}, Labels{0}), Catch::StartsWith("scores[1] is nan"));
    CHECK_THROWS_WITH(metric.f1(2), "class = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(PrecisionRecall(0), "classes is 0, expected at least 1");
    CHECK(metric.recall() == 0);
}

}  // namespace test_precision_recall
