// tests/graph/rnn.cpp
#include <rowan/graph/rnn.hpp>

#include "catch.hpp"
#include "finite_differences.hpp"

#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/op/sequence/expand_rows.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/sequence/sequence_reverse.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace test_rnn {

namespace {

static_assert(rowan::detail::rnn_parts(0) == 1 && rowan::detail::rnn_parts(31) == 1 && rowan::detail::rnn_parts(32) == 2 && rowan::detail::rnn_parts(95) == 2 && rowan::detail::rnn_parts(96) == 3 &&
              rowan::detail::rnn_parts(1'000'000) == 256);

using namespace rowan;
using namespace test;

Lod const lod = Lod::from_lengths({{0, 1, 5, 5, 2}});
Lod const two_levels = Lod::from_lengths({{2, 0, 3, 1}, {2, 0, 3, 1, 2, 4}});

auto gru(std::int64_t size) {
    return [=](auto x_t, auto before) {
        auto const now = layer::gru_unit(x_t, before, {.size = size});
        return layer::Step{now, now};
    };
}

LoDTensor<double> const& result(layer::Var<double> const& v) { return v->value().get<LoDTensor<double>>(); }

}  // namespace

TEST_CASE("a recurrent layer equals a loop over each single sequence", "[rnn]") {
    DefaultScope scope;
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

TEST_CASE("gradients of a recurrent layer equal central differences", "[rnn]") {
    for (bool const last : {false, true}) {
        DefaultScope scope;
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

TEST_CASE("steps that ignore their input, or read ids from outside, train", "[rnn]") {
    DefaultScope scope;
    auto const table = layer::parameter<double>({4, 3}, {-1, 1}, "table");
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const x = layer::fc(layer::data<double>("x", {UNK, 2}, 1), {.output_size = 3});
    auto const w = layer::parameter<double>({3, 3}, {-1, 1}, "w");
    auto const b = layer::parameter<double>({3}, {-1, 1}, "b");
    auto const h = layer::rnn(x, 3, [&](auto, auto before) {  // w twice, so that its gradients of all steps are summed
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

TEST_CASE("operators that the next step does not need run once, after the loop", "[rnn]") {
    DefaultScope scope;
    auto const h = layer::rnn(fed("x", LoDTensor<double>(values({13, 3}, 1), lod)), 4, [](auto x_t, auto before) {
        auto const now = layer::gru_unit(x_t, before, {.size = 4});
        return layer::Step{layer::tanh(layer::fc(now, {.output_size = 2})), now};
    });
    check_gradients(layer::mse(h, fed("y", LoDTensor<double>(values({13, 2}, 2)))));
    auto const& net = h->writers()[0]->attributes.get<RnnBlock>().net;
    auto const names = [](std::vector<rowan::detail::StepOp> const& ops) {
        std::string text;
        for (auto const& op : ops) text.append(op.op->kernel->name).append(" ");
        return text;
    };
    CHECK(names(net.forward.before) == "fc ");
    CHECK(names(net.forward.each) == "gru_unit ");
    CHECK(names(net.forward.after) == "fc tanh ");
    CHECK(names(net.backward.before) == "tanh_grad matrix_grad_x matrix_grad_y bias_grad ");
    CHECK(names(net.backward.each) == "sum gru_unit_grad ");
    CHECK(net.backward.after.size() >= 4);  // one product each, of all steps, for w_h, b_h, w_x and b_x
}

TEST_CASE("a recurrent layer throws for invalid input, and accepts the next batch", "[rnn]") {
    DefaultScope scope;
    auto const h = layer::rnn(layer::data<float>("x", {UNK, 2}, 1), 2, [](auto x_t, auto before) {
        auto const now = layer::tanh(layer::add(x_t, before));
        return layer::Step{now, now};
    });
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
}

TEST_CASE("an error names an id outside the table inside a step", "[rnn]") {
    DefaultScope scope;
    auto const table = layer::parameter<float>({7, 2}, {-1, 1}, "table");
    auto const h = layer::rnn(layer::data<std::int64_t>("ids", {UNK}, 1), 2, [&](auto id, auto before) {
        auto const now = layer::add(layer::embedding(id, table), before);
        return layer::Step{now, now};
    });
    table->initialize(table->value(), 1);
    auto const net = Net<>::trace_and_build(*h);
    feed(scope, "ids", LoDTensor<std::int64_t>({1, 7, 2}, Lod{{0, 3}}));
    CHECK_THROWS_AS(net.run(scope), IndexError);
    CHECK_THROWS_WITH(net.run(scope), "rnn(x = [ids, table]): step 1 of sequence 0: lookup_table(w = table, ids = x): ids[1] = 7 is not in [0, 7)");
    feed(scope, "ids", LoDTensor<std::int64_t>({1, 6, 2}, Lod{{0, 3}}));
    net.run(scope);
}

TEST_CASE("a reverse layer equals a layer on reversed sequences", "[rnn]") {
    auto const run = [](bool reverse, LoDTensor<double> const& batch) {
        DefaultScope scope;
        auto const h = layer::rnn_with_last(fed("x", batch.share()), 3, gru(3), {.reverse = reverse});
        auto const net = Net<>::trace_and_build(std::array{&*h.output, &*h.last});
        initialize(net, 5);
        net.run(scope);
        return std::pair(result(h.output).share(), result(h.last).share());
    };
    LoDTensor<double> const x(values({13, 2}, 1), lod);
    auto const backwards = run(true, x), forwards = run(false, sequence_reverse(x));
    CHECK(backwards.first == sequence_reverse(forwards.first));
    CHECK(backwards.second == forwards.second);

    DefaultScope scope;
    auto const h = layer::rnn(layer::fc(fed("x", x.share()), {.output_size = 2}), 3, gru(3), {.reverse = true});
    check_gradients(layer::mse(h, fed("y", LoDTensor<double>(values({13, 3}, 2)))));
}

TEST_CASE("a recurrent layer over the last level keeps the levels above", "[rnn]") {
    DefaultScope scope;
    auto const h = layer::rnn_with_last(fed("x", LoDTensor<double>(values({12, 2}, 1), two_levels)), 3, gru(3));
    CHECK((h.output->spec().lod_level == 2 && h.last->spec().lod_level == 1));
    auto const net = Net<>::trace_and_build(std::array{&*h.output, &*h.last});
    initialize(net, 3);
    net.run(scope);
    CHECK(result(h.output).lod() == two_levels);
    CHECK(result(h.last).lod() == two_levels.slice_levels(0, 1));
}

TEST_CASE("a step of a level above has sequences of the level below", "[rnn]") {
    DefaultScope scope;
    auto const x = layer::fc(fed("x", LoDTensor<double>(values({12, 2}, 1), two_levels)), {.output_size = 2});
    auto const inside = layer::rnn_with_last(x, 3, [](auto x_t, auto before) {
        REQUIRE(x_t->spec().lod_level == 1);
        auto const now = layer::gru_unit(layer::sequence_pool(x_t, {.pool = Pooling::sum}), before, {.size = 3});
        return layer::Step{now, now};
    }, {.level = 0});
    auto const outside = layer::rnn_with_last(layer::sequence_pool(x, {.pool = Pooling::sum}), 3, gru(3), {.level = 0});
    auto const net = Net<>::trace_and_build(std::array{&*inside.output, &*inside.last, &*outside.output, &*outside.last});
    initialize(net, 3, true);
    net.run(scope);
    CHECK(result(inside.output).lod() == two_levels.slice_levels(0, 1));
    CHECK(result(inside.output) == result(outside.output));
    CHECK(result(inside.last) == result(outside.last));
    check_gradients(layer::mse(inside.output, fed("y", LoDTensor<double>(values({6, 3}, 2)))));
}

TEST_CASE("a layer within the step of another, at both levels, and its gradients", "[rnn]") {
    for (bool const reverse : {false, true}) {
        DefaultScope scope;
        auto const ids = fed("ids", LoDTensor<std::int64_t>({1, 2, 3, 4, 0, 1, 1, 1, 0, 2, 3, 3}, two_levels));
        auto const table = layer::parameter<double>({5, 2}, {-1, 1}, "table");
        auto const h = layer::rnn_with_last<double>(ids, 3, [&](auto sentence, auto before) {
            auto const words = layer::rnn_with_last<double>(sentence, layer::Memory{.like = before}, [&](auto word, auto state) {
                auto const now = layer::gru_unit(layer::embedding(word, table), state, {.size = 3});
                return layer::Step{now, now};
            }, {.reverse = reverse});
            auto const pooled = layer::sequence_pool(words.output, {.pool = Pooling::mean});
            auto const now = layer::tanh(layer::add(layer::fc(pooled, {.output_size = 3}), words.last));
            return layer::Step{now, now};
        }, {.level = 0});
        check_gradients(layer::mse(h.last, fed("y", LoDTensor<double>(values({4, 3}, 2)))), "table");
    }
}

TEST_CASE("a step may give sequences: the result has the levels of both", "[rnn]") {
    DefaultScope scope;
    LoDTensor<double> batch(values({12, 2}, 1), two_levels);
    batch.value().fill(1);
    auto const x = fed("x", std::move(batch));
    auto const h = layer::rnn(x, 2, [](auto sentence, auto before) {
        auto const words = layer::rnn_with_last(sentence, layer::Memory{.like = before}, [](auto word, auto state) {
            auto const now = layer::add(word, state);
            return layer::Step{now, now};
        });
        return layer::Step{words.output, words.last};
    }, {.level = 0});
    CHECK(h->spec().lod_level == 2);
    auto const net = Net<>::trace_and_build(*h);
    net.run(scope);
    CHECK(result(h).lod() == two_levels);  // the count of words continues over the sentences of a text
    std::vector<double> counts;
    for (std::size_t i = 0; i < 12; ++i) counts.push_back(result(h).value()(i, 1));
    CHECK((counts == std::vector<double>{1, 2, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4}));
}

TEST_CASE("a reduction over the sequences of a step has correct gradients", "[rnn]") {
    DefaultScope scope;
    auto const w = layer::parameter<double>({3, 3}, {-1, 1}, "w");
    auto const h = layer::rnn(layer::fc(fed("x", LoDTensor<double>(values({13, 2}, 1), lod)), {.output_size = 3}), 3, [&](auto x_t, auto before) {
        auto const of_state = layer::apply<reduce_sum_op>({{0}}, before), of_input = layer::apply<reduce_sum_op>({{0}}, x_t);
        auto const now = layer::tanh(layer::add(layer::apply<fc_op>({}, x_t, w, of_state), layer::apply<fc_op>({}, before, w, of_input)));
        return layer::Step{now, now};
    });
    check_gradients(layer::mse(h, fed("y", LoDTensor<double>(values({13, 3}, 2)))));
}

TEST_CASE("a batch in several parts has the results of single sequences, for any number of threads", "[rnn]") {
    inputs::Random random(9);
    std::vector<std::int64_t> lengths(100, 0);  // 3 parts, one of which can have only empty sequences
    for (std::size_t s = 0; s < 70; ++s) lengths[s] = random.below(9);
    Lod const many = Lod::from_lengths({lengths});
    LoDTensor<double> const x(values({static_cast<std::size_t>(many.rows()), 2}, 1), many);
    DefaultScope scope;
    auto const data = fed("x", x.share());
    auto const boot = fed("boot", LoDTensor<double>(values({100, 60}, 4)));  // wide enough for two threads
    auto const h = layer::rnn_with_last(data, layer::Memory{.like = boot}, gru(60), {.reverse = true});
    auto const cost = layer::mse(h.output, fed("y", LoDTensor<double>(values({static_cast<std::size_t>(many.rows()), 60}, 2))));
    auto const gradients = append_backward<double>(*cost);
    std::vector<Variable*> outputs{&*h.output, &*h.last, &*cost};
    for (auto const& g : gradients) outputs.push_back(g.gradient);
    auto const net = Net<>::trace_and_build(outputs);
    initialize(net, 1);
    std::vector<Tensor<double>> first;
    for (int const threads : {1, 2, 3, 8}) {
        net.run(scope, {threads});
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            Tensor<double> const found = dense(outputs[i]->value());
            if (threads == 1) first.push_back(found);
            CHECK(found == first[i]);
        }
    }
    auto const alone = Net<>::trace_and_build(std::array{&*h.output, &*h.last});
    for (std::size_t s = 0; s < 100; s += 7) {
        auto const from = static_cast<std::size_t>(many[0][s]), to = static_cast<std::size_t>(many[0][s + 1]);
        feed(scope, "x", LoDTensor<double>(x.value().slice(from, to), Lod::from_lengths({{static_cast<std::int64_t>(to - from)}})));
        feed(scope, "boot", LoDTensor<double>(values({100, 60}, 4).slice(s, s + 1)));
        alone.run(scope);
        CHECK(result(h.output).value() == Tensor<double>(first[0].slice(from, to)));
        CHECK(result(h.last).value() == Tensor<double>(first[1].slice(s, s + 1)));
    }
}

TEST_CASE("gradients of a batch in parts equal central differences, row-sparse for tables in steps", "[rnn]") {
    std::vector<std::int64_t> lengths(130, 0);
    for (std::size_t s = 0; s < 3; ++s) lengths[40 * s] = static_cast<std::int64_t>(2 + s);  // one of 4 parts has no rows
    DefaultScope scope;
    auto const ids = fed("ids", LoDTensor<std::int64_t>({1, 2, 3, 1, 0, 2, 3, 3, 1}, Lod::from_lengths({lengths})));
    auto const table = layer::parameter<double>({4, 2}, {-1, 1}, "table");
    auto const h = layer::rnn_with_last<double>(ids, layer::Memory{.like = layer::fc(fed("z", LoDTensor<double>(values({130, 2}, 3))), {.output_size = 2})}, [&](auto id, auto before) {
        auto const now = layer::gru_unit(layer::embedding(id, table), before, {.size = 2});
        return layer::Step{now, now};
    });
    check_gradients(layer::mse(h.last, fed("y", LoDTensor<double>(values({130, 2}, 2)))), "table");
}

TEST_CASE("an error in one part is the first one's, for any number of threads", "[rnn]") {
    DefaultScope scope;
    std::vector<std::int64_t> words(128, 1);
    words[37] = 9999;
    words[90] = -1;
    auto const ids = fed("ids", LoDTensor<std::int64_t>(Tensor<std::int64_t>(LoDTensor<std::int64_t>::from_nested({words}).value()), Lod::from_lengths({std::vector<std::int64_t>(64, 2)})));
    auto const table = layer::parameter<double>({8192, 2}, {-1, 1}, "table");  // large enough for two threads
    auto const h = layer::rnn<double>(ids, 2, [&](auto id, auto before) {
        auto const now = layer::add(layer::embedding(id, table), before);
        return layer::Step{now, now};
    });
    auto const net = Net<>::trace_and_build(*h);
    initialize(net, 1);
    for (int const threads : {1, 2}) {
        CHECK_THROWS_WITH(net.run(scope, {threads}), "rnn(x = [ids, table]): step 1 of sequence 18: lookup_table(w = table, ids = x): ids[37] = 9999 is not in [0, 8192)");
    }
}

TEST_CASE("an error within a step names the step, and the sequence if it is that of an id", "[rnn]") {
    DefaultScope scope;
    auto const table = layer::parameter<double>({4, 2}, {-1, 1}, "table");
    auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
    auto const boot = layer::data<double>("boot", {UNK, UNK});
    auto const h = layer::rnn<double>(ids, layer::Memory{.like = boot}, [&](auto id, auto before) {
        auto const now = layer::add(before, layer::embedding(id, table));
        return layer::Step{now, now};
    }, {.reverse = true});
    auto const net = Net<>::trace_and_build(*h);
    initialize(net, 1);
    feed(scope, "boot", LoDTensor<double>(values({3, 2}, 1)));
    feed(scope, "ids", LoDTensor<std::int64_t>({1, 1, 1, 9, 2, 1}, Lod{{0, 1, 6, 6}}));
    try {
        net.run(scope);
        FAIL();
    } catch (IndexError const& e) {  // the third of five words is in step 2 from both ends
        CHECK((e.position() == 3 && e.value() == 9 && e.bound() == 4));
        CHECK(e.what() == std::string("rnn(x = [ids, boot, table]): step 2 of sequence 1: lookup_table(w = table, ids = x): ids[3] = 9 is not in [0, 4)"));
    }
    feed(scope, "ids", LoDTensor<std::int64_t>({1, 1}, Lod{{0, 1, 2, 2}}));
    feed(scope, "boot", LoDTensor<double>(values({3, 3}, 1)));
    CHECK_THROWS_AS(net.run(scope), ShapeError);
    CHECK_THROWS_WITH(net.run(scope), Catch::Matchers::StartsWith("rnn(x = [ids, boot, table]): step 0: add(x = before, y = "));
}

TEST_CASE("an error within a step names the sequence also if the step reads sentences", "[rnn]") {
    DefaultScope scope;
    auto const table = layer::parameter<double>({4, 2}, {-1, 1}, "table");
    auto const h = layer::rnn<double>(layer::data<std::int64_t>("words", {UNK}, 2), 2, [&](auto sentence, auto before) {
        auto const now = layer::add(before, layer::sequence_pool(layer::embedding(sentence, table)));
        return layer::Step{now, now};
    }, {.level = 0});
    auto const net = Net<>::trace_and_build(*h);
    initialize(net, 1);
    feed(scope, "words", LoDTensor<std::int64_t>({1, 2, 1, 3, 9, 0}, Lod::from_lengths({{1, 3}, {1, 2, 0, 3}})));
    CHECK_THROWS_WITH(net.run(scope), Catch::Matchers::StartsWith("rnn(x = [words, table]): step 2 of sequence 1: lookup_table(w = table, ids = x): ids["));
}

TEST_CASE("a state whose width changes in a step is refused at that step", "[rnn]") {
    DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2}, 1);
    auto const boot = layer::data<double>("boot", {UNK, UNK});
    auto const wider = layer::rnn(x, {layer::Memory{.size = 2}, layer::Memory{.like = boot}}, [](auto x_t, auto before) {
        return layer::Step{x_t, {x_t, layer::concat({before[1], x_t}, {.axis = 1})}};
    });
    auto const fixed = layer::rnn_with_last(x, layer::Memory{.like = boot}, [](auto x_t, auto) { return layer::Step{x_t, x_t}; });
    auto const net = Net<>::trace_and_build(*wider), other = Net<>::trace_and_build(*fixed.last);
    feed(scope, "x", LoDTensor<double>(values({3, 2}, 1), Lod{{0, 1, 3}}));
    feed(scope, "boot", LoDTensor<double>(values({2, 3}, 2)));
    CHECK_THROWS_WITH(net.run(scope), "rnn(x = [x, boot]): step 0: the shape of a row of the state before_1 is [5], expected [3], that before the step");
    CHECK_THROWS_WITH(other.run(scope), "rnn(x = [x, boot]): step 0: the shape of a row of the state before is [2], expected [3], that before the step");
    feed(scope, "boot", LoDTensor<double>(values({2, 2}, 2)));
    other.run(scope);
    CHECK(fixed.last->spec() == tensor_spec<double>({UNK, 2}));
    CHECK_THROWS_WITH(layer::rnn(x, {layer::Memory{.size = 2}, layer::Memory{.size = 3}}, [](auto x_t, auto) { return layer::Step{x_t, {x_t, x_t}}; }),
                      "layer::rnn: the width of the state before_1 after a step is 2, expected 3");
}

namespace {

/// An operator that adds a column, of which its spec does not tell.
struct widen_op {
    static constexpr std::string_view name = "widen";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = no_grad;
    static constexpr VarSpec infer(VarSpec const& x) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x) {
        return Tensor<T, D>::zeros({x.shape(0), x.shape(1) + 1});
    }
};

}  // namespace

TEST_CASE("a step that breaks a declared width is refused by the step and the state, or the output", "[rnn]") {
    for (bool const state : {true, false}) {
        DefaultScope scope;
        auto const h = layer::rnn(layer::data<double>("x", {UNK, 2}, 1), 2, [=](auto x_t, auto before) {
            auto const now = layer::add(x_t, before), wide = layer::apply<widen_op>({}, now);
            return state ? layer::Step{now, wide} : layer::Step{wide, now};
        });
        auto const net = Net<>::trace_and_build(*h);
        feed(scope, "x", LoDTensor<double>(values({3, 2}, 1), Lod{{0, 1, 3}}));
        CHECK_THROWS_WITH(net.run(scope), state ? "rnn(x): step 0: the shape of a row of the state before is [3], expected [2], that before the step"
                                                : "rnn(x): step 0: the shape of a row of the output widen_0.out_0 is [3], expected [2], as declared");
    }
}

TEST_CASE("without rows, the step gives the widths that are not known before", "[rnn]") {
    for (std::size_t const sequences : {0U, 3U, 100U}) {  // 100: three parts
        DefaultScope scope;
        auto const x = fed("x", LoDTensor<double>(Tensor<double>::from_shape({0, 2}), Lod::from_lengths({std::vector<std::int64_t>(sequences)})));
        auto const more = layer::data<double>("more", {UNK, UNK});
        feed(scope, "more", LoDTensor<double>(values({sequences, 3}, 1)));
        auto const boot = layer::concat({layer::fc(fed("z", LoDTensor<double>(values({sequences, 2}, 2))), {.output_size = 2}), more}, {.axis = 1});
        auto const h = layer::rnn_with_last(x, layer::Memory{.like = boot}, [](auto x_t, auto before) {
            return layer::Step{layer::concat({before, x_t, before}, {.axis = 1}), layer::tanh(before)};
        });
        auto const net = Net<>::trace_and_build(std::array{&*h.output, &*h.last, &*boot});
        initialize(net, 1);
        net.run(scope);
        CHECK(result(h.output).shape() == Tensor<double>::shape_type{0, 12});
        CHECK(result(h.output).lod() == result(x).lod());
        CHECK(result(h.last) == result(boot));
        if (sequences == 3) check_gradients(layer::mse(h.last, fed("y", LoDTensor<double>(values({3, 5}, 3)))));
    }
}

TEST_CASE("a gradient need not bring the levels of the results", "[rnn]") {
    for (bool const first : {false, true}) {
        DefaultScope scope;
        auto const x = layer::fc(fed("x", LoDTensor<double>(values({12, 2}, 1), two_levels)), {.output_size = 2});
        auto const h = layer::rnn(x, 2, [](auto sentence, auto before) {
            auto const words = layer::rnn_with_last(sentence, layer::Memory{.like = before}, gru(2));
            return layer::Step{words.output, words.last};
        }, {.level = 0});
        auto const y = fed("y", LoDTensor<double>(values({12, 2}, 2)));  // without levels
        check_gradients(first ? layer::mse(y, h) : layer::mse(h, y));
    }
}

TEST_CASE("two costs of one layer have separate gradients", "[rnn]") {
    DefaultScope scope;
    auto const h = layer::rnn(fed("x", LoDTensor<double>(values({13, 2}, 1), lod)), 3, gru(3));
    auto const a = layer::mse(h, fed("a", LoDTensor<double>(values({13, 3}, 2)))), b = layer::mse(h, fed("b", LoDTensor<double>(values({13, 3}, 3))));
    auto const of_a = append_backward<double>(*a), of_b = append_backward<double>(*b);
    std::vector<Variable*> both, alone;
    for (auto const& g : of_a) both.push_back(g.gradient);
    for (auto const& g : of_b) both.push_back(g.gradient);
    for (auto const& g : of_b) alone.push_back(g.gradient);
    auto const net = Net<>::trace_and_build(both), only = Net<>::trace_and_build(alone);
    initialize(net, 1);
    net.run(scope);
    std::vector<Tensor<double>> found;
    for (auto const& g : of_b) found.push_back(dense(g.gradient->value()));
    CHECK_FALSE(found[0] == dense(of_a[0].gradient->value()));
    only.run(scope);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == dense(of_b[i].gradient->value()));
}

TEST_CASE("an operator on all sequences of a step works in large batches, too", "[rnn]") {
    for (std::size_t const n : {63u, 64u, 200u}) {
        DefaultScope scope;
        Lod const one = Lod::from_lengths({std::vector<std::int64_t>(n, 1)});
        auto const x = fed("x", LoDTensor<double>(Tensor<double>::full({n, 1}, 1.0), one));
        auto const h = layer::rnn(x, 1, [](auto x_t, auto before) {
            auto const all = layer::apply<expand_rows_op>({}, layer::apply<reduce_sum_op>({{0}}, x_t), before);
            return layer::Step{all, all};
        });
        Net<>::trace_and_build(*h).run(scope);
        CHECK(result(h).value()(0, 0) == static_cast<double>(n));
    }
}

TEST_CASE("a reduction that only the result needs is computed in each step", "[rnn]") {
    DefaultScope scope;
    auto const w = layer::parameter<double>({2, 2}, {-1, 1}, "w");
    auto const x = layer::fc(fed("x", LoDTensor<double>(values({13, 2}, 1), lod)), {.output_size = 2});
    auto const h = layer::rnn(x, 2, [&](auto x_t, auto before) {
        return layer::Step{layer::apply<fc_op>({}, x_t, w, layer::apply<reduce_sum_op>({{0}}, before)), layer::add(x_t, before)};
    });
    check_gradients(layer::mse(h, fed("y", LoDTensor<double>(values({13, 2}, 2)))));
}

TEST_CASE("a step, or a part of a batch, whose inner sequences are all empty", "[rnn]") {
    auto const check = [](Lod const& texts, std::size_t n) {
        DefaultScope scope;
        auto const words = static_cast<std::size_t>(texts.rows());
        auto ids = Tensor<std::int64_t>::from_shape({words});
        for (std::size_t i = 0; i < words; ++i) ids.data()[i] = static_cast<std::int64_t>(i % 4);
        auto const table = layer::parameter<double>({4, 2}, {-1, 1}, "table");
        auto const h = layer::rnn_with_last<double>(fed("ids", LoDTensor<std::int64_t>(std::move(ids), texts)), 2, [&](auto sentence, auto before) {
            auto const inner = layer::rnn_with_last<double>(sentence, layer::Memory{.like = before}, [&](auto word, auto state) {
                auto const now = layer::gru_unit(layer::embedding(word, table), state, {.size = 2});
                return layer::Step{now, now};
            });
            return layer::Step{inner.last, inner.last};
        }, {.level = 0});
        check_gradients(layer::mse(h.last, fed("y", LoDTensor<double>(values({n, 2}, 2)))), "table");
    };
    check(Lod::from_lengths({{2}, {3, 0}}), 1);
    std::vector<std::int64_t> words(64, 0);
    for (std::size_t s = 0; s < 64; s += 32) words[s] = 3;
    check(Lod::from_lengths({std::vector<std::int64_t>(64, 1), words}), 64);
}

}  // namespace test_rnn
