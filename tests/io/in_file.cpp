// tests/io/in_file.cpp: tables in files in nets.
#include <rowan/io/in_file.hpp>
#include <rowan/own_operator.hpp>

#include "io/files.hpp"
#include "layer/check_net.hpp"
#include "reference.hpp"

#include <rowan/io/model.hpp>
#include <rowan/io/table_file.hpp>
#include <rowan/io/train_checkpoint.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/train.hpp>
#include <rowan/train/trainer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace test_io_in_file {

using namespace rowan;
using Catch::Matchers::Contains;
using reference::same;

namespace {

/// A table in a file, or, without a path, in memory.
struct Net {
    explicit Net(std::string const& path) : cost(made(path)) {}

    layer::Var<float> made(std::string const& path) {
        layer::EmbeddingOptions options{.height = 9, .width = 3, .unknown = 0, .table = layer::Normal{}, .name = "w"};
        if (!path.empty()) options.kind = layer::InFile{path};
        auto const ids = layer::data<std::int64_t>("ids", {UNK});
        predict = layer::fc(layer::embedding(ids, options), {.output_size = 1, .name = "out"});
        return layer::mse(*predict, layer::data<float>("y", {UNK, 1}));
    }

    test::DefaultScope scope;
    std::optional<layer::Var<float>> predict;
    layer::Var<float> cost;
};

std::vector<Feeds> batches(std::int64_t epoch) {
    inputs::Random random(static_cast<std::uint64_t>(epoch));
    std::vector<Feeds> all;
    for (int n = 0; n < 4; ++n) {
        std::vector<std::int64_t> ids;
        std::vector<float> y;
        for (int k = 0; k < 3; ++k) {
            ids.push_back(random.below(11));
            y.push_back(static_cast<float>(random.below(7)) / 3);
        }
        all.push_back({{"ids", ids}, {"y", Tensor<float>::from_values({3, 1}, y)}});
    }
    return all;
}

std::vector<layer::Optimizer> optimizers() {
    return {layer::Sgd{.learning_rate = 0.1},
            layer::AdaGrad{.learning_rate = 0.1},
            layer::RowwiseAdaGrad{.learning_rate = 0.1},
            layer::Adam{.learning_rate = 0.1, .lazy = true},
            layer::Ftrl{.learning_rate = 0.1},
            layer::Deferred{layer::Adam{.learning_rate = 0.1}},
            layer::Deferred{layer::Momentum{.learning_rate = 0.1}}};
}

Parameters trained(Net& net, TrainOptions const& options) {
    ScopeGuard const guard(net.scope);
    return train(net.cost, batches, options);
}

void check_same(Parameters const& learned, Parameters const& want) {
    for (auto const& [name, value] : want) {
        INFO(name);
        CHECK(same(learned.get<float>(name), want.get<float>(name)));
    }
}

}  // namespace

TEST_CASE("a table in a file is trained, and goes on, with the bits of one in memory", "[io][in_file]") {
    auto const all = optimizers();
    for (std::size_t n = 0; n < all.size(); ++n) {
        INFO("optimizer " << n);
        test::Folder const dir;
        auto const path = dir / "rows.table";
        TrainOptions const options{.optimizer = all[n], .epochs = 2, .seed = 5};
        Net memory(""), file(path);
        auto const want = trained(memory, options);
        Feeds const asked{{"ids", Tensor<std::int64_t>{3, 8, 77}}};
        auto const again = [&](Parameters const& from) {
            auto with = options;
            with.resume = &from;
            return trained(from.contains("w#file") ? file : memory, with);
        };
        auto const want_more = again(want);
        std::string const saved = dir / "parameters.rowan";
        {
            auto const learned = trained(file, options);
            check_same(learned, want);
            CHECK(same(infer(*file.predict, asked, learned).value(), infer(*memory.predict, asked, want).value()));
            save_parameters(learned, saved);
        }
        Parameters more;
        {
            auto const loaded = load_parameters<>(saved);
            CHECK(!loaded.contains("w"));
            CHECK(same(infer(*file.predict, asked, loaded).value(), infer(*memory.predict, asked, want).value()));
            more = again(loaded);
            check_same(more, want_more);
        }
        check_same(again(more), again(want_more));  // in this process
        more = {};
        CHECK_THROWS_WITH(again(load_parameters<>(saved)), Contains("the generation"));
    }
}

