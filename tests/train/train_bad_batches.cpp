// tests/train/train_bad_batches.cpp: invalid batches: the error names operator and variable, parameters and optimizer
// states keep all bits, and the next valid batch trains as if there had been no error.
#include "layer/check_net.hpp"

#include <rowan/io/model.hpp>
#include <rowan/layer.hpp>
#include <rowan/train.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <typeinfo>
#include <vector>

namespace test_train_bad_batches {

namespace {

using namespace rowan;
using Words = LoDTensor<std::int64_t>;

/// Names and bytes of all values.
std::map<std::string, std::string> bits(Parameters const& parameters) {
    std::map<std::string, std::string> found;
    for (auto const& [name, value] : parameters) {
        Value alias = value.share();
        auto const e = alias.elements();
        found[name] = std::string(reinterpret_cast<char const*>(e.bytes.data()), e.bytes.size());
    }
    return found;
}

/// Words -> rows of a table -> GRU, numbers of each sentence -> fc; their sum -> scores -> loss.
/// `within`: the table is looked up inside each step.
struct Model {
    Scope scope;
    Variable *predict, *cost;

    explicit Model(bool within) {
        ScopeGuard const guard(scope);
        auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
        auto const table = layer::embedding_table<float>({.height = 7, .width = 3, .name = "table"});
        auto const gru = [](auto x, auto before) {
            auto const now = layer::gru_unit(x, before, {.size = 4});
            return layer::Step{now, now};
        };
        auto const state = within ? layer::rnn_with_last(words, 4, [&](auto id, auto before) { return gru(layer::embedding(id, table), before); })
                                  : layer::rnn_with_last(layer::embedding(words, table), 4, gru);
        auto const numbers = layer::fc(layer::data("numbers", {UNK, 2}), {.output_size = 4});
        auto const scores = layer::fc(layer::add(state.last, numbers), {.output_size = 3});
        predict = &*scores;
        cost = &*layer::cross_entropy(scores, layer::data<std::int64_t>("label", {UNK}));
    }
    layer::Var<float> scores() const { return layer::Var<float>(*predict); }
};

Feeds batch(Words words, Tensor<float> numbers, Tensor<std::int64_t> label) {
    return {{"words", std::move(words)}, {"numbers", std::move(numbers)}, {"label", std::move(label)}};
}
Feeds const good[] = {batch(Words::from_nested({{1, 2, 6}, {}, {3}}), {{1, 2}, {3, 4}, {5, 6}}, {0, 2, 1}),
                      batch(Words::from_nested({{5, 5}, {0, 6, 2, 2}}), {{-1, 0}, {0.5, 4}}, {1, 2}),
                      batch(Words::from_nested({{4}, {1, 3}, {2}}), {{0, 0}, {1, 1}, {2, 2}}, {2, 2, 0})};

Feeds without(Feeds feeds, std::string const& name) {
    feeds.erase(name);
    return feeds;
}
Feeds with(Feeds feeds, std::string const& name, Feed value) {
    feeds.insert_or_assign(name, std::move(value));
    return feeds;
}

/// Trains three batches and returns the parameters. Calls `bad` in between, which must throw and change nothing.
std::map<std::string, std::string> trained(bool within, layer::Optimizer const& optimizer,
                                           std::function<void(Model&, Trainer<float>&)> const& bad) {
    Model model(within);
    ScopeGuard const guard(model.scope);
    Trainer trainer(layer::Var<float>(*model.cost), {.optimizer = optimizer, .optimizers = {{"table", layer::AdaGrad{.learning_rate = 0.5}}}, .seed = 3});
    trainer.step(good[0]);
    auto const before = bits(trainer.parameters());
    auto const steps = trainer.parameters().steps;
    if (bad) {
        CHECK_THROWS_AS(bad(model, trainer), Error);
        CHECK((bits(trainer.parameters()) == before));
        CHECK(trainer.parameters().steps == steps);
    }
    trainer.step(good[1]);
    CHECK(!(bits(trainer.parameters()) == before));
    if (bad) CHECK_THROWS_AS(bad(model, trainer), Error);
    trainer.step(good[2]);
    return bits(trainer.parameters());
}

float const nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
Tensor<float> const three{{1, 2}, {3, 4}, {5, 6}};

struct Bad {
    char const* what;
    Feeds feeds;
    bool (*type)(Error const&);
    char const* text[2];  // if the table is looked up before the steps; inside them, if different
};

template <class E>
bool is(Error const& e) {
    return typeid(e) == typeid(E);
}
bool any(Error const&) { return true; }

std::vector<Bad> bad_batches() {
    std::vector<Bad> all;
    auto const add = [&](char const* what, Feeds feeds, bool (*type)(Error const&), char const* before, char const* within) {
        all.push_back({what, std::move(feeds), type, {before, within}});
    };
    Feeds const& g = good[0];
    add("no words", without(g, "words"), is<GraphError>, "the batch has no \"words\"; it has \"", nullptr);
    add("no label", without(g, "label"), is<GraphError>, "the batch has no \"label\"; it has \"", nullptr);
    add("an id outside the table", with(g, "words", Words::from_nested({{1, 2, 6}, {}, {7}})), is<IndexError>,
        "lookup_table(w = table, ids = words): ids[3] = 7 is not in [0, 7)",
        "): step 0 of sequence 2: lookup_table(w = table, ids = x): ids[3] = 7 is not in [0, 7)");
    add("a negative id in a last step", with(g, "words", Words::from_nested({{1, 2, -1}, {}, {3}})), is<IndexError>, nullptr, nullptr);
    add("a label outside the classes", with(g, "label", Tensor<std::int64_t>{0, 2, 3}), is<IndexError>,
        "cross_entropy(x = fc_1.out_0, label): label[2] = 3 is not in [0, 3)", nullptr);
    add("a NaN", with(g, "numbers", Tensor<float>{{1, 2}, {nan, 4}, {5, 6}}), is<ValueError>,
        "the cost cross_entropy_0.out_0 is nan, expected a finite number", nullptr);
    add("an infinity", with(g, "numbers", Tensor<float>{{1, 2}, {inf, 4}, {5, 6}}), is<ValueError>, nullptr, nullptr);

    add("words without levels", with(g, "words", Tensor<std::int64_t>{1, 2, 3}), any, nullptr, nullptr);
    add("words with two levels", with(g, "words", Words({1, 2, 3}, Lod{{0, 1, 2, 3}, {0, 1, 2, 3}})), any, nullptr, nullptr);
    add("words in columns", with(g, "words", Words(Tensor<std::int64_t>{{1}, {2}, {3}}, Lod{{0, 1, 2, 3}})), any, nullptr, nullptr);
    add("words that are fractions", with(g, "words", LoDTensor<float>({1, 2, 3}, Lod{{0, 1, 2, 3}})), any, nullptr, nullptr);
    add("words of 32 bits", with(g, "words", LoDTensor<std::int32_t>({1, 2, 3}, Lod{{0, 1, 2, 3}})), any, nullptr, nullptr);
    add("numbers of another width", with(g, "numbers", Tensor<float>{{1, 2, 3}, {3, 4, 5}, {5, 6, 7}}), any, nullptr, nullptr);
    add("numbers in another type", with(g, "numbers", Tensor<double>{{1, 2}, {3, 4}, {5, 6}}), any, nullptr, nullptr);
    add("numbers for too many sentences", with(g, "numbers", Tensor<float>{{1, 2}, {3, 4}, {5, 6}, {7, 8}}), any, nullptr, nullptr);
    add("numbers of rank 1", with(g, "numbers", Tensor<float>{1, 2, 3}), any, nullptr, nullptr);
    add("too few labels", with(g, "label", Tensor<std::int64_t>{0, 2}), any, nullptr, nullptr);
    add("labels of rank 2", with(g, "label", Tensor<std::int64_t>{{0, 2, 1}, {0, 2, 1}}), any, nullptr, nullptr);
    return all;
}

}  // namespace

TEST_CASE("a bad batch during training throws a clear error and changes no bit of any parameter", "[layer][bad]") {
    for (bool const within : {false, true}) {
        for (auto const& optimizer : {layer::Optimizer(layer::Adam{.learning_rate = 0.1}), layer::Optimizer(layer::Momentum{})}) {
            auto const want = trained(within, optimizer, {});
            for (Bad const& bad : bad_batches()) {
                CAPTURE(within, bad.what);
                auto const got = trained(within, optimizer, [&](Model&, Trainer<float>& trainer) {
                    try {
                        trainer.step(bad.feeds);
                    } catch (Error const& e) {
                        CHECK(bad.type(e));
                        char const* const text = within && bad.text[1] != nullptr ? bad.text[1] : bad.text[0];
                        if (text != nullptr) CHECK_THAT(e.what(), Catch::Matchers::ContainsSubstring(text));
                        throw;
                    }
                });
                CHECK((got == want));
            }
        }
    }
}

TEST_CASE("a question that a net cannot answer does not disturb its training", "[layer][bad]") {
    std::string const file = std::string("rowan_bad_batches_").append(std::to_string(::getpid())).append(".rowan");
    auto const want = trained(true, layer::Adam{}, {});
    for (Bad const& bad : bad_batches()) {
        if (bad.feeds.size() < 3 || std::string(bad.what).find("label") != std::string::npos || bad.type == &is<ValueError> ||
            bad.type == &is<ShapeError>)
            continue;  // valid for infer
        CAPTURE(bad.what);
        CHECK((trained(true, layer::Adam{}, [&](Model& model, auto& trainer) { infer(model.scores(), bad.feeds, trainer.parameters()); }) == want));
    }
    {
        test::DefaultScope scope;
        auto const predict = layer::fc(layer::data("z", {UNK, 5}), {.output_size = 3});
        save_model(predict, Trainer(layer::mse(predict, predict)).parameters(), file);
    }
    auto const another = [&](Model& model, auto&) { load_model(model.scores(), file); };  // of another net
    CHECK((trained(true, layer::Adam{}, another) == want));
    std::remove(file.c_str());
    CHECK((trained(true, layer::Adam{}, [](Model& model, auto&) { infer(model.scores(), good[0], Parameters()); }) == want));
}

TEST_CASE("training that a bad batch stops leaves the learned values in the variables", "[layer][bad]") {
    auto const parameters_of = [](Model const& model) {
        std::map<std::string, std::string> found;
        for (auto const& v : model.scope.variables()) {
            if (v->role() != Role::parameter && v->role() != Role::state) continue;
            auto const e = v->value().elements();
            found[v->name()] = std::string(reinterpret_cast<char const*>(e.bytes.data()), e.bytes.size());
        }
        return found;
    };
    auto const run = [&](std::vector<Feeds> const& batches, bool throws) {
        Model model(true);
        ScopeGuard const guard(model.scope);
        auto const reader = [&](std::int64_t) { return batches; };
        TrainOptions const options{.optimizer = layer::Adam{}, .seed = 5};
        layer::Var<float> const cost(*model.cost);
        if (throws) {
            CHECK_THROWS_AS(train(cost, reader, options), Error);
        } else {
            train(cost, reader, options);
        }
        return parameters_of(model);
    };
    auto const want = run({good[0], good[1]}, false);
    CHECK(want.size() == 9);
    for (Bad const& bad : bad_batches()) {
        CAPTURE(bad.what);
        CHECK((run({good[0], good[1], bad.feeds, good[2]}, true) == want));
    }
}

TEST_CASE("a net with a cycle throws an error that names the cycle", "[layer][bad]") {
    test::DefaultScope scope;
    auto const x = layer::fc(layer::data("x", {UNK, 2}));
    auto const cost = layer::mse(layer::relu(layer::tanh(x)), layer::data("y", {UNK, 2}));
    Operator& first = *x->readers()[0];
    Operator& last = *first.outputs[0]->readers()[0];
    Feeds const feeds{{"x", three.share()}, {"y", three.share()}};
    std::vector<Feeds> const batches{feeds};
    auto const reader = [&](std::int64_t) { return batches; };
    auto const before = train(cost, reader);
    first.inputs[0] = last.outputs[0];  // layers cannot create a cycle
    CHECK_THROWS_AS(train(cost, reader, {.resume = &before}), GraphError);
    CHECK_THROWS_WITH(train(cost, reader, {.resume = &before}), "the net has a cycle: relu -> tanh -> relu");
    CHECK_THROWS_WITH(infer(cost, feeds, before), "the net has a cycle: relu -> tanh -> relu");
    CHECK_THROWS_WITH(save_model(cost, before, "none"), "the net has a cycle: relu -> tanh -> relu");
    first.inputs[0] = &*x;
    auto const after = train(cost, reader, {.resume = &before});
    Scope other;
    ScopeGuard const elsewhere(other);
    auto const again = layer::mse(layer::relu(layer::tanh(layer::fc(layer::data("x", {UNK, 2})))), layer::data("y", {UNK, 2}));
    CHECK((bits(after) == bits(train(again, reader, {.epochs = 2}))));
}

TEST_CASE("an error names a variable that is neither written nor fed", "[layer][bad]") {
    test::DefaultScope scope;
    layer::Var<float> const hole(scope.new_var("hole", tensor_spec<float>({UNK, 2})));
    auto const predict = layer::fc(layer::add(layer::data("x", {UNK, 2}), hole), {.output_size = 2});
    auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
    Feeds const feeds{{"x", three.share()}, {"y", three.share()}};
    std::vector<Feeds> const batches{feeds};
    auto const reader = [&](std::int64_t) { return batches; };
    auto const first = Trainer(cost).parameters();
    CHECK_THROWS_AS(train(cost, reader, {.resume = &first}), GraphError);
    CHECK_THROWS_WITH(train(cost, reader, {.resume = &first}), "the variable \"hole\" has no value: it is written by no operator");
    CHECK_THROWS_WITH(infer(predict, feeds, first), "the variable \"hole\" has no value: it is written by no operator");
    CHECK((bits(first) == bits(Trainer(cost, {.resume = &first}).parameters())));
    hole->value().set(LoDTensor<float>(three.share()));  // the caller may write it
    CHECK(!(bits(train(cost, reader, {.resume = &first})) == bits(first)));
}

}  // namespace test_train_bad_batches
