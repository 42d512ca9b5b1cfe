// tests/train/moving_average.cpp
#include <rowan/own_operator.hpp>
#include <rowan/train/moving_average.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/train.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace test_moving_average {

using namespace rowan;

TEST_CASE("averages move towards the parameters, all rows of tables too, and infer uses them", "[layer]") {
    test::DefaultScope scope;
    auto const rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}), {.height = 3, .width = 2, .name = "table"});
    auto const predict = layer::fc(rows, {.output_size = 2, .name = "fc"});
    auto const cost = layer::mse(predict, layer::data<float>("y", {UNK, 2}));
    Feeds const batch{{"ids", Tensor<std::int64_t>{0, 2, 2}}, {"y", Tensor<float>{{1, 2}, {3, 4}, {5, 6}}}};
    std::vector<Parameters> seen;
    auto const run = [&](Parameters const* resume, std::int64_t epochs) {
        return train(cost, [&](std::int64_t) { return std::vector{batch}; },
                     {.optimizer = layer::Adam{.learning_rate = 0.1},
                      .average = layer::MovingAverage{.decay = 0.75},
                      .epochs = epochs,
                      .on_epoch = [&](std::int64_t, Parameters const& p) { seen.push_back(p.share()); },
                      .resume = resume});
    };
    auto const start = Trainer(cost).parameters();
    auto const learned = run(nullptr, 3);
    for (auto const& [name, first] : start.trained()) {
        Tensor<float> want = start.get<float>(name);
        for (Parameters const& p : seen) {
            for (std::size_t i = 0; i < want.size(); ++i) want.data()[i] = 0.75F * want.data()[i] + 0.25F * p.get<float>(name).data()[i];
        }
        CHECK(learned.averaged().get<float>(name) == want);
    }
    CHECK(infer(predict, batch, learned.averaged()) != infer(predict, batch, learned));
    CHECK(learned.averaged().size() == 3);
    CHECK(learned.trained().size() == 3);
    CHECK(learned.states().size() == 9);  // two of Adam and an average for each
    CHECK(learned.averaged().steps == 3);

    auto const half = run(nullptr, 1), whole = run(&half, 2);
    for (auto const& [name, value] : learned) CHECK(whole.get<float>(name) == learned.get<float>(name));
    CHECK_THROWS_WITH(start.averaged(), "there are no averages: train with .average = layer::MovingAverage{}");
    CHECK_THROWS_WITH(train(cost, [&](std::int64_t) { return std::vector{batch}; }, {.average = layer::MovingAverage{.decay = 1}}), "decay is 1, expected a number in [0, 1)");
}

TEST_CASE("averages of 16-bit parameters are kept in the type of sums", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<bfloat16>("x", {UNK, 1});
    auto const cost = layer::mse(layer::fc<bfloat16>(x, {.output_size = 1, .name = "fc"}), layer::data<bfloat16>("y", {UNK, 1}));
    auto const batch = [](float y) { return std::vector{Feeds{{"x", Tensor<bfloat16>{{1}}}, {"y", Tensor<bfloat16>{{y}}}}}; };
    auto const run = [&](Parameters const* resume, std::int64_t epochs) {
        return train(cost, [&](std::int64_t) { return batch(4); },
                     {.optimizer = layer::Sgd{.learning_rate = 0.25}, .average = layer::MovingAverage{.decay = 0.999}, .epochs = epochs, .resume = resume});
    };
    auto const at = [](Parameters const& p, char const* name) { return static_cast<float>(p.get<bfloat16>(name)(0)); };
    auto const learned = run(nullptr, 1000);
    float const last = at(learned, "fc.b_0"), average = at(learned.averaged(), "fc.b_0");
    CHECK(last > 1);
    CHECK(std::abs(average / last - 0.632) < 0.02);  // 1 - 0.999^1000
    CHECK(learned.averaged().size() == 2);

    auto const half = run(nullptr, 400), whole = run(&half, 600);
    for (auto const& [name, value] : learned.trained()) CHECK(whole.averaged().get<bfloat16>(name) == learned.averaged().get<bfloat16>(name));
    Parameters old;  // of a version without the state in the type of sums
    for (auto const& [name, value] : half) {
        if (name.find("narrowed") == std::string::npos) old.set(name, value.share());
    }
    old.steps = half.steps;
    float const half_average = at(half.averaged(), "fc.b_0");
    CHECK(at(run(&old, 600).averaged(), "fc.b_0") > half_average);
    CHECK(std::abs(at(run(&old, 1).averaged(), "fc.b_0") - half_average) <= 0.01 * half_average);
}

TEST_CASE("moving_average has its formula, and throws for bad inputs", "[layer]") {
    Tensor<double> average{4, 8};
    moving_average(average, Tensor<double>{0, 1}, {.decay = 0.25});
    CHECK(average == Tensor<double>{1, 2.75});
    CHECK_THROWS_AS(moving_average(average, Tensor<double>{0, 1, 2}), ShapeError);
    CHECK_THROWS_AS(moving_average(average, Tensor<double>{0, 1}, {.decay = -0.5}), ValueError);
    CHECK(average == Tensor<double>{1, 2.75});
    Tensor<float> wide{1};
    moving_average(wide, Tensor<bfloat16>{0}, {.decay = 0.999});
    CHECK(wide(0) == 0.999F);
}

}  // namespace test_moving_average