TEST_CASE("a training that ends without a save leaves its file as of the last one", "[io][in_file]") {
    test::Folder const dir;
    auto const path = dir / "rows.table";
    Net net(path), memory("");
    ScopeGuard const guard(net.scope);
    TrainOptions options{.optimizer = layer::AdaGrad{.learning_rate = 0.1}, .seed = 5};
    auto const first = train(memory.cost, batches, options).get<float>("w");
    {
        auto const learned = train(net.cost, batches, options);
        CHECK(learned.get<std::int64_t>("w#generation")(0) == 0);
        save_parameters(learned, dir / "p");
    }
    auto const loaded = load_parameters<>(dir / "p");
    options.resume = &loaded;
    {
        Trainer<> trainer(net.cost, options);
        for (auto const& feeds : batches(3)) trainer.step(feeds);
        Feeds bad = batches(0)[0];
        bad.insert_or_assign("y", Tensor<float>::full({3, 1}, NAN));
        CHECK_THROWS_AS(trainer.step(bad), ValueError);
    }
    TableFile<float> const file(path);
    CHECK(same(file.rows(), first));
}

TEST_CASE("a training with a table in a file goes on from its checkpoint", "[io][in_file]") {
    test::Folder const dir;
    TrainOptions options{.optimizer = layer::Adam{.learning_rate = 0.1, .lazy = true}, .epochs = 3, .seed = 5};
    Net memory(""), net(dir / "rows.table");
    auto const want = trained(memory, options);
    options.checkpoint = train_checkpoint({.folder = dir / "run", .every = 5});
    options.on_batch = [](BatchReport const& r) { return r.epoch != 1 || r.batch != 1; };
    static_cast<void>(trained(net, options));
    options.on_batch = {};
    std::vector<std::int64_t> generations;
    options.on_epoch = [&](std::int64_t, Parameters const& p) { generations.push_back(p.get<std::int64_t>("w#generation")(0)); };
    check_same(trained(net, options), want);
    CHECK(generations == std::vector<std::int64_t>{-1, -1});
}

TEST_CASE("what tables in files cannot do in nets is refused with a sentence", "[io][in_file][bad_input]") {
    test::Folder const dir;
    auto const path = dir / "rows.table";
    Net net(path);
    ScopeGuard const guard(net.scope);
    CHECK_THROWS_WITH(Trainer<>(net.cost, {.optimizer = layer::Adam{.lazy = false}}), Contains("its gradient is dense"));
    CHECK_THROWS_WITH(Trainer<>(net.cost, {.average = layer::MovingAverage{}}), Contains("without averages"));
    CHECK_THROWS_WITH(train(net.cost, batches, {.metrics = {{"m", [](Parameters const&) { return 0.0; }}}, .stop = layer::EarlyStop{.metric = "m"}}),
                      Contains("does not keep the rows of the best epoch"));
    CHECK(!std::filesystem::exists(path));  // before the first save it has no name
    save_parameters(train(net.cost, batches), dir / "p");
    CHECK_THROWS_AS(train(net.cost, batches), IoError);  // there is a file
    auto const ids = layer::data<std::int64_t>("more", {UNK});
    CHECK_THROWS_WITH(layer::embedding(ids, {.width = 3, .kind = layer::InFile{path}}), Contains("height"));
    test::Folder const other;
    std::filesystem::copy_file(path, other / "rows.table");
    {
        Net copied(other / "rows.table");
        ScopeGuard const in(copied.scope);
        TableFile<float>::create(other / "new.table", {.height = 9, .width = 3});
        std::filesystem::rename(other / "new.table", other / "rows.table");
        auto const loaded = load_parameters<>(dir / "p");
        CHECK_THROWS_WITH(train(copied.cost, batches, {.resume = &loaded}), Contains("that of another table"));
    }
    {
        test::DefaultScope const scope;
        auto const a = layer::embedding(layer::data<std::int64_t>("a", {UNK}), {.height = 3, .width = 3, .kind = layer::InFile{"x"}});
        auto const b = layer::embedding(layer::data<std::int64_t>("b", {UNK}), {.height = 3, .width = 3, .kind = layer::InFile{"x"}});
        CHECK_THROWS_WITH(Trainer<>(layer::mean(a + b)), Contains("as is another table"));
    }
    CHECK_THROWS_WITH(layer::embedding(ids, {.height = 3, .width = 3, .sharded = true, .kind = layer::InFile{path}}), Contains(".sharded"));
}

}  // namespace test_io_in_file
