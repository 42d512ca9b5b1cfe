// tests/layer/rnn.cpp
#include <rowan/layer/rnn.hpp>

#include "catch.hpp"
#include "finite_differences.hpp"
#include "inputs.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/infer.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/lstm_unit.hpp>
#include <rowan/layer/sequence_pool.hpp>
#include <rowan/layer/train.hpp>

#include <array>
#include <cmath>

namespace test_rnn {

namespace {

using namespace rowan;
using namespace test;

Lod const lod = Lod::from_lengths({{0, 1, 5, 5, 2}});

}  // namespace

TEST_CASE("a recurrent layer is the loop over each sequence alone", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const x = layer::data<double>("x", {UNK, 2}, 1);
    auto const run = layer::rnn_with_last(x, 3, [](auto x_t, auto before) {
        auto const now = layer::tanh(layer::add(layer::fc(x_t, {.output_size = 3}), layer::fc(before, {.output_size = 3})));
        return layer::Step{now, now};
    });
    auto const net = Net<>::trace_and_build(std::array{&*run.output, &*run.last});
    auto const rows = values({13, 2}, 1);
    feed(scope, "x", LoDTensor<double>(rows, lod));
    std::uint64_t seed = 10;
    std::vector<Tensor<double>> p;  // w and b of x, then of the state
    for (Variable* const v : net.inputs()) {
        if (v->role() != Role::parameter) continue;
        v->value() = value(LoDTensor<double>(values(v->spec().dims.size() == 2 ? Tensor<double>::shape_type{static_cast<std::size_t>(v->spec().dims[0]), 3} : Tensor<double>::shape_type{3}, ++seed)));
        p.push_back(v->value().get<LoDTensor<double>>().value());
    }
    REQUIRE(p.size() == 4);
    net.run(scope);
    auto const& out = run.output->value().get<LoDTensor<double>>();
    auto const& last = run.last->value().get<LoDTensor<double>>().value();
    CHECK(out.lod() == lod);
    for (std::size_t s = 0; s < 5; ++s) {
        Tensor<double> h = Tensor<double>::zeros({1, 3});
        for (auto r = static_cast<std::size_t>(lod[0][s]); r < static_cast<std::size_t>(lod[0][s + 1]); ++r) {
            Tensor<double> const row = rows.slice(r, r + 1);
            Tensor<double> const sum = fc(row, p[0], p[1]) + fc(h, p[2], p[3]);
            h = tanh(Cpu{}, sum);
            for (std::size_t k = 0; k < 3; ++k) CHECK(out.value()(r, k) == Approx(h(0, k)).epsilon(1e-12));
        }
        for (std::size_t k = 0; k < 3; ++k) CHECK(last(s, k) == Approx(h(0, k)).margin(1e-12));
    }
}

TEST_CASE("every gradient of a recurrent layer is that of central differences", "[layer]") {
    for (bool const last : {false, true}) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const x = layer::fc(layer::data<double>("x", {UNK, 2}, 1), {.output_size = 3});  // so that x has a gradient, too
        auto const run = layer::rnn_with_last(x, 4, [](auto x_t, auto before) {
            auto const now = layer::gru_unit(x_t, before, {.size = 4});
            return layer::Step{layer::fc(now, {.output_size = 2}), now};
        });
        feed(scope, "x", LoDTensor<double>(values({13, 2}, 1), lod));
        auto const y = layer::data<double>("y", {UNK, last ? 4 : 2});
        feed(scope, "y", LoDTensor<double>(values({last ? 5u : 13u, last ? 4u : 2u}, 2)));
        check_gradients(layer::mse(last ? run.last : run.output, y));
    }
}

TEST_CASE("every gradient of an LSTM is that of central differences", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const x = layer::data<double>("x", {UNK, 2}, 1);
    auto const h = layer::rnn(x, 6, [](auto x_t, auto before) { return layer::lstm_unit(x_t, before, {.size = 3}); });
    feed(scope, "x", LoDTensor<double>(values({13, 2}, 1), lod));
    auto const y = layer::data<double>("y", {UNK, 3});
    feed(scope, "y", LoDTensor<double>(values({13, 3}, 2)));
    check_gradients(layer::mse(h, y));
}

