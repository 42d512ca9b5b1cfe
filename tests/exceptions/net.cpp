// tests/exceptions/net.cpp: the allocations of a net with constant shapes, and a net whose allocations fail.
#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>

#include "catch.hpp"
#include "failing_new.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/optimizer.hpp>
#include <rowan/layer/rnn.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace test_net {

namespace {

using namespace rowan;

/// A recurrent classifier with its backward pass and the operators of its optimizers.
class Classifier {
public:
    explicit Classifier(std::size_t sentences) {
        ScopeGuard const guard(scope);
        auto const words = layer::data<std::int32_t>("words", {UNK}, 1);
        auto const rows = layer::embedding(words, {.height = 50, .width = 8, .name = "table"});
        auto const states = layer::rnn_with_last(rows, 8, [](auto x_t, auto before) {
            auto const now = layer::gru_unit(x_t, before, {.size = 8});
            return layer::Step{now, now};
        });
        auto const label = layer::data<std::int32_t>("label", {UNK});
        cost = &*layer::cross_entropy(layer::fc(states.last, {.output_size = 5}), label);
        static_cast<void>(Net<>::trace_and_build(*cost));
        auto const gradients = append_backward<float>(*cost);
        std::vector<Variable*> outputs{cost};
        for (auto const& g : gradients) outputs.push_back(g.gradient);
        net = Net<>::trace_and_build(outputs);
        layer::Optimizer const adam(layer::Adam{}), adagrad(layer::AdaGrad{});
        for (auto const& g : gradients) {
            auto const update = (g.parameter->name() == "table" ? adagrad : adam).add(scope, g);
            g.parameter->initialize(g.parameter->value(), 1);
            for (Variable* const state : update.states) state->initialize(state->value(), 1);
            net.append(*update.op);
        }
        std::vector<std::int64_t> lengths;
        for (std::size_t s = 0; s < sentences; ++s) lengths.push_back(static_cast<std::int64_t>(s % 7));
        Lod const lod = Lod::from_lengths({lengths});
        auto ids = Tensor<std::int32_t>::from_shape({static_cast<std::size_t>(lod.rows())});
        for (std::size_t i = 0; i < ids.size(); ++i) ids.data()[i] = static_cast<std::int32_t>(i * 7 % 50);
        words->value().set(LoDTensor<std::int32_t>(std::move(ids), lod));
        label->value().set(LoDTensor<std::int32_t>(Tensor<std::int32_t>::zeros({sentences})));
    }

    std::string table() const {
        Tensor<float> const& t = scope.get("table").value().get<LoDTensor<float>>().value();
        return {reinterpret_cast<char const*>(t.data()), t.size() * sizeof(float)};
    }

    Scope scope;
    Variable* cost = nullptr;
    Net<> net;
};

}  // namespace

TEST_CASE("a net with constant shapes allocates nothing from the third batch on", "[net]") {
    for (std::size_t const sentences : {5u, 64u, 100u}) {
        Classifier model(sentences);
        Cpu const exec{.threads = 1};
        model.net.run(model.scope, exec);
        std::string const after_one = model.table();
        model.net.run(model.scope, exec);  // keeps the results of the first one until it ends
        for (int batch = 0; batch < 3; ++batch) {
            auto const before = test::allocations();
            model.net.run(model.scope, exec);
            CHECK(test::allocations() - before == 0);
        }
        CHECK(model.table() != after_one);  // it has been trained by every run
    }
}

TEST_CASE("a failed batch of another shape does not change later results", "[net]") {
    Classifier model(40), twin(40);
    Value& words = model.scope.get("words").value();
    Value const kept = words.copy();
    model.net.run(model.scope, {.threads = 1});
    twin.net.run(twin.scope, {.threads = 1});
    auto const cost = [](Classifier const& c) { return c.cost->value().get<LoDTensor<float>>().value()(0); };
    CHECK(cost(model) == cost(twin));
    Value& label = model.scope.get("label").value();
    Value const labels = label.copy();
    std::string const table = model.table();
    words.set(LoDTensor<std::int32_t>(Tensor<std::int32_t>{1, 2, 50}, Lod{{0, 3}}));  // an id outside the table
    label.set(LoDTensor<std::int32_t>(Tensor<std::int32_t>{0}));
    CHECK_THROWS_AS(model.net.run(model.scope, {.threads = 1}), IndexError);
    CHECK(model.table() == table);
    words = kept.copy();
    label = labels.copy();
    model.net.run(model.scope, {.threads = 1});
    twin.net.run(twin.scope, {.threads = 1});
    CHECK(cost(model) == cost(twin));
    CHECK(model.table() == twin.table());
}

TEST_CASE("a net whose allocations fail throws, and runs when there is memory", "[net]") {
    Classifier model(10);
    std::string const table = model.table();
    int failures = 0;
    for (std::size_t n = 1; n < 200; n += 7) {
        test::fail_allocation(n);
        bool failed = false;
        try {
            model.net.run(model.scope, {.threads = 1});
        } catch (std::bad_alloc const&) {
            failed = true;
            ++failures;
        }
        test::fail_allocation(0);
        if (!failed) break;  // fewer are made
    }
    CHECK(failures > 2);
    model.net.run(model.scope, {.threads = 1});
    CHECK(model.table() != table);
}

}  // namespace test_net
