// tests/train/schedule.cpp
#include <rowan/own_operator.hpp>
#include <rowan/train/schedule.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/elementwise.hpp>
#include <rowan/train/train.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace test_schedule {

using namespace rowan;

namespace {

/// Trains the cost v + w with gradients 1, so that a step subtracts the learning rate. v and w begin with 0.
Parameters trained(TrainOptions options, std::int64_t steps) {
    test::DefaultScope scope;
    auto const v = layer::parameter<double>({1}, {}, "v"), w = layer::parameter<double>({1}, {}, "w");
    options.epochs = steps;
    return train(layer::add(v, w), [](std::int64_t) { return std::array{Feeds{}}; }, options);
}
double value(Parameters const& parameters, char const* name) { return parameters.get<double>(name)(0); }

/// A custom optimizer without a learning rate.
struct minus_op : rowan::detail::optimizer_op<no_attributes> {
    static constexpr std::string_view name = "minus";
    template <class P, class D, rowan::detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad) {
        sgd(exec, param, grad, 1.0);
    }
};
struct Minus {
    using op = minus_op;
    no_attributes options() const { return {}; }
};

}  // namespace

TEST_CASE("schedules compute their formulas", "[layer]") {
    CHECK(layer::ConstantRate{}(5) == 1);
    CHECK(layer::ConstantRate{.factor = 0.5}(0) == 0.5);

    layer::ExponentialDecay const exponential{.rate = 0.25, .steps = 10};
    CHECK(exponential(0) == 1);
    CHECK(exponential(5) == 0.5);
    CHECK(exponential(20) == 0.0625);

    layer::StepDecay const stairs{.rate = 0.5, .steps = 3};
    for (auto const& [step, factor] : std::vector<std::pair<std::int64_t, double>>{{0, 1}, {2, 1}, {3, 0.5}, {5, 0.5}, {6, 0.25}, {3000, 0x1p-1000}})
        CHECK(stairs(step) == factor);

    layer::CosineDecay const cosine{.steps = 12, .least = 0.1};
    CHECK(cosine(0) == 1);
    CHECK(cosine(3) == Approx(0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2).epsilon(1e-15));
    CHECK(cosine(4) == Approx(0.1 + 0.9 * 0.75).epsilon(1e-15));
    CHECK(cosine(6) == Approx(0.55).epsilon(1e-15));
    CHECK(cosine(12) == Approx(0.1).epsilon(1e-15));
    CHECK(cosine(1000) == cosine(12));

    layer::Warmup const alone{.steps = 4};
    CHECK(alone(0) == 0.25);
    CHECK(alone(2) == 0.75);
    CHECK(alone(3) == 1);
    CHECK(alone(100) == 1);
    layer::Warmup const then{.steps = 2, .then = layer::StepDecay{.rate = 0.5, .steps = 2}};
    std::vector<double> factors;
    for (std::int64_t step = 0; step < 7; ++step) factors.push_back(then(step));
    CHECK(factors == std::vector<double>{0.5, 1, 1, 1, 0.5, 0.5, 0.25});
    layer::Warmup const low{.steps = 2, .then = layer::ConstantRate{.factor = 0.5}};
    CHECK(low(0) == 0.25);
    CHECK(low(1) == 0.5);

    for (layer::Schedule const& bad : std::array<layer::Schedule, 4>{layer::ExponentialDecay{.steps = 0}, layer::StepDecay{.steps = 0},
                                                                    layer::CosineDecay{.steps = 0}, layer::Warmup{.steps = 0}})
        CHECK_THROWS_WITH(bad(0), "steps is 0, expected 1 or more");
}

TEST_CASE("a schedule multiplies the learning rate of every optimizer", "[layer]") {
    TrainOptions options{.optimizer = layer::Sgd{.learning_rate = 1}, .schedule = layer::StepDecay{.rate = 0.5, .steps = 2}};
    options.optimizers.emplace("w", layer::Sgd{.learning_rate = 4});
    auto const five = trained(options, 5);
    CHECK(value(five, "v") == -(1 + 1 + 0.5 + 0.5 + 0.25));
    CHECK(value(five, "w") == 4 * value(five, "v"));

    options.resume = &five;  // continues with step 5
    auto const seven = trained(options, 2);
    CHECK(value(seven, "v") == value(five, "v") - 0.25 - 0.125);

    options.resume = nullptr;
    options.schedule = [](std::int64_t step) { return static_cast<double>(step); };
    CHECK(value(trained(options, 4), "v") == -(0 + 1 + 2 + 3));
    options.schedule = {};
    CHECK(value(trained(options, 4), "v") == -4);
}

TEST_CASE("a schedule reaches every optimizer", "[layer]") {
    auto const check = [](layer::Optimizer const& optimizer) {
        CHECK(value(trained({.optimizer = optimizer, .schedule = layer::ConstantRate{0}}, 3), "v") == 0);
        CHECK(value(trained({.optimizer = optimizer, .schedule = layer::ConstantRate{1}}, 3), "v") == value(trained({.optimizer = optimizer}, 3), "v"));
        CHECK(value(trained({.optimizer = optimizer}, 3), "v") < 0);
    };
    check(layer::Sgd{});
    check(layer::AdaGrad{});
    check(layer::RowwiseAdaGrad{});
    check(layer::Momentum{});
    check(layer::Adam{});
    check(layer::Adamax{});
    check(layer::Adadelta{});
    check(layer::Lamb{});
    check(layer::RmsProp{});
    CHECK(value(trained({.optimizer = Minus{}}, 3), "v") == -3);
}

TEST_CASE("invalid schedules throw, and the parameters keep their values from the step before", "[layer]") {
    test::DefaultScope scope;
    auto const v = layer::parameter<double>({1}, {}, "v");
    auto const cost = layer::scale(v, 1);
    auto const reader = [](std::int64_t) { return std::array{Feeds{}, Feeds{}, Feeds{}}; };
    auto const rising = [](std::int64_t step) { return step < 2 ? 1.0 : std::numeric_limits<double>::infinity(); };
    CHECK_THROWS_WITH(train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 1}, .schedule = rising}),
                      "the schedule's factor for step 2 is inf, expected a finite number");
    CHECK(v->value().get<LoDTensor<double>>().value()(0) == -2);
    std::vector<std::int64_t> asked;
    auto const count = [&](std::int64_t step) {
        asked.push_back(step);
        return 1.0;
    };
    train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 1}, .schedule = count});
    CHECK((asked == std::vector<std::int64_t>{0, 1, 2}));
    CHECK(v->value().get<LoDTensor<double>>().value()(0) == -3);
    CHECK_THROWS_WITH(train(cost, reader, {.schedule = layer::CosineDecay{.steps = 0}}), "steps is 0, expected 1 or more");
    CHECK_THROWS_WITH(train(cost, reader, {.optimizer = Minus{}, .schedule = layer::Warmup{}}), "the optimizer of v has no learning_rate for the schedule");
    CHECK(v->value().get<LoDTensor<double>>().value()(0) == -3);
}

}  // namespace test_schedule
