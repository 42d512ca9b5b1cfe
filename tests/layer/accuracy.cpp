// tests/layer/accuracy.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>

#include <cstdint>

namespace test_accuracy {

using namespace rowan;

TEST_CASE("layer::accuracy is the fraction of correct rows", "[layer]") {
    test::DefaultScope scope;
    auto const scores = layer::data("scores", {UNK, 3});
    auto const label = layer::data<std::int32_t>("label", {UNK});
    auto const share = layer::accuracy(layer::tanh(scores), label);
    CHECK(share->spec() == tensor_spec<double>({1}));
    Tensor<float> const x{{1, 0, 0}, {1, 1, 0}, {0, 1, 2}, {0, 1, 2}};
    CHECK((test::run(share, {{"scores", x}, {"label", Tensor<std::int32_t>{0, 1, 2, 1}}}).value() == Tensor<double>{0.5}));
    CHECK((test::run(layer::accuracy(scores, label, {.k = 2}), {{"scores", x}, {"label", Tensor<std::int32_t>{2, 1, 1, 1}}}).value() == Tensor<double>{0.75}));
    CHECK_THROWS_WITH(test::run(share, {{"scores", x}, {"label", Tensor<std::int32_t>{0, 1, 3, 1}}}),
                      "accuracy(x = tanh_0.out_0, label): label[2] = 3 is not in [0, 3)");
    CHECK_THROWS_WITH(test::run(share, {{"scores", x}, {"label", Tensor<std::int32_t>{0}}}),
                      "accuracy(x = tanh_0.out_0, label): label.shape(0) is 1, expected 4, the number of rows");
}

TEST_CASE("layer::accuracy cannot be a cost", "[layer]") {
    test::DefaultScope scope;
    auto const label = layer::data<std::int64_t>("label", {UNK});
    auto const share = layer::accuracy(test::parameter({2, 2}, 1, "w"), label);
    CHECK_THROWS_WITH(append_backward<double>(*share), "operator accuracy has no gradient for its input w, on which a result without a name depends");
    CHECK_THROWS_WITH(layer::accuracy(label, label), "accuracy: x rank is 1, expected 2");
}

}  // namespace test_accuracy
