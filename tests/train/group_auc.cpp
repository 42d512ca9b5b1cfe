// tests/train/group_auc.cpp: means of the areas of groups, against scikit-learn's and against Auc.
#include <rowan/train/auc.hpp>
#include <rowan/train/group_auc.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace test_group_auc {

using rowan::Auc, rowan::GroupAuc, rowan::Tensor;
using Labels = Tensor<std::int64_t>;

TEST_CASE("GroupAuc weighs the areas of groups by their examples", "[layer][golden]") {
    // scikit-learn 1.9.1: roc_auc_score of group 3 is 5/6, of group -1 0.5; the other two have one class
    GroupAuc auc;
    CHECK(std::isnan(auc.value()));
    auc.update(Tensor<double>{0.9, 0.1, 0.35, 0.6, 0.05}, Labels{1, 0, 0, 1, 0}, Labels{3, 3, 3, 3, -1});
    auc.update(Tensor<float>::from_shape({0}), Labels::from_shape({0}), Labels::from_shape({0}));
    auc.update(Tensor<float>{{0.4F}, {0.7F}, {0.2F}}, Tensor<std::int32_t>{{0}, {0}, {1}}, Tensor<std::int32_t>{{-1}, {3}, {-1}});
    CHECK(auc.value() == Approx(0.7083333333333334).epsilon(1e-15));
    auc.update(Tensor<float>{0.9F, 0.8F, 0.1F}, Labels{0, 0, 1}, Labels{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min(), 1LL << 40});
    CHECK(auc.value() == Approx(0.7083333333333334).epsilon(1e-15));
    auc.reset();
    auc.update(Tensor<float>{0.9F, 0.8F}, Labels{1, 1}, Labels{0, 1});
    CHECK(std::isnan(auc.value()));
    auc.update(Tensor<float>{0.9F, 0.1F}, Labels{0, 0}, Labels{0, 1});  // a tie, and the right order
    CHECK(auc.value() == 0.75);
}

TEST_CASE("GroupAuc has the areas of Auc, in any order of the examples", "[layer]") {
    inputs::Random random(5);
    std::map<std::int64_t, Auc> each;
    std::map<std::int64_t, double> examples;
    GroupAuc groups, one;
    Auc all;
    for (int batch = 0; batch < 20; ++batch) {
        auto p = Tensor<float>::from_shape({50});
        auto label = Labels::from_shape({50}), group = Labels::from_shape({50});
        for (std::size_t i = 0; i < 50; ++i) {
            p(i) = static_cast<float>(random.below(33)) / 32;
            label(i) = random.below(40) < static_cast<std::int64_t>(p(i) * 32) ? 1 : 0;
            group(i) = random.below(random.below(300) + 1) - 100;
            each[group(i)].update(p.slice(i, i + 1), label.slice(i, i + 1));
            examples[group(i)] += 1;
        }
        groups.update(p, label, group);
        one.update(p, label, Labels::zeros({50}));
        all.update(p, label);
    }
    double sum = 0, weight = 0;
    for (auto const& [group, auc] : each) {
        if (std::isnan(auc.value())) continue;
        sum += auc.value() * examples[group];
        weight += examples[group];
    }
    CHECK((weight > 400 && weight < 1000));
    CHECK(groups.value() == Approx(sum / weight).epsilon(1e-14));
    CHECK(one.value() == Approx(all.value()).epsilon(1e-15));
}

TEST_CASE("GroupAuc throws for bad inputs and forgets nothing then", "[layer][bad]") {
    GroupAuc auc;
    auc.update(Tensor<float>{0, 1}, Labels{0, 1}, Labels{7, 7});
    CHECK_THROWS_WITH(auc.update(Tensor<float>{0.5F, 1}, Labels{1}, Labels{7, 7}), "label.size() is 1, expected 2");
    CHECK_THROWS_WITH(auc.update(Tensor<float>{0.5F, 1}, Labels{1, 0}, Labels{7}), "group.size() is 1, expected 2");
    CHECK_THROWS_WITH(auc.update(Tensor<float>{0.5F, 1.5F}, Labels{1, 0}, Labels{7, 7}), "probability[1] is 1.5, expected in [0, 1]");
    CHECK_THROWS_WITH(auc.update(Tensor<float>{NAN, 1}, Labels{1, 0}, Labels{7, 7}), Catch::StartsWith("probability[0] is nan"));
    CHECK_THROWS_WITH(auc.update(Tensor<float>{0.5F, 1}, Labels{1, 2}, Labels{7, 7}), "label[1] = 2 is not in [0, 2)");
    CHECK(auc.value() == 1);
}

}  // namespace test_group_auc
