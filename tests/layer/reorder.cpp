// tests/layer/reorder.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>

#include <cstdint>

namespace test_layer_reorder {

using namespace rowan;

TEST_CASE("layer::reorder sorts rows by the lengths of sentences, and its gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    test::set(*words, LoDTensor<std::int64_t>({1, 0, 1, 3, 3, 2}, Lod{{0, 1, 1, 4, 6}}));
    auto const x = test::fed("x", LoDTensor<double>(test::values({4, 3}, 1)));
    auto const sorted = layer::reorder(layer::fc(x, {.output_size = 2}), words);
    auto const target = test::fed("target", LoDTensor<double>(test::values({4, 2}, 3)));
    test::check_net(layer::mse(sorted, target));
    test::check_net(layer::mse(layer::reorder(sorted, words, {.restore = true}), target));
    auto const y = layer::data("y", {UNK});
    Feeds const feeds{{"words", words->value().get<LoDTensor<std::int64_t>>().share()}, {"y", Tensor<float>{5, 6, 7, 8}}};
    CHECK((test::run(layer::reorder(y, words), feeds) == LoDTensor<float>({7, 8, 5, 6})));
    CHECK_THROWS_WITH(test::run(layer::reorder(layer::data("z", {3}), words), {{"words", feeds.at("words")}, {"z", Tensor<float>{1, 2, 3}}}),
                      "reorder(x = z, y = words): x.size() is 3, expected 4, the number of sequences of y");
}

}  // namespace test_layer_reorder
