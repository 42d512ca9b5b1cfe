// tests/layer/rnn.cpp
#include <rowan/layer/rnn.hpp>

#include "catch.hpp"
#include "finite_differences.hpp"

#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/train.hpp>
#include <rowan/op/recurrent/lstm_unit.hpp>

#include <array>
#include <vector>

namespace test_rnn {

namespace {

using namespace rowan;
using namespace test;

auto gru(std::int64_t size) {
    return [=](auto x_t, auto before) {
        auto const now = layer::gru_unit(x_t, before, {.size = size});
        return layer::Step{now, now};
    };
}

}  // namespace

TEST_CASE("a recurrent classifier learns a task that depends on word order", "[rnn]") {
    DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const state = layer::rnn_with_last(layer::embedding(words, {.height = 4, .width = 8}), 16, [](auto x_t, auto before) {
        auto const now = layer::gru_unit(x_t, before, {.size = 16});
        return layer::Step{now, now};
    });
    auto const scores = layer::fc(state.last, {.output_size = 2});
    auto const cost = layer::cross_entropy(scores, layer::data<std::int64_t>("label", {UNK}));
    auto const reader = [](std::int64_t epoch) {  // the label: does the first 1 come before the first 2?
        inputs::Random random(static_cast<std::uint64_t>(epoch) + 1);
        std::vector<Feeds> all;
        for (int b = 0; b < 30; ++b) {
            std::vector<std::vector<std::int64_t>> sentences;
            auto label = Tensor<std::int64_t>::from_shape({16});
            for (auto& l : label) {
                l = random.below(2);
                auto& s = sentences.emplace_back(static_cast<std::size_t>(2 + random.below(6)), 0);
                auto const first = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(s.size()) - 1));
                s[first] = l == 1 ? 1 : 2;
                s[first + 1] = l == 1 ? 2 : 1;
            }
            all.push_back({{"words", LoDTensor<std::int64_t>::from_nested(sentences)}, {"label", label}});
        }
        return all;
    };
    double last = 0;
    auto const options = [&](int threads) {
        return TrainOptions{.optimizer = layer::Adam{.learning_rate = 0.01}, .epochs = 6, .exec = {threads}, .on_batch = [&](BatchReport const& r) { last = r.cost; }};
    };
    auto const parameters = train(cost, reader, options(1));
    CHECK(last < 0.05);

    Feeds const empty{{"words", LoDTensor<std::int64_t>(Tensor<std::int64_t>::from_shape({0}), Lod{{0, 0, 0}})},
                      {"label", Tensor<std::int64_t>{0, 1}}};
    CHECK(infer(scores, empty, parameters).shape()[0] == 2);
    auto const only_empty = [&](std::int64_t) { return std::array{empty}; };
    CHECK(train(cost, only_empty, {.resume = &parameters}).steps == parameters.steps + 1);
}

TEST_CASE("a step with one result for all sequences throws when the layer is created", "[rnn]") {
    DefaultScope scope;
    auto const x = layer::data<float>("x", {UNK, 2}, 1);
    auto const make = [&] {
        return layer::rnn(x, layer::Memory{.size = 2}, [](auto x_t, auto before) {
            auto const now = layer::add(x_t, before);
            return layer::Step{layer::mse(now, x_t), now};
        });
    };
    CHECK_THROWS_WITH(make(), "layer::rnn: the output or the state of a step is the same for all sequences, expected a row for each");

    auto const three = layer::data<float>("three", {3, 2});
    auto const with_three = [&] {
        return layer::rnn(x, layer::Memory{.size = 2}, [&](auto x_t, auto) { return layer::Step{layer::add(x_t, three), x_t}; });
    };
    CHECK_THROWS_WITH(with_three(), "layer::rnn: the number of rows of the output or the state of a step is 3, expected one for each sequence: a value in the step has a fixed number of rows");
}

