// tests/layer/sequence_conv.cpp
#include <rowan/layer/sequence_conv.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace test_sequence_conv {

using namespace rowan;

TEST_CASE("the gradients of layer::sequence_conv equal central differences, with and without trained padding", "[layer]") {
    test::DefaultScope scope;
    Lod const lod{{0, 2, 3}, {0, 3, 3, 5}};
    auto const x = test::fed("x", LoDTensor<double>(test::values({5, 2}, 1), lod));
    auto const target = test::fed("target", LoDTensor<double>(test::values({5, 3}, 2), lod));
    auto const inner = layer::sequence_conv(x, {.length = 2, .train_padding = true, .name = "inner"});
    CHECK(scope.get("inner.w_0").spec() == tensor_spec<double>({4, 2}));
    CHECK(scope.get("inner.w_1").spec() == tensor_spec<double>({1, 2}));
    auto const out = layer::sequence_conv(inner, {.output_size = 3, .length = 5, .start = 0});
    CHECK(out->spec() == tensor_spec<double>({UNK, 3}, 2));
    CHECK(test::check_net(layer::mse(out, target)).size() == 5);
    CHECK_THROWS_WITH(layer::sequence_conv(x, {.length = 0}), "sequence_context: length is 0, expected in [1, 2^31)");
    CHECK_THROWS_WITH(layer::sequence_conv(layer::data<double>("rows", {UNK, 2})), "sequence_context: x.lod().levels() is 0, expected at least 1");
    CHECK_THROWS_WITH(layer::sequence_conv(layer::data<double>("wide", {UNK, UNK}, 1), {.train_padding = true}), "layer::sequence_conv: x width is unknown, expected a number, for its padding");
    auto const before = scope.operators().size();
    CHECK_THROWS_AS(layer::sequence_conv(x, {.output_size = -1, .train_padding = true}), ValueError);
    CHECK(scope.operators().size() == before);
}

TEST_CASE("layer::sequence_enumerate lists the n-grams of sequences", "[layer]") {
    test::DefaultScope scope;
    auto const grams = layer::sequence_enumerate(layer::data<std::int64_t>("words", {UNK}, 1), {.size = 2, .pad_value = -1});
    CHECK(grams->spec() == tensor_spec<std::int64_t>({UNK, 2}, 1));
    Feeds const feeds{{"words", LoDTensor<std::int64_t>({7, 8, 9, 5}, Lod{{0, 3, 3, 4}})}};
    CHECK((test::run(grams, feeds) == LoDTensor<std::int64_t>({{7, 8}, {8, 9}, {9, -1}, {5, -1}}, Lod{{0, 3, 3, 4}})));
}

}  // namespace test_sequence_conv
