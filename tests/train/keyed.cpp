// tests/train/keyed.cpp: tables by keys in nets.
#include <rowan/layer/keyed.hpp>
#include <rowan/own_operator.hpp>

#include "layer/check_net.hpp"
#include "reference.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/predictor.hpp>
#include <rowan/train/train.hpp>
#include <rowan/train/trainer.hpp>

#include <array>
#include <functional>
#include <optional>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace test_train_keyed {

using namespace rowan;
using reference::same;

namespace {

constexpr std::array<std::int64_t, 6> keys{7, -1, 1'000'000'000'000, 0, 3, std::numeric_limits<std::int64_t>::min()};

/// Users and items in two tables, or, if `shared`, in one.
struct Net {
    explicit Net(bool keyed, bool shared = false) : cost(made(keyed, shared)) {}
    layer::Var<float> made(bool keyed, bool shared) {
        auto const users = layer::data<std::int64_t>("users", {UNK}), items = layer::data<std::int64_t>("items", {UNK});
        auto const options = [&](char const* name) {
            layer::EmbeddingOptions of{.width = 3, .name = name};
            if (keyed) of.kind = layer::Keyed{};
            else of.height = static_cast<std::int64_t>(keys.size()) + 1;
            return of;
        };
        auto const table = layer::embedding_table(options("u"));
        auto const u = layer::embedding(users, table), i = shared ? layer::embedding(items, table) : layer::embedding(items, options("i"));
        predict = layer::fc(layer::mul(u, i), {.output_size = 1, .name = "out"});
        return layer::mse(*predict, layer::data<float>("y", {UNK, 1}));
    }
    test::DefaultScope scope;
    std::optional<layer::Var<float>> predict;
    layer::Var<float> cost;
};

std::vector<Feeds> batches(std::uint64_t seed, std::size_t count) {
    inputs::Random random(seed);
    std::vector<Feeds> all;
    for (std::size_t n = 0; n < count; ++n) {
        std::vector<std::int64_t> users, items;
        std::vector<float> y;
        for (int k = 0; k < 5; ++k) {
            users.push_back(keys[static_cast<std::size_t>(random.below(std::ssize(keys)))]);
            items.push_back(keys[static_cast<std::size_t>(random.below(std::ssize(keys)))]);
            y.push_back(static_cast<float>(random.below(7)) / 3);
        }
        all.push_back({{"users", Tensor<std::int64_t>(users)}, {"items", Tensor<std::int64_t>(items)}, {"y", Tensor<float>::from_values({5, 1}, y)}});
    }
    return all;
}

/// The row of a key in what was learned; -1: none.
std::int64_t row_of(Parameters const& learned, std::string const& table, std::int64_t key) {
    auto const& keys = learned.get<std::int64_t>(table + "#keys");
    for (std::size_t k = 0; k < keys.size(); ++k)
        if (keys(k) == key) return learned.get<std::int64_t>(table + "#rows")(k);
    return -1;
}

}  // namespace

namespace {

/// The same batches with the rows of keys.
std::vector<Feeds> numbered(std::vector<Feeds> all, Parameters const& learned, bool shared) {
    for (Feeds& feeds : all) {
        for (auto const& [data, table] : {std::pair("users", "u"), std::pair("items", shared ? "u" : "i")}) {
            auto const value = feeds.at(data).value();
            auto rows = value.get<LoDTensor<std::int64_t>>().value();
            for (auto& key : rows) key = row_of(learned, table, key);
            feeds.insert_or_assign(data, rows);
        }
    }
    return all;
}

Parameters trained(Net& net, TrainOptions const& options, std::function<std::vector<Feeds>(std::int64_t)> const& reader) {
    ScopeGuard const guard(net.scope);
    return train(net.cost, reader, options);
}

}  // namespace

TEST_CASE("a table by keys is trained as one by row numbers that begins with the same values", "[train][keyed]") {
    bool const shared = GENERATE(false, true);
    std::int64_t const parts = GENERATE(1, 3);
    std::vector<layer::Optimizer> const optimizers{layer::Sgd{.learning_rate = 0.1}, layer::Momentum{.learning_rate = 0.1}, layer::AdaGrad{.learning_rate = 0.1},
                                                   layer::RowwiseAdaGrad{.learning_rate = 0.1}, layer::Adam{.learning_rate = 0.1}, layer::RmsProp{.learning_rate = 0.1},
                                                   layer::Ftrl{.learning_rate = 0.1}};
    auto const reader = [](std::int64_t epoch) { return batches(static_cast<std::uint64_t>(epoch), 6); };
    auto const options = [&](layer::Optimizer const& optimizer) {
        TrainOptions with{.optimizer = optimizer, .epochs = 3, .seed = 5};
        if (parts != 1) with.parts = parts;
        return with;
    };
    Net first(true, shared);
    auto const begin = trained(first, options(layer::Sgd{.learning_rate = 0}), reader);
    for (auto const& optimizer : optimizers) {
        Net keyed(true, shared), dense(false, shared);
        auto const learned = trained(keyed, options(optimizer), reader);
        auto with = options(optimizer);
        for (auto const* name : {"u", "i"})
            if (begin.contains(name)) with.initial.insert_or_assign(name, begin.get<float>(name).share());
        auto const want = trained(dense, with, [&](std::int64_t epoch) { return numbered(reader(epoch), begin, shared); });
        for (auto const& [name, value] : want) {
            INFO(name);
            CHECK(same(learned.get<float>(name), want.get<float>(name)));
        }
        for (std::int64_t const key : keys) CHECK(row_of(learned, "u", key) == row_of(begin, "u", key));
    }
}