TEST_CASE("a table looked up within the step has a row-sparse gradient", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
    auto const table = layer::parameter<double>({7, 2}, {-1, 1}, "table");
    auto const h = layer::rnn<double>(ids, 3, [&](auto id, auto before) {
        auto const now = layer::gru_unit(layer::embedding(id, table), before, {.size = 3});
        return layer::Step{now, now};
    });
    feed(scope, "ids", LoDTensor<std::int64_t>({1, 2, 3, 4, 5, 6, 1, 1, 0, 2, 3, 3, 6}, lod));
    auto const y = layer::data<double>("y", {UNK, 3});
    feed(scope, "y", LoDTensor<double>(values({13, 3}, 2)));
    check_gradients(layer::mse(h, y), "table");
}

TEST_CASE("a boot state gets its gradient, and follows the order of the sequences", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const boot = layer::fc(layer::data<double>("z", {UNK, 2}), {.output_size = 3});
    auto const h = layer::rnn_with_last(layer::data<double>("x", {UNK, 3}, 1), layer::Memory{.like = boot}, [](auto x_t, auto before) {
        auto const now = layer::tanh(layer::add(x_t, layer::fc(before, {.output_size = 3})));
        return layer::Step{now, now};
    });
    feed(scope, "x", LoDTensor<double>(values({13, 3}, 1), lod));
    feed(scope, "z", LoDTensor<double>(values({5, 2}, 3)));
    auto const y = layer::data<double>("y", {UNK, 3});
    feed(scope, "y", LoDTensor<double>(values({5, 3}, 2)));
    check_gradients(layer::mse(h.last, y));
}

TEST_CASE("what a step does not need the state for runs once for all steps, and gradients of weights are one product", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const h = layer::rnn(layer::data<double>("x", {UNK, 3}, 1), 4, [](auto x_t, auto before) {
        auto const now = layer::gru_unit(x_t, before, {.size = 4});
        return layer::Step{now, now};
    });
    auto const block = static_cast<RnnBlock const*>(h->writers()[0]->attributes.get());
    auto const& forward = block->net.forward;
    REQUIRE((forward.before.size() == 1 && forward.each.size() == 1 && forward.after.empty()));
    CHECK(forward.before[0].op->kernel->name == "fc");
    append_backward<double>(*layer::mse(h, layer::data<double>("y", {UNK, 4})));
    std::vector<std::string_view> each;
    for (auto const& step : block->net.backward.each) each.push_back(step.op->kernel->name);
    CHECK((each == std::vector<std::string_view>{"sum", "gru_unit_grad"}));
    CHECK(block->net.backward.after.size() >= 4);  // of w_h, b_h, w_x, b_x
}

