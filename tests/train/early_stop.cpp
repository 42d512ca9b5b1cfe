// tests/train/early_stop.cpp
#include <rowan/train/early_stop.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/train/train.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace test_early_stop {

using namespace rowan;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A training that adds 1 to v in each epoch; the metric of an epoch is the number in the list at v. Returns the last v
/// that the metric saw, and that of the result.
std::pair<std::int64_t, std::int64_t> run(std::vector<double> const& values, layer::EarlyStop stop, TrainOptions options = {}) {
    test::DefaultScope scope;
    auto const v = layer::parameter<float>({1}, {}, "v");
    std::int64_t last = 0;
    options.optimizer = layer::Sgd{.learning_rate = 1};
    options.epochs = static_cast<std::int64_t>(values.size());
    options.metrics = {{"other", [](Parameters const&) { return 0.0; }},
                       {"value", [&](Parameters const& p) {
                            last = static_cast<std::int64_t>(p.get<float>("v")(0));
                            return values[static_cast<std::size_t>(last - 1)];
                        }}};
    stop.metric = "value";
    options.stop = stop;
    auto const result = train(layer::scale(v, -1), [](std::int64_t) { return std::vector<Feeds>(1); }, options);
    CHECK(static_cast<double>(result.steps) == result.get<float>("v")(0));
    return {last, result.steps};
}

using Epochs = std::pair<std::int64_t, std::int64_t>;

}  // namespace

TEST_CASE("a training ends when the metric no longer improves, and its result is the best epoch", "[layer]") {
    CHECK(run({5, 4, 4, 3, 9, 9, 9, 1}, {.patience = 3}) == Epochs{7, 4});
    CHECK(run({5, 4, 4, 3, 9, 9, 9, 1}, {}) == Epochs{3, 2});
    CHECK(run({5, 4, 4, 3, 9, 9, 9, 1}, {.patience = 0}) == Epochs{8, 8});
    CHECK(run({5, 7, 6, 8, 1, 1}, {.patience = 2, .larger = true}) == Epochs{6, 4});
    CHECK(run({5, 4.5, 4, 3.5}, {.patience = 2, .least = 1}) == Epochs{4, 3});
    CHECK(run({nan, 2, nan, 1, nan}, {.patience = 2}) == Epochs{5, 4});
    CHECK(run({nan, nan, 3}, {.patience = 3}) == Epochs{3, 3});
}

TEST_CASE("a metric that was NaN in all epochs is an error", "[layer]") {
    auto const text = "options.stop: the metric \"value\" of each epoch is nan, expected a number in at least one of them";
    CHECK_THROWS_WITH(run({nan, nan}, {.patience = 5}), text);
    CHECK_THROWS_WITH(run({nan, nan}, {.patience = 0, .larger = true}), text);
    CHECK_THROWS_WITH(run({nan, 1}, {}), text);  // the one epoch that it waits
    TrainOptions options;
    options.on_epoch = [](std::int64_t epoch, Parameters const&) { return epoch < 1; };
    CHECK_THROWS_WITH(run({nan, nan, 1}, {.patience = 5}, options), text);
    options.on_epoch = {};
    int saves = 0;
    std::optional<Parameters> saved;
    options.checkpoint = {.save = [&](Variable&, Parameters const& all) { saved = all.share(), ++saves; }, .load = [&](Variable&) { return saved ? std::optional(saved->share()) : std::nullopt; }};
    for (int i = 0; i < 2; ++i) {  // the second goes on from the end of the first
        CHECK_THROWS_WITH(run({nan, nan}, {.patience = 5}, options), text);
        CHECK(saves == 1);
    }
}

TEST_CASE("callbacks still end a training, whose result is the best epoch", "[layer]") {
    TrainOptions options;
    options.on_epoch = [](std::int64_t epoch, Parameters const&) { return epoch < 2; };
    CHECK(run({1, 2, 3, 4, 5}, {.patience = 9}, options) == Epochs{3, 1});
    options.on_epoch = {};
    options.on_batch = [](BatchReport const& r) { return r.epoch < 1; };
    CHECK(run({1, 2, 3, 4, 5}, {.patience = 9}, options) == Epochs{1, 1});
    options.on_batch = [](BatchReport const&) { return false; };
    CHECK(run({1, 2, 3, 4, 5}, {.patience = 9}, options) == Epochs{0, 1});  // no epoch was completed
}

TEST_CASE("an early stop without its metric, or with negative numbers, throws before the training", "[layer]") {
    test::DefaultScope scope;
    auto const v = layer::parameter<float>({1}, {}, "v");
    auto const reader = [](std::int64_t) { return std::vector<Feeds>(1); };
    Metrics const metrics{{"value", [](Parameters const&) { return 0.0; }}};
    CHECK_THROWS_WITH(train(layer::scale(v, 1), reader, {.metrics = {{"m", nullptr}}}), "options.metrics: \"m\" holds no function");
    CHECK_THROWS_WITH(train(layer::scale(v, 1), reader, {.stop = layer::EarlyStop{.metric = "value"}}), "options.stop: there is no metric \"value\"");
    CHECK_THROWS_WITH(train(layer::scale(v, 1), reader, {.metrics = metrics, .stop = layer::EarlyStop{.metric = "valeu"}}),
                      "options.stop: there is no metric \"valeu\" (did you mean value?)");
    CHECK_THROWS_WITH(train(layer::scale(v, 1), reader, {.metrics = metrics, .stop = layer::EarlyStop{.metric = "value", .patience = -1}}), "options.stop: patience is -1, expected 0 or more");
    CHECK_THROWS_WITH(train(layer::scale(v, 1), reader, {.metrics = metrics, .stop = layer::EarlyStop{.metric = "value", .least = nan}}), "options.stop: least is nan, expected 0 or more");
    CHECK_THROWS_WITH(train(layer::scale(v, 1), reader, {.metrics = metrics, .stop = layer::EarlyStop{.metric = "value", .least = std::numeric_limits<double>::infinity()}}), "options.stop: least is inf, expected a finite number");
    CHECK(v->value().empty());
}

}  // namespace test_early_stop