TEST_CASE("several memories, some with a boot state: an LSTM whose states are two", "[rnn]") {
    DefaultScope scope;
    auto const c_0 = layer::fc(fed("z", LoDTensor<double>(values({5, 2}, 3))), {.output_size = 3});
    auto const run = layer::rnn_with_last(
        fed("x", LoDTensor<double>(values({13, 2}, 1), Lod::from_lengths({{0, 1, 5, 5, 2}}))), {{.size = 3}, {.like = c_0}}, [](auto x_t, auto before) {
            auto const gates = layer::fc(x_t, {.output_size = 12});
            auto const w = layer::parameter<double>({3, 12}, {-1, 1});
            auto const b = layer::parameter<double>({12}, {-1, 1});
            auto const& made =
                default_scope().new_op<lstm_unit_op, Cpu, double, double, double, double, double>({&*gates, &*before[0], &*before[1], &*w, &*b}).outputs;
            layer::Var<double> const h(*made[0]), c(*made[1]);
            return layer::Step{h, {h, c}};
        });
    REQUIRE(run.last.size() == 2);
    check_gradients(layer::add(layer::mse(run.output, fed("y", LoDTensor<double>(values({13, 3}, 2)))),
                               layer::add(layer::mse(run.last[0], fed("y_h", LoDTensor<double>(values({5, 3}, 4)))), layer::mse(run.last[1], fed("y_c", LoDTensor<double>(values({5, 3}, 5)))))));
    Net<>::trace_and_build(std::array{&*run.last[1], &*c_0}).run(scope);
    auto const first_row = [](auto const& v) { return Tensor<double>(v->value().template get<LoDTensor<double>>().value().slice(0, 1)); };
    CHECK(first_row(run.last[1]) == first_row(c_0));  // of the empty sequence

    auto const too_few = [&] {
        return layer::rnn(layer::data<double>("w", {UNK, 2}, 1), {{.size = 2}, {.size = 2}}, [](auto x_t, auto) { return layer::Step{x_t, x_t}; });
    };
    CHECK_THROWS_WITH(too_few(), "layer::rnn: the number of states after a step is 1, expected 2");
}

TEST_CASE("memories are checked when the layer is created, and an invalid layer leaves nothing behind", "[rnn]") {
    DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2}, 1);
    CHECK_THROWS_WITH(layer::rnn(x, layer::Memory{}, gru(2)), "layer::rnn: memory.size is 0, expected 1 or more");
    CHECK_THROWS_WITH(layer::rnn(x, -1, gru(2)), "layer::rnn: memory.size is -1, expected 1 or more");
    CHECK_THROWS_WITH(layer::rnn(x, 2, gru(2), {.level = 1}), "layer::rnn: level is 1, expected a level of x, whose number of levels is 1");
    CHECK_THROWS_AS(layer::rnn(layer::data<double>("flat", {UNK, 2}), 2, gru(2)), ShapeError);
    auto const ids = layer::data<std::int64_t>("ids", {UNK, 2});
    CHECK_THROWS_WITH(layer::rnn(x, layer::Memory{.like = ids}, gru(2)), "layer::rnn: memory.like is LoDTensor<i64>, expected LoDTensor<f64>");
    auto const boot = layer::data<double>("boot", {UNK, 2});
    CHECK_THROWS_AS(layer::rnn(x, layer::Memory{.size = 2, .like = boot}, gru(2)), ValueError);
    auto const w = layer::parameter<double>({2, 3}, {-1, 1}, "w");
    auto const b = layer::parameter<double>({3}, {-1, 1}, "b");
    CHECK_THROWS_AS(layer::rnn(x, 2, [&](auto x_t, auto) {
        auto const wide = layer::apply<fc_op>({}, x_t, w, b);
        return layer::Step{wide, wide};
    }), ShapeError);
    CHECK(w->readers().empty());
    CHECK_THROWS_WITH(layer::gru_unit(boot, boot, {}), "the size of a cell is 0, expected 1 or more");
    CHECK_THROWS_AS(layer::parameter<double>({UNK, 3}, {-1, 1}, "v"), ShapeError);
    CHECK_NOTHROW(layer::parameter<double>({2, 3}, {-1, 1}, "v"));
}

TEST_CASE("a step whose result is not one for each sequence is refused", "[rnn]") {
    test::DefaultScope scope;
    auto const x = layer::data<float>("x", {UNK, 1}, 2);
    auto const chosen = layer::data<std::int64_t>("chosen", {UNK});
    auto const step = [&](auto const& f) {
        return layer::rnn(x, 1, [&](auto x_t, auto s) { return layer::Step{f(x_t), s}; }, {.level = 0});
    };
    CHECK_THROWS_WITH(step([&](auto x_t) { return layer::pick_sequences(x_t, chosen); }), "layer::rnn: the output or the state of a step is the same for all sequences, expected a row for each");
    Feeds const feeds{{"x", LoDTensor<float>(Tensor<float>{{1}, {2}, {3}, {4}}, Lod{{0, 2, 3}, {0, 2, 3, 4}})}};
    auto const expanded = step([&](auto x_t) { return layer::sequence_expand(x_t, x_t); });
    CHECK_THROWS_WITH(infer(expanded, feeds, {}), "rnn(x): step 0: the number of rows or sequences of a result is 3, expected 2, one for each sequence");
}

}  // namespace test_rnn
