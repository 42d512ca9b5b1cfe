// tests/io/in_file.cpp: tables in files in nets.
#include <rowan/io/in_file.hpp>
#include <rowan/own_operator.hpp>

#include "io/files.hpp"
#include "killed_at.hpp"
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
#include <cstdlib>
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
    explicit Net(std::string const& path) : Net(layer::InFile{path}) {}
    explicit Net(layer::InFile const& file) : cost(made(file)) {}

    layer::Var<float> made(layer::InFile const& file) {
        layer::EmbeddingOptions options{.height = 9, .width = 3, .unknown = 0, .table = layer::Normal{}, .name = "w"};
        if (!file.path.empty()) options.kind = file;
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
        CHECK_THROWS_WITH(again(load_parameters<>(saved)), Contains("no journal leads back"));
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

TEST_CASE("a training with a table in a file goes on after a kill at any system call of its saves", "[io][in_file]") {
    struct Case {
        layer::Optimizer optimizer;
        bool keep_previous;
    };
    std::vector<Case> const cases{{layer::AdaGrad{.learning_rate = 0.1}, false},
                                  {layer::Deferred{layer::Adam{.learning_rate = 0.1}}, false},
                                  {layer::Deferred{layer::Momentum{.learning_rate = 0.1}}, true}};
    std::size_t const every = std::getenv("ROWAN_NIGHTLY") == nullptr ? 7 : 1;
    for (std::size_t c = 0; c < cases.size(); ++c) {
        TrainOptions options{.optimizer = cases[c].optimizer, .epochs = 2, .seed = 5};
        Net memory("");
        auto const want = trained(memory, options);
        auto ended = test::Ended::killed;
        std::size_t n = 1 + c;
        for (; ended == test::Ended::killed; n += every) {
            CAPTURE(c, n);
            test::Folder const dir;
            auto const path = dir / "rows.table";
            auto const run = [&] {
                Net net(layer::InFile{.path = path, .keep_previous = cases[c].keep_previous});
                auto with = options;
                with.checkpoint = train_checkpoint({.folder = dir / "run", .every = 3});
                return trained(net, with);
            };
            ended = test::killed_at(n, run);
            REQUIRE(ended != test::Ended::failed);
            if (ended == test::Ended::untraced) return;
            if (ended == test::Ended::killed) static_cast<void>(test::killed_at(n % 11 + 1, run));
            check_same(run(), want);
            std::filesystem::remove_all(dir / "run");
            CHECK(dir.files() == (cases[c].keep_previous ? 2 : 1));
        }
        CHECK(n > 60);
    }
}

TEST_CASE("a table in a file can keep the save before the last, for a last one that is damaged", "[io][in_file]") {
    for (bool const keep : {true, false}) {
        test::Folder const dir;
        TrainOptions options{.optimizer = layer::Deferred{layer::Adam{.learning_rate = 0.1}}, .epochs = 3, .seed = 5};
        Net memory(""), net(layer::InFile{.path = dir / "rows.table", .keep_previous = keep});
        auto const want = trained(memory, options);
        options.checkpoint = train_checkpoint({.folder = dir / "run", .every = 2});
        options.on_batch = [](BatchReport const& r) { return r.epoch != 1 || r.batch != 2; };
        static_cast<void>(trained(net, options));
        options.on_batch = {};
        auto const last = dir / "run/training.rowan";
        auto bytes = test::read(last);
        bytes[bytes.size() / 2] ^= std::byte{1};
        test::write(last, bytes);
        CHECK_THROWS_WITH(trained(net, options), Contains(keep ? "with options.previous = true" : "layer::InFile has keep_previous"));
        options.checkpoint = train_checkpoint({.folder = dir / "run", .every = 2, .previous = true});
        if (keep) {
            check_same(trained(net, options), want);
        } else {
            CHECK_THROWS_WITH(trained(net, options), Contains("no journal leads back"));
        }
    }
}

TEST_CASE("each deferred optimizer goes on from a checkpoint in which rows have missed steps", "[io][in_file]") {
    std::vector<layer::Optimizer> const all{layer::Deferred{layer::Sgd{.learning_rate = 0.1, .weight_decay = 0.1}},
                                            layer::Deferred{layer::AdaGrad{.learning_rate = 0.1, .weight_decay = 0.1}},
                                            layer::Deferred{layer::Momentum{.learning_rate = 0.1, .nesterov = true}},
                                            layer::Deferred{layer::AdamW{.learning_rate = 0.1}},
                                            layer::Deferred{layer::RmsProp{.learning_rate = 0.1, .momentum = 0.5}}};
    for (std::size_t n = 0; n < all.size(); ++n) {
        INFO("optimizer " << n);
        test::Folder const dir;
        Net memory(""), net(dir / "rows.table");
        TrainOptions options{.optimizer = all[n], .epochs = 3, .seed = 5};
        auto const want = trained(memory, options);
        options.checkpoint = train_checkpoint({.folder = dir / "run", .every = 3});
        auto const stops = [&](std::int64_t at, std::int64_t epochs) {
            std::int64_t steps = 0;
            options.epochs = epochs;
            options.on_batch = [&](BatchReport const&) -> bool { return ++steps == at ? throw Error("the end") : true; };
            CHECK_THROWS_WITH(trained(net, options), Contains("the end"));
        };
        stops(4, 3);
        stops(4, 3);  // from step 3 to 7
        options.on_batch = {};
        options.epochs = 1;  // no step, but rows that make up for theirs
        static_cast<void>(trained(net, options));
        options.epochs = 3;
        check_same(trained(net, options), want);
    }
}

TEST_CASE("a save after a table has gone back is another one", "[io][in_file]") {
    test::Folder const dir;
    Net net(layer::InFile{.path = dir / "rows.table", .keep_previous = true});
    TrainOptions options{.optimizer = layer::AdaGrad{.learning_rate = 0.1}, .seed = 5};
    options.checkpoint = train_checkpoint({.folder = dir / "run", .every = 3, .previous = true});
    static_cast<void>(trained(net, options));
    std::filesystem::rename(dir / "run/training.rowan", dir / "keep.rowan");
    options.optimizer = layer::AdaGrad{.learning_rate = 0.2};
    static_cast<void>(trained(net, options));
    Feeds const asked{{"ids", Tensor<std::int64_t>{3, 8, 77}}};
    CHECK_THROWS_WITH(infer(*net.predict, asked, load_parameters<>(dir / "keep.rowan")), Contains("of another save"));
    CHECK_NOTHROW(infer(*net.predict, asked, load_parameters<>(dir / "run/training.rowan")));
}

TEST_CASE("a checkpoint of a deferred optimizer flushes no file, and only its training goes on with it", "[io][in_file]") {
    test::Folder const dir;
    Net net(dir / "rows.table");
    ScopeGuard const guard(net.scope);
    TrainOptions options{.optimizer = layer::Deferred{layer::Momentum{.learning_rate = 0.1}}, .epochs = 2, .seed = 5};
    options.checkpoint = train_checkpoint({.folder = dir / "run", .every = 3});
    options.on_batch = [](BatchReport const& r) -> bool { return r.batch == 3 ? throw Error("the end") : true; };
    CHECK_THROWS_WITH(train(net.cost, batches, options), Contains("the end"));
    auto const saved = load_parameters<>(dir / "run/training.rowan");
    CHECK(saved.find("w#made").get<LoDTensor<std::uint8_t>>().value().size() == 18);
    CHECK(saved.get<std::int64_t>("w#history").shape(0) == 4);
    Feeds const asked{{"ids", Tensor<std::int64_t>{3, 8, 77}}};
    CHECK_THROWS_WITH(infer(*net.predict, asked, saved), Contains("have missed steps"));
    CHECK_THROWS_WITH(Trainer<>(net.cost, {.optimizer = layer::Momentum{.lazy = true}, .resume = &saved}), Contains("have missed steps"));
    CHECK_THROWS_WITH(Trainer<>(net.cost, {.optimizer = layer::Deferred{layer::Adam{}}, .resume = &saved}), Contains("not the state"));
    options.checkpoint = {};
    options.on_batch = {};
    options.resume = &saved;
    check_same(train(net.cost, [](std::int64_t epoch) {
        auto all = batches(epoch);
        if (epoch == 0) all.erase(all.begin(), all.begin() + 3);
        return all;
    }, options), [&] {
        Net memory("");
        return trained(memory, {.optimizer = options.optimizer, .epochs = 2, .seed = 5});
    }());
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
