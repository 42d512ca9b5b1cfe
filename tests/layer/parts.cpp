// tests/layer/parts.cpp
#include <rowan/layer/parts.hpp>

#include "layer/check_net.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/reduce_sum.hpp>
#include <rowan/layer/train.hpp>
#include <rowan/sparse/add.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace test_parts {

using namespace rowan;

// The sum of the squared errors of all elements, so that the gradient of a batch is the sum of those of its rows.
layer::Var<float> cost_of(double dropped = 0) {
    auto rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = 6, .width = 3, .name = "table"});
    if (dropped > 0) rows = layer::dropout(rows, dropped);
    auto const error = layer::fc(rows, {.output_size = 2, .name = "fc"}) - layer::data<float>("y", {UNK, 2});
    return layer::reduce_sum(error * error);
}

// Rows [begin, end) of a data set with repeated ids.
Feeds rows(std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> ids;
    auto y = Tensor<float>::from_shape({static_cast<std::size_t>(end - begin), 2});
    for (std::int64_t i = begin; i < end; ++i) {
        ids.push_back(i * i % 5);
        for (std::int64_t k = 0; k < 2; ++k)
            y.data()[2 * (i - begin) + k] = 0.25F * static_cast<float>((i * 7 + k * 3) % 9);
    }
    return {{"ids", ids}, {"y", y}};
}

std::vector<Feeds> batches(std::int64_t count, std::int64_t size) {
    std::vector<Feeds> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(rows(i * size, (i + 1) * size));
    return all;
}

// The sum of gradients [begin, end) as the documented tree.
template <class G, class Add>
G tree(std::vector<G> const& g, std::size_t begin, std::size_t end, Add const& add) {
    if (end - begin == 1) return g[begin];
    std::size_t half = 1;
    while (2 * half < end - begin) half *= 2;
    return add(tree(g, begin, begin + half, add), tree(g, begin + half, end, add));
}

TEST_CASE("parts have the bits of a loop by hand, with clipping, a schedule and averages by steps", "[layer]") {
    test::DefaultScope scope;
    auto const cost = cost_of();
    std::vector<std::int64_t> asked;  // by the schedule
    std::vector<std::int64_t> seen;
    auto const data = batches(8, 3);
    auto const learned = train(cost, [&](std::int64_t) { return data; },
                               {.optimizer = layer::AdaGrad{.learning_rate = 0.5},
                                .clip = layer::ClipByNorm{.max_norm = 2},
                                .schedule =
                                    [&](std::int64_t step) {
                                        asked.push_back(step);
                                        return 1.0 / static_cast<double>(step + 1);
                                    },
                                .average = layer::MovingAverage{.decay = 0.5},
                                .parts = 5,
                                .epochs = 2,
                                .on_batch = [&](BatchReport const& r) { seen.push_back(r.batch); }});
    CHECK(learned.steps == 4);
    CHECK(asked == std::vector<std::int64_t>{0, 1, 2, 3});
    CHECK(seen.size() == 16);

    auto now = Trainer(cost).parameters();
    auto const gradients = append_backward(*cost);
    std::vector<Variable*> outputs;
    for (auto const& g : gradients) outputs.push_back(g.gradient);
    auto const net = Net<>::trace_and_build(outputs);
    Cpu const exec;
    auto const add_rows = [&](SelectedRows<float> const& a, SelectedRows<float> const& b) {
        return merge(exec, add(a, b));
    };
    auto const add_dense = [](Tensor<float> const& a, Tensor<float> const& b) { return Tensor<float>(a + b); };
    std::map<std::string, Tensor<float>> moments, averages;
    for (auto const& g : gradients) {
        auto const& first = now.get<float>(g.parameter->name());
        moments.emplace(g.parameter->name(), Tensor<float>::zeros(first.shape()));
        averages.emplace(g.parameter->name(), first);
    }
    double rate = 0.5, step = 0;
    for (std::size_t const begin : {0U, 5U, 0U, 5U}) {
        std::map<std::string, std::vector<Tensor<float>>> dense;
        std::vector<SelectedRows<float>> sparse;
        for (std::size_t i = begin; i < (begin == 0 ? 5U : 8U); ++i) {
            for (auto const& g : gradients) g.parameter->value() = now.find(g.parameter->name()).share();
            default_scope().get("ids").value() = data[i].at("ids").value();
            default_scope().get("y").value() = data[i].at("y").value();
            net.run(default_scope());
            for (auto const& g : gradients) {
                if (g.gradient->value().is<SelectedRows<float>>()) {
                    sparse.push_back(merge(exec, g.gradient->value().get<SelectedRows<float>>()));
                } else {
                    dense[g.parameter->name()].push_back(g.gradient->value().get<LoDTensor<float>>().value());
                }
            }
        }
        rate = 0.5 / ++step;
        Parameters next;
        for (auto& [name, moment] : moments) {
            Tensor<float> p = now.get<float>(name);
            if (name == "table") {
                auto const g = clip_by_norm(exec, tree(sparse, 0, sparse.size(), add_rows), {.max_norm = 2});
                adagrad(exec, p, moment, g, {.learning_rate = rate});
            } else {
                auto const g = clip_by_norm(exec, tree(dense[name], 0, dense[name].size(), add_dense), {.max_norm = 2});
                adagrad(exec, p, moment, g, {.learning_rate = rate});
            }
            moving_average(exec, averages[name], p, {.decay = 0.5});
            Value value;
            value.set(LoDTensor<float>(p));
            next.set(name, std::move(value));
        }
        now = std::move(next);
    }
    REQUIRE(now.size() == 3);
    for (auto const& named : now) {
        CHECK(learned.get<float>(named.first) == now.get<float>(named.first));
        CHECK(learned.averaged().get<float>(named.first) == averages[named.first]);
    }
}