TEST_CASE("a recurrent layer refuses what it cannot walk through, and goes on with the next batch", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const step = [](auto x_t, auto before) {
        auto const now = layer::tanh(layer::add(x_t, before));
        return layer::Step{now, now};
    };
    auto const x = layer::data<float>("x", {UNK, 2}, 1);
    auto const h = layer::rnn(x, 2, step);
    auto const net = Net<>::trace_and_build(*h);
    auto const text = [&](LoDTensor<float> const& batch) {
        feed(scope, "x", batch.share());
        try {
            net.run(scope);
        } catch (Error const& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    Tensor<float> const two{{1, 2}, {3, 4}};
    CHECK(text({two, Lod{{0, 2}}}).empty());
    CHECK(text(two.share()) == "rnn(x): x.lod().levels() is 0, expected 1");
    CHECK(text({two, Lod{{0, 1}, {0, 2}}}) == "rnn(x): x.lod().levels() is 2, expected 1");
    CHECK(text({Tensor<float>::from_shape({0, 2}), Lod{{0, 0, 0}}}).empty());  // only empty sequences
    CHECK((h->value().get<LoDTensor<float>>() == LoDTensor<float>(Tensor<float>::from_shape({0, 2}), Lod{{0, 0, 0}})));
    CHECK(text({two, Lod{{0, 0, 2}}}).empty());
    CHECK_THROWS_AS(layer::rnn(layer::data("flat", {UNK, 2}), 2, step), ShapeError);
    CHECK_THROWS_AS(layer::rnn(x, 3, step), ShapeError);
}

TEST_CASE("an id outside the table in the middle of a step is named", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const table = layer::parameter<float>({7, 2}, {-1, 1}, "table");
    auto const h = layer::rnn(layer::data<std::int64_t>("ids", {UNK}, 1), 2, [&](auto id, auto before) {
        auto const now = layer::add(layer::embedding(id, table), before);
        return layer::Step{now, now};
    });
    table->initialize(table->value(), 1);
    auto const net = Net<>::trace_and_build(*h);
    feed(scope, "ids", LoDTensor<std::int64_t>({1, 7, 2}, Lod{{0, 3}}));
    CHECK_THROWS_AS(net.run(scope), IndexError);
    CHECK_THROWS_WITH(net.run(scope), "rnn(ids, table): lookup_table(table, x): ids[1] = 7 is not in [0, 7)");
    feed(scope, "ids", LoDTensor<std::int64_t>({1, 6, 2}, Lod{{0, 3}}));
    net.run(scope);
}

TEST_CASE("a recurrent classifier learns what only the order of words tells", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const state = layer::rnn_with_last(layer::embedding(words, {.height = 4, .width = 8}), 16, [](auto x_t, auto before) {
        auto const now = layer::gru_unit(x_t, before, {.size = 16});
        return layer::Step{now, now};
    });
    auto const scores = layer::fc(state.last, {.output_size = 2});
    auto const cost = layer::softmax_with_cross_entropy(scores, layer::data<std::int64_t>("label", {UNK}));
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
    CHECK_THROWS_AS(train(cost, only_empty, {.resume = &parameters}), ShapeError);
}

TEST_CASE("steps that ignore their input, or read ids from outside, train", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const table = layer::parameter<double>({4, 3}, {-1, 1}, "table");
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const x = layer::fc(layer::data<double>("x", {UNK, 2}, 1), {.output_size = 3});
    auto const w = layer::parameter<double>({3, 3}, {-1, 1}, "w");
    auto const b = layer::parameter<double>({3}, {-1, 1}, "b");
    auto const h = layer::rnn(x, 3, [&](auto, auto before) {  // w twice, so that its gradients of all steps are added
        auto const once = layer::tanh(layer::apply<fc_op>({}, before, w, b));
        auto const now = layer::tanh(layer::apply<fc_op>({}, once, w, layer::apply<reduce_sum_op>({{0}}, layer::embedding(ids, table))));
        return layer::Step{now, now};
    });
    feed(scope, "x", LoDTensor<double>(values({13, 2}, 1), lod));
    feed(scope, "ids", LoDTensor<std::int64_t>(Tensor<std::int64_t>{3, 1, 3}));
    auto const y = layer::data<double>("y", {UNK, 3});
    feed(scope, "y", LoDTensor<double>(values({13, 3}, 2)));
    check_gradients(layer::mse(h, y), "table");
}

TEST_CASE("a step whose result is the same for all sequences is refused when the layer is made", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const x = layer::data<float>("x", {UNK, 2}, 1);
    auto const make = [&] {
        return layer::rnn(x, layer::Memory{.size = 2}, [](auto x_t, auto before) {
            auto const now = layer::add(x_t, before);
            return layer::Step{layer::mse(now, x_t), now};
        });
    };
    CHECK_THROWS_WITH(make(), "layer::rnn: the output or the state of a step is the same for all sequences, expected a row for each");
}

}  // namespace test_rnn
