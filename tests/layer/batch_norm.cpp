// tests/layer/batch_norm.cpp
#include <rowan/layer/batch_norm.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/train.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace test_batch_norm {

using namespace rowan;

namespace {

/// A net with a norm of the ragged batches of x.
struct Norm {
    layer::Var<double> x = layer::data<double>("x", {UNK, 2}, 1), target = layer::data<double>("target", {UNK, 2}, 1);
    layer::Var<double> out = layer::batch_norm(x, {.momentum = 0.75, .epsilon = 0.5, .name = "norm"});
    layer::Var<double> cost = layer::mse(out, target);
};

Lod const lod{{0, 2, 2, 5}};
std::vector<Feeds> const batches{{{"x", LoDTensor<double>({{1, 2}, {3, -2}, {5, 0}, {-1, 2}, {2, 8}}, lod)}, {"target", LoDTensor<double>(test::values({5, 2}, 2), lod)}},
                                 {{"x", LoDTensor<double>({{0, 1}, {4, 3}}, Lod{{0, 1, 2}})}, {"target", LoDTensor<double>(test::values({2, 2}, 3), Lod{{0, 1, 2}})}}};
auto const reader = [](std::int64_t) { return batches; };

}  // namespace

TEST_CASE("training moves the statistics of layer::batch_norm, and infer uses them", "[layer]") {
    test::DefaultScope scope;
    Norm const net;
    auto const learned = train(net.cost, reader, {.optimizer = layer::Sgd{.learning_rate = 0}});
    CHECK(learned.size() == 4);
    // batch 1: means 2 and 2, variances 4 and 56/5; batch 2: means 2 and 2, variances 4 and 1
    CHECK(learned.get<double>("norm.mean_0")(0) == Approx(0.75 * 0.25 * 2 + 0.25 * 2));
    CHECK(learned.get<double>("norm.mean_0")(1) == Approx(0.75 * 0.25 * 2 + 0.25 * 2));
    CHECK(learned.get<double>("norm.variance_0")(0) == Approx(0.75 * (0.75 + 0.25 * 4) + 0.25 * 4));
    CHECK(learned.get<double>("norm.variance_0")(1) == Approx(0.75 * (0.75 + 0.25 * 11.2) + 0.25 * 1));
    Tensor<double> const ones{1, 1}, zeros{0, 0};
    auto const rows = batches[0].at("x");
    auto const out = infer(net.out, {{"x", rows}}, learned);
    CHECK(out.lod() == lod);
    CHECK(out.value() == std::get<0>(batch_norm(rows.value().get<LoDTensor<double>>().value(), ones, zeros, learned.get<double>("norm.mean_0"), learned.get<double>("norm.variance_0"), {.epsilon = 0.5}, false)));
}

TEST_CASE("a training with layer::batch_norm resumes with the same bits, and a batch that is refused moves nothing", "[layer]") {
    auto const run = [](Parameters const* resume, std::int64_t epochs) {
        test::DefaultScope scope;
        Norm const net;
        return train(net.cost, reader, {.optimizer = layer::Adam{.learning_rate = 0.1}, .epochs = epochs, .resume = resume});
    };
    auto const whole = run(nullptr, 4), half = run(nullptr, 2), resumed = run(&half, 2);
    for (char const* name : {"norm.w_0", "norm.b_0", "norm.mean_0", "norm.variance_0"})
        CHECK(whole.get<double>(name) == resumed.get<double>(name));
    test::DefaultScope scope;
    Norm const net;
    Trainer trainer(net.cost, {.initial = {{"norm.mean_0", Tensor<double>{7, 8}}}});
    auto bad = batches[1];
    bad.insert_or_assign("target", LoDTensor<double>({{1, 1}, {1, std::numeric_limits<double>::infinity()}}, Lod{{0, 1, 2}}));
    CHECK_THROWS_AS(trainer.step(bad), ValueError);
    CHECK(trainer.parameters().get<double>("norm.mean_0") == Tensor<double>{7, 8});
    trainer.step(batches[1]);
    CHECK(trainer.parameters().get<double>("norm.mean_0") == Tensor<double>{5.75, 6.5});
    CHECK_THROWS_WITH(train(net.cost, reader, {.optimizers = {{"norm.mean_0", layer::Sgd{}}}}), "there is no parameter \"norm.mean_0\" for the optimizer that names it");
}

