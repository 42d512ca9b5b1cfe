// tests/layer/sequence_reverse.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>

#include <cstdint>

namespace test_sequence_reverse {

using namespace rowan;

TEST_CASE("layer::sequence_reverse reverses ids and rows, and its gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const words = test::fed("words", LoDTensor<std::int64_t>({1, 0, 2, 3, 3}, Lod{{0, 2, 2, 5}}));
    CHECK((test::run(layer::sequence_reverse(words), {{"words", words->value().get<LoDTensor<std::int64_t>>()}}) ==
           LoDTensor<std::int64_t>({0, 1, 3, 3, 2}, Lod{{0, 2, 2, 5}})));
    auto const rows = layer::embedding<double>(layer::sequence_reverse(words), {.height = 4, .width = 2});
    auto const weighted = layer::mul(layer::sequence_reverse(rows), test::fed("weights", LoDTensor<double>(test::values({5, 2}, 1), Lod{{0, 2, 2, 5}})));
    test::check_net(layer::mse(layer::sequence_pool(weighted), test::fed("target", LoDTensor<double>(test::values({3, 2}, 3)))));
    CHECK_THROWS_WITH(layer::sequence_reverse(layer::data("x", {UNK, 1})), "sequence_reverse: x.lod().levels() is 0, expected at least 1");
}

TEST_CASE("layer::sequence_reverse in a step reverses the sequences of the step, also in parts of a batch", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<float>("x", {UNK, 1}, 2);
    auto const out = layer::rnn(x, 1, [](auto x_t, auto s) {
        auto const now = layer::add(s, layer::sequence_pool(layer::sequence_reverse(x_t), {.pool = Pooling::first}));
        return layer::Step{now, now};
    }, {.level = 0});
    auto const feeds = [&](Tensor<float> rows, Lod const& lod) { return Feeds{{"x", LoDTensor<float>(std::move(rows), lod)}}; };
    CHECK((test::run(out, feeds({{1}, {2}, {3}, {4}, {5}}, Lod{{0, 2, 3}, {0, 2, 3, 5}})) == LoDTensor<float>({{2}, {5}, {5}}, Lod{{0, 2, 3}})));
}

}  // namespace test_sequence_reverse
