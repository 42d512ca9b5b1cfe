// tests/layer/static_input.cpp: attention of a decoder over the whole output of an encoder, in every step.
#include <rowan/layer/static_input.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/cond.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/matmul.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/train.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_static_input {

namespace {

using namespace rowan;

/// A decoder of width 2 whose step weighs the rows of its source by the state.
auto decoder(layer::Var<double> const& x, layer::Var<double> const& encoded, layer::RnnOptions const& options = {}) {
    auto const w = layer::parameter<double>({2, 1}, {-1, 1}, "w");
    return layer::rnn(
        x, 2,
        [&](auto x_t, auto before) {
            auto const source = layer::static_input(encoded);
            auto const scores = layer::matmul(layer::mul(source, layer::sequence_expand(before, source)), w);
            auto const context = layer::sequence_pool(layer::mul(source, layer::sequence_softmax(scores)));
            auto const now = layer::gru_unit(layer::add(x_t, context), before, {.size = 2});
            return layer::Step{layer::add(now, context), now};
        },
        options);
}

LoDTensor<double> batch(std::vector<std::int64_t> const& lengths, std::uint64_t seed) {
    Lod const lod = Lod::from_lengths({lengths});
    return LoDTensor<double>(test::values({static_cast<std::size_t>(lod.rows()), 2}, seed), lod);
}

}  // namespace

TEST_CASE("the gradient of a static input of 16 bits is rounded once, after all steps", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<bfloat16>("x", {UNK, 1}, 1);
    auto const p = layer::parameter<bfloat16>({1, 1}, layer::Constant{0}, "p");
    auto const sums = layer::rnn(x, 1, [&](auto x_t, auto before) {
        auto const now = layer::add(layer::add(x_t, layer::static_input(p)), before);
        return layer::Step{now, now};
    });
    auto const cost = layer::mse(layer::sequence_pool(sums, {.pool = Pooling::last}), layer::data<bfloat16>("y", {UNK, 1}));
    Feeds const batch{{"x", LoDTensor<bfloat16>(Tensor<bfloat16>::zeros({1000, 1}), Lod{{0, 1000}})}, {"y", Tensor<bfloat16>{{bfloat16(-0.5F)}}}};
    auto const learned = train(cost, [&](std::int64_t) { return std::vector{batch}; }, {.optimizer = layer::Sgd{.learning_rate = 1}});
    CHECK(learned.get<bfloat16>("p") == Tensor<bfloat16>{{bfloat16(-1000)}});
}

TEST_CASE("gradients reach a static input from all steps of its sequences, forwards and in reverse", "[layer]") {
    for (bool const reverse : {false, true}) {
        test::DefaultScope scope;
        auto const x = test::fed("x", batch({0, 1, 5, 5, 2}, 1));
        auto const source = layer::add(test::fed("source", batch({3, 2, 0, 4, 1}, 2)), test::parameter({2}, 3));
        auto const per_sequence = test::parameter({5, 2}, 4);
        auto const context = layer::rnn(x, 2, [&](auto x_t, auto before) {  // rows without levels, and no other reader
            auto const now = layer::add(layer::mul(x_t, layer::static_input(per_sequence)), before);
            return layer::Step{now, now};
        });
        test::check_gradients(layer::mse(layer::add(context, decoder(x, source, {.reverse = reverse})),
                                         test::fed("y", LoDTensor<double>(test::values({13, 2}, 5)))));
    }
}

TEST_CASE("a decoder with static inputs gives each sequence the bits that it gets alone, with any number of threads",
          "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2}, 1), source = layer::data<double>("source", {UNK, 2}, 1);
    auto const out = decoder(x, source);
    auto const net = Net<>::trace_and_build(*out);
    test::initialize(net, 7);
    std::vector<std::int64_t> lengths, source_lengths;
    for (std::int64_t i = 0; i < 150; ++i) {
        lengths.push_back(i * 5 % 7);
        source_lengths.push_back(i * 3 % 5);
    }
    auto const xs = batch(lengths, 1), sources = batch(source_lengths, 2);
    auto const run = [&](LoDTensor<double> const& a, LoDTensor<double> const& b, int threads) {
        test::set(*x, a);
        test::set(*source, b);
        net.run(scope, Cpu{.threads = threads});
        return out->value().get<LoDTensor<double>>();
    };
    auto const all = run(xs, sources, 1);
    CHECK(all.lod() == xs.lod());
    CHECK(run(xs, sources, 3) == all);
    for (std::size_t i = 0; i < lengths.size(); ++i)
        CHECK(run(LoDTensor<double>(xs.slice(i, i + 1)), LoDTensor<double>(sources.slice(i, i + 1)), 1) ==
              LoDTensor<double>(all.slice(i, i + 1)));
    CHECK(run(LoDTensor<double>(xs.slice(0, 0)), LoDTensor<double>(sources.slice(0, 0)), 1).shape()[0] == 0);
    CHECK_THROWS_WITH(run(xs, LoDTensor<double>(sources.slice(0, 149)), 1),
                      Catch::Contains("static_input: the number of sequences of x is 149, expected 150, the number of "
                                      "sequences that have steps"));
}

TEST_CASE("the step of a step reads the static input of the outer step", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({7, 2}, 1), Lod{{0, 2, 2, 3}, {0, 3, 5, 7}}));
    auto const topics =
        test::fed("topics", LoDTensor<double>(test::values({6, 2}, 2), Lod{{0, 2, 2, 3}, {0, 1, 4, 6}}));
    auto const lists = layer::mul(topics, test::parameter({2}, 3));  // of each document
    auto const out = layer::rnn(
        x, 2,
        [&](auto sentence, auto before) {
            auto const topic = layer::sequence_pool(layer::sequence_pool(layer::static_input(lists)));
            auto const read = layer::rnn_with_last(sentence, layer::Memory{.like = before}, [&](auto word, auto state) {
                auto const now = layer::gru_unit(layer::mul(word, layer::static_input(topic)), state, {.size = 2});
                return layer::Step{now, now};
            });
            return layer::Step{read.last, read.last};
        },
        {.level = 0});
    test::check_gradients(layer::mse(out, test::fed("y", LoDTensor<double>(test::values({3, 2}, 5)))));
}

TEST_CASE("a static input must come from outside the step", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2}, 1);
    CHECK_THROWS_WITH(layer::static_input(x),
                      Catch::Contains("layer::static_input: x is not a variable of a net around the step"));
    auto const own = [](auto x_t, auto) { return layer::Step{layer::static_input(x_t), x_t}; };
    CHECK_THROWS_AS(layer::rnn(x, 2, own), GraphError);
    auto const flag = layer::data<bool>("flag", {1});
    auto const in_branch = [&](auto x_t, auto) {
        auto const mean = layer::cond(
            flag, [&] { return layer::sequence_pool(layer::static_input(x)); }, [&] { return x_t; });
        return layer::Step{mean, mean};
    };
    CHECK_THROWS_WITH(layer::rnn(x, 2, in_branch),
                      Catch::Contains("layer::static_input is called in a loop or a branch"));
}

}  // namespace test_static_input