TEST_CASE("the moving statistics of 16-bit columns are those of the same columns of floats", "[layer]") {
    auto const run = []<class T>(std::type_identity<T>, std::int64_t parts) {
        test::DefaultScope scope;
        auto const norm = layer::batch_norm(layer::data<T>("x", {UNK, 1}), {.momentum = 0.99, .name = "norm"});
        auto const cost = layer::mse(norm, layer::data<T>("y", {UNK, 1}));
        Feeds const batch{{"x", Tensor<T>{{T(1)}, {T(2)}, {T(4.5)}, {T(0.5)}}}, {"y", Tensor<T>{{T(0)}, {T(1)}, {T(2)}, {T(0)}}}};
        return train(cost, [&](std::int64_t) { return std::vector{batch, batch}; }, {.optimizer = layer::Sgd{.learning_rate = 0}, .parts = parts, .epochs = 500});
    };
    for (std::int64_t const parts : {1, 2}) {
        auto const narrow = run(std::type_identity<bfloat16>{}, parts), wide = run(std::type_identity<float>{}, parts);
        for (char const* name : {"norm.mean_0", "norm.variance_0"}) CHECK(narrow.get<float>(name) == wide.get<float>(name));
        CHECK(std::abs(narrow.get<float>("norm.mean_0")(0) - 2) < 0.02);
        CHECK(narrow.get<bfloat16>("norm.w_0")(0) == bfloat16(1));
    }
}

TEST_CASE("a moving variance whose sum over the rows of all parts is too large is refused, and stays", "[layer]") {
    test::DefaultScope scope;
    auto const norm = layer::batch_norm(layer::data("x", {UNK, 1}), {.momentum = 0, .name = "norm"});
    Trainer trainer(layer::mse(norm, layer::data("y", {UNK, 1})), {.parts = 2});
    auto const part = [](float x) { return Feeds{{"x", Tensor<float>{{x}, {-x}, {x}, {-x}}}, {"y", Tensor<float>{{1}, {-1}, {1}, {-1}}}}; };
    trainer.step(std::array{part(1), part(1)});
    auto const before = trainer.parameters().get<float>("norm.variance_0");
    CHECK_THROWS_WITH(trainer.step(std::array{part(1.5e19F), part(1.5e19F)}),
                      "norm.variance_0[0] after this step is inf, expected a sum over the rows of all parts within its type");
    CHECK(trainer.parameters().get<float>("norm.variance_0") == before);
    trainer.step(std::array{part(1e18F), part(1)});
    CHECK(std::isfinite(trainer.parameters().get<float>("norm.variance_0")(0)));
}

TEST_CASE("outside of training, the gradients of layer::batch_norm equal central differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({5, 3}, 1), lod));
    auto const target = test::fed("target", LoDTensor<double>(test::values({5, 4}, 2), lod));
    auto const norm = layer::batch_norm(layer::batch_norm(layer::fc(x, {.output_size = 4, .bias = false})), {.scale = false, .shift = false});
    for (auto const& v : scope.variables()) {
        if (v->role() == Role::parameter) v->initialize(v->value(), 1);
    }
    CHECK(test::check_net(layer::mse(norm, target)).size() == 3);
}

TEST_CASE("layer::batch_norm refuses what it cannot normalise, and adds nothing", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<float>("x", {UNK, 2}, 1), wide = layer::data<float>("wide", {UNK, UNK});
    auto const before = scope.variables().size();
    CHECK_THROWS_WITH(layer::batch_norm(wide), "a dim of a parameter is UNK, expected known: give the data its width");
    CHECK_THROWS_WITH(layer::batch_norm(x, {.epsilon = -1}), "epsilon is -1, expected 0 or more");
    CHECK_THROWS_WITH(layer::rnn(x, 2, [](auto row, auto) {
                          auto const out = layer::batch_norm(row);
                          return layer::Step{out, out};
                      }),
                      "layer::batch_norm is not for steps, loops and branches: use layer::layer_norm");
    CHECK(scope.variables().size() == before);
}

}  // namespace test_batch_norm