TEST_CASE("n batches as parts of a step are one batch of all their rows, for any optimizer", "[layer]") {
    for (layer::Optimizer const& optimizer :
         {layer::Optimizer(layer::Sgd{.learning_rate = 0.01}), layer::Optimizer(layer::Momentum{.learning_rate = 0.01}),
          layer::Optimizer(layer::Adam{.learning_rate = 0.01, .lazy = false})}) {
        for (std::int64_t const n : {1, 2, 3, 4, 7}) {
            test::DefaultScope scope;
            auto const cost = cost_of();
            auto const parts = train(cost, [&](std::int64_t) { return batches(n, 4); },
                                     {.optimizer = optimizer, .parts = n, .epochs = 3});
            auto const whole =
                train(cost, [&](std::int64_t) { return batches(1, 4 * n); }, {.optimizer = optimizer, .epochs = 3});
            CHECK(parts.steps == 3);
            REQUIRE(parts.size() == whole.size());
            for (auto const& named : parts) {
                auto const& a = parts.get<float>(named.first);
                auto const& b = whole.get<float>(named.first);
                for (std::size_t i = 0; i < a.size(); ++i)
                    CHECK(std::abs(a.data()[i] - b.data()[i]) <= 1e-4F * (1 + std::abs(b.data()[i])));
            }
        }
    }
}

TEST_CASE("a resumed training with parts has the same bits, and each part other dropout masks", "[layer]") {
    test::DefaultScope scope;
    auto const cost = cost_of(0.5);
    auto const run = [&](std::int64_t epochs, Parameters const* resume) {
        return train(cost, [&](std::int64_t) { return batches(5, 2); },
                     {.optimizer = layer::Adam{}, .parts = 3, .epochs = epochs, .resume = resume});
    };
    auto const half = run(1, nullptr), resumed = run(2, &half), whole = run(3, nullptr);
    CHECK(whole.steps == 6);
    CHECK(resumed.steps == 6);
    for (auto const& named : whole) CHECK(resumed.get<float>(named.first) == whole.get<float>(named.first));

    Trainer trainer(cost, {.parts = 4});
    double const first = trainer.step(rows(0, 20));
    CHECK(trainer.step(rows(0, 20)) != first);  // nothing but the mask differs
    CHECK(trainer.steps() == 0);
}

TEST_CASE("a batch that fails is not part of a step, and one that has not made a step is finished by hand", "[layer]") {
    test::DefaultScope scope;
    auto const cost = cost_of();
    auto const data = batches(3, 3);
    Feeds const bad{{"ids", Tensor<std::int64_t>{0, 6}}, {"y", Tensor<float>::zeros({2, 2})}};
    TrainOptions const options{.optimizer = layer::Adam{}, .parts = 3};
    auto const want = train(
        cost, [&](std::int64_t) { return data; }, options);
    Trainer failing(cost, options);
    auto const before = failing.parameters();
    for (Feeds const& batch : data) {
        CHECK_THROWS_AS(failing.step(bad), IndexError);
        CHECK(failing.parameters().get<float>("table") == before.get<float>("table"));
        failing.step(batch);
    }
    CHECK(failing.steps() == 1);
    failing.finish_step();  // nothing is left
    CHECK(failing.steps() == 1);
    auto const once = failing.parameters();
    CHECK(once.get<float>("table") == want.get<float>("table"));
    CHECK(once.get<float>("table") != before.get<float>("table"));

    failing.step(data[0]);
    failing.step(data[1]);
    CHECK(failing.parameters().get<float>("table") == once.get<float>("table"));
    failing.finish_step();
    CHECK(failing.steps() == 2);
    CHECK(failing.parameters().get<float>("table") != once.get<float>("table"));
}

TEST_CASE("parts are positive, and of element types that are named", "[layer]") {
    CHECK_THROWS_WITH(layer::Parts(0), "parts is 0, expected 1 or more");
    CHECK_THROWS_AS(layer::Parts(-1), ValueError);
    test::DefaultScope scope;
    CHECK_THROWS_WITH(Trainer(cost_of(), {.parts = {2, dtypes<double>{}}}),
                      Catch::Matchers::Contains("parts: the element type of the gradient of"));
}

}  // namespace test_parts
