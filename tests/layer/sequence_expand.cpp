// tests/layer/sequence_expand.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace test_sequence_expand {

using namespace rowan;

TEST_CASE("layer::sequence_expand repeats rows as often as sequences are long", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 1});
    auto const words = layer::data<std::int64_t>("words", {UNK}, 2);
    Feeds const feeds{{"x", Tensor<float>{{1}, {2}}}, {"words", LoDTensor<std::int64_t>({7, 8, 9, 7}, Lod{{0, 1, 2}, {0, 1, 4}})}};
    auto const rows = layer::sequence_expand(x, words);
    CHECK(rows->spec() == tensor_spec<float>({UNK, 1}, 1));
    CHECK((test::run(rows, feeds) == LoDTensor<float>({{1}, {2}, {2}, {2}}, Lod{{0, 1, 4}})));
    CHECK((test::run(layer::sequence_expand(x, words, {.level = 0}), feeds) == LoDTensor<float>({{1}, {2}}, Lod{{0, 1, 2}})));
    CHECK_THROWS_WITH(layer::sequence_expand(x, x), "sequence_expand: y.lod().levels() is 0, expected at least 1");
    Feeds other = feeds;
    other.insert_or_assign("x", Tensor<float>{{1}});
    CHECK_THROWS_WITH(test::run(rows, other), "sequence_expand(x, y = words): x.size() is 1, expected 2, the number of sequences of level 1");
}

TEST_CASE("the gradient of layer::sequence_expand equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const target = layer::data<double>("target", {UNK, 2});
    test::set(*words, LoDTensor<std::int64_t>({1, 0, 1, 3, 3}, Lod{{0, 2, 2, 5}}));
    test::set(*target, LoDTensor<double>(test::values({5, 2}, 3)));
    auto const rows = layer::embedding<double>(words, {.height = 4, .width = 2});
    rows->writers()[0]->inputs[0]->initialize(rows->writers()[0]->inputs[0]->value(), 5);
    auto const sums = layer::sequence_pool(rows, {Pooling::sum});
    test::check_net(layer::mse(layer::sequence_expand(sums, words), target));
    test::check_net(layer::mse(layer::sequence_expand(sums, layer::scale(rows, 2)), target));  // only the levels are used
}

}  // namespace test_sequence_expand
