// tests/io/keyed_parameters.cpp: parameters of nets with tables by keys, in files and checkpoints.
#include <rowan/io/model.hpp>
#include <rowan/io/train_checkpoint.hpp>
#include <rowan/train/keyed.hpp>
#include <rowan/own_operator.hpp>

#include "io/files.hpp"
#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/train.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace test_io_keyed_parameters {

using namespace rowan;

namespace {

struct Net {
    test::DefaultScope scope;
    layer::Var<float> x = layer::embedding(layer::data<std::string>("users", {UNK}),
                                           {.width = 2, .name = "u", .kind = layer::Keyed{.sightings = 2}});
    layer::Var<float> cost = layer::mean(layer::mul(x, x));
};

std::vector<Feeds> batches(std::int64_t epoch) {
    auto const user = [&](std::int64_t k) { return "user " + std::to_string((epoch + k) % 5); };
    std::vector<Feeds> all;
    for (std::int64_t n = 0; n < 3; ++n) all.push_back({{"users", std::vector<std::string>{user(n), user(n + 1), user(n)}}});
    return all;
}

void check_same(Parameters const& learned, Parameters const& want) {
    CHECK(learned.size() == want.size());
    CHECK(learned.steps == want.steps);
    for (auto const& [name, value] : want) {
        INFO(name);
        CHECK(std::ranges::equal(Value(learned.find(name).share()).elements().bytes, Value(value.share()).elements().bytes));
    }
}

}  // namespace

TEST_CASE("parameters with keys are saved, loaded and gone on with", "[io][keyed]") {
    test::Folder const folder;
    Net whole, net;
    ScopeGuard const guard(net.scope);
    TrainOptions options{.optimizer = layer::Adam{}, .epochs = 4};
    auto const want = [&] {
        ScopeGuard const in(whole.scope);
        return train(whole.cost, batches, options);
    }();
    options.epochs = 2;
    save_parameters(train(net.cost, batches, options), folder / "p");
    auto const loaded = load_parameters<>(folder / "p");
    options.resume = &loaded;
    check_same(train(net.cost, [](std::int64_t epoch) { return batches(epoch + 2); }, options), want);
    CHECK_THROWS_WITH(save_model(net.x, want, folder / "m"), Catch::Matchers::StartsWith("save_model: u is a table by keys"));
}

TEST_CASE("a training with keys goes on from its checkpoint, with its best epoch", "[io][keyed]") {
    test::Folder const folder;
    Net net;
    ScopeGuard const guard(net.scope);
    auto const run = [&](bool stops, std::string const& name) {
        TrainOptions options{.optimizer = layer::AdaGrad{}, .epochs = 5, .metrics = {{"rows", [](Parameters const& p) { return p.steps < 8 ? 1.0 : 2.0; }}}};
        options.stop = layer::EarlyStop("rows");
        options.checkpoint = train_checkpoint({.folder = folder / name, .every = 2});
        options.on_batch = [=](BatchReport const& r) { return !(stops && r.epoch == 3 && r.batch == 1); };
        return train(net.cost, batches, options);
    };
    auto const want = run(false, "whole");
    static_cast<void>(run(true, "run"));
    check_same(run(false, "run"), want);
}

TEST_CASE("a training begins with the keys of another one", "[io][keyed]") {
    Net net;
    ScopeGuard const guard(net.scope);
    auto const first = train(net.cost, batches, {.epochs = 3});
    auto const next = train(net.cost, batches, {.optimizer = layer::Sgd{.learning_rate = 0}, .initial = first.only({"u"})});
    CHECK(std::ranges::equal(next.get<std::int64_t>("u#rows"), first.get<std::int64_t>("u#rows")));
    CHECK(std::ranges::equal(next.get<float>("u"), first.get<float>("u")));
    Feeds only;
    only.emplace("u#keys", first.find("u#keys"));
    CHECK_THROWS_AS(train(net.cost, batches, {.initial = only}), GraphError);
}

}  // namespace test_io_keyed_parameters
