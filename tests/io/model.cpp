// tests/io/model.cpp
#include <rowan/io/model.hpp>

#include "finite_differences.hpp"

#include <rowan/layer/batch_norm.hpp>
#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/matmul.hpp>
#include <rowan/train/predictor.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/train/train.hpp>
#include <rowan/layer/while_loop.hpp>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace test_model {

namespace {

using namespace rowan;

struct File {
    std::string path = std::string("rowan_model_").append(std::to_string(::getpid())).append(".rowan");  // test cases run in parallel
    ~File() { std::remove(path.c_str()); }

    std::string read() const {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void write(std::string const& bytes) const {
        std::ofstream(path, std::ios::binary) << bytes;
    }
};

/// A recurrent net whose layers are created in one of two orders.
layer::Var<float> build(Scope& scope, bool backwards = false, std::int64_t size = 4) {
    ScopeGuard const guard(scope);
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const rows = layer::embedding(words, {.height = 6, .width = 3, .name = "table"});
    auto const run = layer::rnn_with_last(rows, size, [&](auto x_t, auto before) {
        auto const now = layer::gru_unit(x_t, before, {.size = size});
        return layer::Step{now, now};
    });
    auto const arm = [&] { return layer::fc(run.last, {.output_size = 2}); };
    auto const first = arm();
    auto const second = arm();
    return backwards ? layer::sub(second, first) : layer::sub(first, second);
}

Feeds const batch{{"words", LoDTensor<std::int64_t>::from_nested({{1, 2, 3}, {5}, {4, 0}})}};

Parameters trained(layer::Var<float> const& predict) {
    ScopeGuard const guard(predict->scope());
    auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
    Feeds feeds = batch;
    feeds.emplace("y", Tensor<float>{{1, 2}, {3, 4}, {5, 6}});
    return train(cost, [&](std::int64_t) { return std::vector{feeds}; }, {.optimizer = layer::AdaGrad{.learning_rate = 0.1}, .epochs = 3});
}

}  // namespace

TEST_CASE("a saved and loaded model has the same bits", "[io]") {
    File const file;
    Scope scope, other, swapped;
    auto const predict = build(scope);
    auto const parameters = trained(predict);
    auto const want = infer(predict, batch, parameters);
    save_model(predict, parameters, file.path);
    Predictor const loaded(load_model(file.path));  // keeps the scope of the net
    CHECK(loaded(batch) == want);

    auto const again = build(other);
    CHECK(infer(again, batch, load_model(again, file.path)) == want);
    auto const in_another_order = build(swapped, true);
    CHECK(infer(in_another_order, batch, load_model(in_another_order, file.path)) == want);

    auto const bytes = file.read();
    Scope not_run;
    save_parameters(parameters, file.path);
    save_model(build(not_run), load_parameters(file.path), file.path);
    CHECK(file.read() == bytes);

    save_model(again, [](std::int64_t) { return std::vector<Feeds>(); }, load_model(again, file.path), file.path);
    CHECK(file.read() == bytes);
}

TEST_CASE("a net of double with a recurrent layer is loaded without a net", "[io]") {
    File const file;
    Scope scope;
    ScopeGuard const guard(scope);
    auto const states = layer::rnn(layer::data<double>("x", {UNK, 2}, 1), 2, [](auto x_t, auto before) {
        auto const now = layer::add(x_t, before);
        return layer::Step{now, now};
    });
    auto const predict = layer::fc(states, {.output_size = 1});
    Feeds const x{{"x", LoDTensor<double>({{1, 2}, {3, 4}}, Lod{{0, 2}})}, {"y", Tensor<double>{{1}, {2}}}};
    auto const cost = layer::mse(predict, layer::data<double>("y", {UNK, 1}));
    auto const parameters = train(cost, [&](std::int64_t) { return std::vector{x}; });
    save_model(predict, parameters, file.path);
    Feeds const asked{{"x", LoDTensor<double>({{1, 2}, {3, 4}}, Lod{{0, 2}})}};
    auto const model = load_model<forward_ops, dtypes<double>>(file.path);
    CHECK(infer(model.predict, asked, model.parameters) == infer(predict, asked, parameters));
}

TEST_CASE("a model trained with dropout predicts without it, in its own net and in one without dropout", "[io]") {
    File const file;
    auto const make = [](Scope& scope, bool drops) {
        ScopeGuard const guard(scope);
        auto const h = layer::tanh(layer::fc(layer::data("x", {UNK, 3}), {.output_size = 8}));
        return layer::fc(drops ? layer::dropout(h) : h, {.output_size = 2});
    };
    Scope first, second, third;
    auto const predict = make(first, true);
    Feeds const x{{"x", Tensor<float>{{1, 2, 3}, {-1, 0, 1}}}};
    auto const parameters = [&] {
        ScopeGuard const guard(first);
        auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
        Feeds feeds = x;
        feeds.emplace("y", Tensor<float>{{1, 2}, {3, 4}});
        return train(cost, [&](std::int64_t) { return std::vector{feeds, feeds}; }, {.epochs = 3});
    }();
    auto const want = infer(predict, x, parameters);
    save_model(predict, parameters, file.path);
    auto const again = make(second, true), plain = make(third, false);
    CHECK(infer(again, x, load_model(again, file.path)) == want);
    CHECK(infer(plain, x, load_model(plain, file.path)) == want);
}

TEST_CASE("a model carries the moving statistics of batch_norm, and training resumes with them", "[io]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const predict = layer::batch_norm(layer::fc(layer::data<float>("x", {UNK, 2}), {.output_size = 3}));
    auto const cost = layer::mse(predict, layer::data<float>("y", {UNK, 3}));
    Feeds const data{{"x", Tensor<float>{{1, 2}, {-1, 4}, {0, 3}}}, {"y", Tensor<float>{{1, 2, 1}, {3, 0, 1}, {1, 0, 1}}}};
    auto const reader = [&](std::int64_t) { return std::vector{data}; };
    auto const run = [&](Parameters const* resume, std::int64_t epochs) { return train(cost, reader, {.epochs = epochs, .resume = resume}); };
    auto const half = run(nullptr, 3), whole = run(nullptr, 6);
    File const model, states{"rowan_states_" + std::to_string(::getpid())};
    save_model(predict, whole, model.path);
    save_parameters(half, states.path);
    auto const want = infer(predict, data, whole);
    CHECK(Predictor<float>(load_model(model.path))(data) == want);
    CHECK(infer(predict, data, load_model(predict, model.path)) == want);
    auto const loaded = load_parameters(states.path);
    CHECK(infer(predict, data, run(&loaded, 3)) == want);
    CHECK(infer(predict, data, half) != want);

    // a loaded net is trained further with its statistics
    auto const again = load_model(model.path);
    ScopeGuard const other(*again.scope);
    auto const more = layer::mse(again.predict, layer::data<float>("y", {UNK, 3}));
    Feeds initial;
    for (auto const& [name, value] : again.parameters) initial.emplace(name, value);
    auto const trained = train(more, reader, {.optimizer = layer::Sgd{}, .initial = initial});
    CHECK(trained.get<float>("batch_norm_0.mean_0") != again.parameters.get<float>("batch_norm_0.mean_0"));
}

TEST_CASE("a model of 16-bit elements is loaded with the moving statistics, which are floats", "[io]") {
    File const file;
    Scope scope;
    ScopeGuard const guard(scope);
    auto const norm = layer::batch_norm(layer::data<bfloat16>("x", {UNK, 1}), {.scale = false, .shift = false, .name = "norm"});
    Value mean, variance;
    mean.set(LoDTensor<float>(Tensor<float>{1.0009765625F}));
    variance.set(LoDTensor<float>(Tensor<float>{4}));
    Parameters parameters;
    parameters.set("norm.mean_0", std::move(mean));
    parameters.set("norm.variance_0", std::move(variance));
    save_model(norm, parameters, file.path);
    auto const model = load_model<registry<batch_norm_op>, dtypes<bfloat16>>(file.path);
    CHECK(model.parameters.get<float>("norm.mean_0") == Tensor<float>{1.0009765625F});
    Feeds const x{{"x", Tensor<bfloat16>{{bfloat16(1)}, {bfloat16(2)}}}};
    CHECK(infer(model.predict, x, model.parameters) == infer(norm, x, parameters));
}

TEST_CASE("files of another net, damaged files and missing files throw", "[io]") {
    File const file;
    Scope scope, other;
    auto const predict = build(scope);
    auto const parameters = trained(predict);
    save_model(predict, parameters, file.path);
    auto const bytes = file.read();

    CHECK_THROWS_AS(load_model(build(other, false, 5), file.path), ShapeError);
    {
        Scope plain;
        ScopeGuard const guard(plain);
        auto const fc = layer::fc(layer::data("x", {UNK, 4}), {.output_size = 2});
        CHECK_THROWS_AS(load_model(fc, file.path), GraphError);
        CHECK_THROWS_WITH(load_model(fc, file.path), file.path + " has a parameter \"fc_1.b_0\", which this net does not have: the file belongs to another net");
    }
    for (std::size_t n = 0; n < bytes.size(); n += n < 200 ? 1 : 37) {
        file.write(bytes.substr(0, n));
        CHECK_THROWS_AS(load_model(predict, file.path), FormatError);
    }
    int refused = 0;
    for (std::size_t n = 0; n + 8 <= 300; ++n) {  // R24: counts, ranks and dims that no file of this size can have
        std::string absurd = bytes;
        for (std::size_t i = 0; i < 8; ++i) absurd[n + i] = i == 7 ? '\x7f' : '\xff';
        file.write(absurd);
        try {
            load_model(predict, file.path);  // if the changed byte belongs to a value
        } catch (Error const&) {
            ++refused;
        }
    }
    CHECK(refused > 100);
    file.write(bytes + "x");
    CHECK_THROWS_AS(load_model(predict, file.path), FormatError);
    file.write(std::string(64, 'x'));
    CHECK_THROWS_WITH(load_model(predict, file.path), "byte 0: " + file.path + " is not a file of rowan");
    CHECK_THROWS_AS(load_model(predict, "no/such/file"), IoError);
    CHECK_THROWS_AS(save_model(predict, parameters, "no/such/file"), IoError);
    CHECK_THROWS_AS(save_model(predict, Parameters(), file.path), GraphError);
    Parameters without = parameters.share();
    without.set("table", Value());
    CHECK_THROWS_WITH(save_model(predict, without, file.path), "table is nothing, expected a tensor");
    CHECK_THROWS_WITH(save_parameters(without, file.path), "table is nothing, expected a tensor");
    CHECK_THROWS_WITH(without.get<float>("table"), "table is nothing, expected LoDTensor<f32>");
}

TEST_CASE("saved training resumes as if it had not stopped", "[io]") {
    File const file;
    Scope whole, halves;
    auto const make = [](Scope& scope) {
        ScopeGuard const guard(scope);
        return layer::mse(layer::tanh(layer::fc(layer::data("x", {UNK, 3}), {.output_size = 2})), layer::data("y", {UNK, 2}));
    };
    Feeds const feeds{{"x", Tensor<float>{{1, 2, 3}, {-1, 0, 1}}}, {"y", Tensor<float>{{1, 2}, {3, 4}}}};
    auto const reader = [&](std::int64_t) { return std::vector{feeds, feeds}; };
    auto const want = train(make(whole), reader, {.optimizer = layer::Adam{}, .epochs = 4});

    auto const cost = make(halves);
    save_parameters(train(cost, reader, {.optimizer = layer::Adam{}, .epochs = 1}), file.path);
    auto const saved = load_parameters(file.path);
    CHECK(saved.steps == 2);
    auto const found = train(cost, reader, {.optimizer = layer::Adam{}, .epochs = 3, .resume = &saved});
    REQUIRE(found.size() == want.size());
    for (auto const& [name, value] : want) CHECK(found.find(name).template get<LoDTensor<float>>() == value.template get<LoDTensor<float>>());
    CHECK_THROWS_AS(load_model(cost, file.path), GraphError);

    for (auto const& steps : {Tensor<std::int64_t>::from_shape({0}), Tensor<std::int64_t>{-5}, Tensor<std::int64_t>{1, 2}}) {
        Checkpoint c;
        c.add("@steps", steps);
        save_checkpoint(c, file.path);
        CHECK_THROWS_AS(load_parameters(file.path), FormatError);
    }
    Parameters with_levels;
    Value sentences;
    sentences.set(LoDTensor<float>::from_nested({{1, 2}, {}, {3}}));
    with_levels.set("x", std::move(sentences));
    save_parameters(with_levels, file.path);
    CHECK(load_parameters(file.path).find("x").lod() == Lod{{0, 2, 2, 3}});
}

TEST_CASE("a loaded net runs within limits of memory and of iterations, or throws", "[io]") {
    File const file;
    std::vector<std::int64_t> lengths(100, 1);  // an rnn runs so many sequences in parts
    lengths[0] = 3;
    Feeds const x{{"x", LoDTensor<float>(Tensor<float>::full({102, 1}, 1), Lod::from_lengths({lengths}))}};
    auto const run = [&](auto const& build, Limits const& limits) -> std::string {
        Scope scope;
        {
            ScopeGuard const guard(scope);
            save_model(build(layer::data("x", {UNK, 1}, 1)), Parameters(), file.path);
        }
        auto const model = load_model(file.path, {.limits = limits});
        Feeds const feeds = model.scope->find("x") == nullptr ? Feeds() : x;
        try {
            auto const first = infer(model.predict, feeds, model.parameters);
            CHECK(infer(model.predict, feeds, model.parameters) == first);
        } catch (ValueError const& e) {
            return e.what();
        }
        return "";
    };
    auto const large = [](auto) { return layer::reduce_sum(layer::full<float>({1 << 16, 1 << 16}, 1), {.axes = {0}}); };
    CHECK(run(large, {.bytes = 1'000'000}) == "full_f32(): the memory of the run is 17179869184, expected at most 1000000 bytes");
    auto const many = [](auto) {  // 32 values of 40,000 bytes, all needed by the last operator
        std::vector<layer::Var<float>> parts;
        for (int i = 0; i < 32; ++i) parts.push_back(layer::full<float>({10'000}, 1));
        return layer::sum(parts);
    };
    CHECK(run(many, {.bytes = 1'000'000}).starts_with("full_f32(): the memory of the run is 10"));
    CHECK(run(many, {.bytes = 1'500'000}) == "");
    auto const chain = [](auto) {  // 40 values of 40,000 bytes, of which two are needed at a time
        auto sum = layer::full<float>({10'000}, 1);
        for (int i = 0; i < 40; ++i) sum = layer::sum(std::vector{sum, sum});
        return sum;
    };
    CHECK(run(chain, {.bytes = 500'000}) == "");

    auto const loops = [](auto) {  // 30 times 30
        auto const start = [] { return layer::full<float>({1}, 0); };
        auto const count = [](auto const& i, auto const& body) { return layer::while_loop(i, [](auto const& k) { return layer::any(layer::less(k, 30)); }, body); };
        auto const next = [](auto const& k) { return layer::scale(k, 1, 1); };
        return count(start(), [&](auto const& i) { return layer::sum({next(i), layer::scale(count(start(), next), 0)}); });
    };
    CHECK(run(loops, {}) == "");
    CHECK(run(loops, {.iterations = 930}) == "");
    CHECK(run(loops, {.iterations = 929}).find("the number of iterations and steps of the run is 930, expected at most 929") != std::string::npos);
    CHECK(run(loops, {.iterations = 929}).starts_with("while_loop("));
    auto const steps = [](auto const& data) { return layer::rnn(data, 1, [](auto x_t, auto before) { return layer::Step{layer::add(x_t, before), layer::add(x_t, before)}; }); };
    CHECK(run(steps, {.iterations = 3}) == "");
    CHECK(run(steps, {.iterations = 2}).starts_with("rnn("));
    auto const wide = [](auto const& data) {
        auto const row = layer::full<float>({1, 20'000}, 1);
        return layer::rnn(data, 1, [&](auto x_t, auto) {
            auto const sum = layer::reduce_sum(layer::matmul(x_t, row), {.axes = {-1}, .keep_dims = true});
            return layer::Step{sum, sum};
        });
    };
    CHECK(run(wide, {.bytes = 1'000'000}).find("the memory of the run") != std::string::npos);
}

}  // namespace test_model
