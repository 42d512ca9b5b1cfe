// tests/layer/pick_sequences.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>

#include <cstdint>

namespace test_pick_sequences {

using namespace rowan;

TEST_CASE("layer::pick_sequences picks sequences by a list that is fed", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const chosen = layer::data<std::int64_t>("chosen", {UNK});
    Feeds feeds{{"words", LoDTensor<std::int64_t>({7, 8, 9, 6}, Lod{{0, 1, 2, 4}})}, {"chosen", Tensor<std::int64_t>{2, 0, 2}}};
    auto const picked = layer::pick_sequences(words, chosen);
    CHECK(picked->spec() == tensor_spec<std::int64_t>({UNK}, 1));
    CHECK((test::run(picked, feeds) == LoDTensor<std::int64_t>({9, 6, 7, 9, 6}, Lod{{0, 2, 3, 5}})));
    feeds.insert_or_assign("chosen", Tensor<std::int64_t>{2, 3});
    CHECK_THROWS_WITH(test::run(picked, feeds), "pick_sequences(x = words, ids = chosen): ids[1] = 3 is not in [0, 3)");
    CHECK_THROWS_WITH(layer::pick_sequences(words, layer::data<std::int64_t>("columns", {UNK, 1})), "pick_sequences: ids rank is 2, expected 1");
}

TEST_CASE("the gradient of layer::pick_sequences equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const chosen = layer::data<std::int32_t>("chosen", {UNK});
    auto const target = layer::data<double>("target", {UNK, 2});
    test::set(*words, LoDTensor<std::int64_t>({1, 0, 1, 3, 3}, Lod{{0, 2, 2, 5}}));
    test::set(*chosen, LoDTensor<std::int32_t>({2, 1, 0, 2}));
    test::set(*target, LoDTensor<double>(test::values({4, 2}, 3)));
    auto const rows = layer::embedding<double>(words, {.height = 4, .width = 2});
    rows->writers()[0]->inputs[0]->initialize(rows->writers()[0]->inputs[0]->value(), 5);
    test::check_net(layer::mse(layer::sequence_pool(layer::pick_sequences(rows, chosen), {Pooling::sum}), target));
}

TEST_CASE("a step whose result is not one for each sequence is refused", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<float>("x", {UNK, 1}, 2);
    auto const chosen = layer::data<std::int64_t>("chosen", {UNK});
    auto const step = [&](auto const& f) {
        return layer::rnn(x, 1, [&](auto x_t, auto s) { return layer::Step{f(x_t), s}; }, {.level = 0});
    };
    CHECK_THROWS_WITH(step([&](auto x_t) { return layer::pick_sequences(x_t, chosen); }), "layer::rnn: the output or the state of a step is the same for all sequences, expected a row for each");
    Feeds const feeds{{"x", LoDTensor<float>(Tensor<float>{{1}, {2}, {3}, {4}}, Lod{{0, 2, 3}, {0, 2, 3, 4}})}};
    auto const expanded = step([&](auto x_t) { return layer::sequence_expand(x_t, x_t); });
    CHECK_THROWS_WITH(test::run(expanded, feeds), "rnn(x): step 0: the number of rows or sequences of a result is 3, expected 2, one for each sequence");
}

}  // namespace test_pick_sequences