TEST_CASE("a resumed training of tables by keys has the bits of one that was not stopped", "[train][keyed]") {
    auto const reader = [](std::int64_t epoch) { return batches(static_cast<std::uint64_t>(epoch), 4); };
    TrainOptions const options{.optimizer = layer::Adam{.learning_rate = 0.1}, .epochs = 4, .seed = 5};
    Net whole(true), half(true), rest(true);
    auto const want = trained(whole, options, reader);
    auto with = options;
    with.epochs = 2;
    auto const first = trained(half, with, reader);
    with.resume = &first;
    auto const learned = trained(rest, with, [&](std::int64_t epoch) { return reader(epoch + 2); });
    for (auto const& [name, value] : want) {
        INFO(name);
        auto const a = Value(learned.find(name).share()).elements(), b = Value(want.find(name).share()).elements();
        CHECK((a.dims == b.dims && std::ranges::equal(a.bytes, b.bytes)));
    }
}

TEST_CASE("a step that fails leaves no key, and the next one has the bits of a training without it", "[train][keyed]") {
    auto const all = batches(1, 3);
    Net failing(true), smooth(true);
    auto const run = [&](Net& net, bool fails) {
        ScopeGuard const guard(net.scope);
        Trainer<> trainer(net.cost, {.optimizer = layer::AdaGrad{.learning_rate = 0.1}, .seed = 5});
        for (Feeds const& feeds : all) {
            if (fails) {
                Feeds bad = feeds;
                bad.insert_or_assign("users", Tensor<std::int64_t>{1, 2, 3, 4, 5});
                bad.insert_or_assign("y", Tensor<float>::full({5, 1}, NAN));
                CHECK_THROWS_AS(trainer.step(bad), ValueError);
                bad.insert_or_assign("items", Tensor<std::int64_t>{1, 2, 3});
                CHECK_THROWS_AS(trainer.step(bad), ShapeError);
            }
            trainer.step(feeds);
        }
        return trainer.parameters();
    };
    auto const learned = run(failing, true), want = run(smooth, false);
    CHECK(learned.size() == want.size());
    for (auto const& [name, value] : want) {
        INFO(name);
        auto const a = Value(learned.find(name).share()).elements(), b = Value(want.find(name).share()).elements();
        CHECK((a.dims == b.dims && std::ranges::equal(a.bytes, b.bytes)));
    }
}

TEST_CASE("keys that training has not seen read the default row, in infer and in a Predictor", "[train][keyed]") {
    test::DefaultScope const scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, {.lod_level = 1});
    auto const table = layer::embedding_table({.width = 2, .name = "w", .kind = layer::Keyed{}});
    auto const bags = layer::embedding_bag(words, table, {.pool = Pooling::sum});
    auto const learned = train(layer::mean(bags), [](std::int64_t) {
        return std::vector<Feeds>{{{"words", LoDTensor<std::int64_t>::from_nested(std::vector<std::vector<std::int64_t>>{{7, 9}, {}, {7}})}}};
    }, {.optimizer = layer::Sgd{.learning_rate = 0.5}});
    Feeds const asked{{"words", LoDTensor<std::int64_t>::from_nested(std::vector<std::vector<std::int64_t>>{{9, 11}, {11}, {9}})}};
    auto const y = infer(bags, asked, learned).value();
    CHECK((y(1, 0) == 0 && y(0, 0) == y(2, 0) && y(0, 0) != 0));
    Predictor<> const predictor(bags, learned, {.refuse_other_feeds = true});
    CHECK(same(predictor(asked).value(), y));
    CHECK_THROWS_WITH(predictor({}), Catch::Matchers::Contains("the batch has no \"words\""));
}

TEST_CASE("what tables by keys cannot do in nets is refused with a sentence", "[train][keyed][bad_input]") {
    test::DefaultScope const scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const refused = [&](layer::EmbeddingOptions options) {
        options.kind = layer::Keyed{};
        CHECK_THROWS_WITH(layer::embedding(ids, options), "layer::embedding: a table by keys has neither .height nor .rows, .sharded, .unknown or .padding_id");
    };
    refused({.height = 3, .width = 2});
    refused({.width = 2, .padding_id = 0});
    refused({.width = 2, .unknown = 0});
    refused({.width = 2, .sharded = true});
    CHECK_THROWS_WITH(layer::embedding(ids, {.kind = layer::Keyed{}}), "layer::embedding: width is not given, expected the number of elements per row");
    CHECK_THROWS_WITH(layer::embedding(layer::cast<std::int64_t>(ids), {.width = 2, .kind = layer::Keyed{}}), "layer::embedding: keys are layer::data: a net cannot compute them");
    auto const cost = layer::mean(layer::embedding(ids, {.width = 2, .name = "w", .kind = layer::Keyed{}}));
    CHECK_THROWS_WITH(Trainer<>(cost, {.average = layer::MovingAverage{}}), "options.average: tables by keys have no averages");
    CHECK_THROWS_WITH(Trainer<>(cost, {.optimizer = layer::Deferred{layer::Adam{}}}), "w: the updates of a table by keys are not deferred in nets");
}

}  // namespace test_train_keyed
