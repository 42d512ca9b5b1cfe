// tests/train/keyed.cpp: tables by keys in nets.
#include <rowan/train/keyed.hpp>
#include <rowan/own_operator.hpp>

#include "layer/check_net.hpp"
#include "reference.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/embedding_bags.hpp>
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

/// How the rows of a table are named.
enum class Names { numbers, keys, strings };

std::string text_of(std::int64_t key) { return key == 0 ? "" : "key " + std::to_string(key); }

/// Users and items in two tables, or, if `shared`, in one.
struct Net {
    explicit Net(Names of, bool shared = false, layer::Keyed kind = {}) : names(of), cost(made(shared, kind)) {}

    layer::Var<float> made(bool shared, layer::Keyed const& kind) {
        return names == Names::strings ? made_of<std::string>(shared, kind) : made_of<std::int64_t>(shared, kind);
    }
    template <class Key>
    layer::Var<float> made_of(bool shared, layer::Keyed const& kind) {
        auto const users = layer::data<Key>("users", {UNK}), items = layer::data<Key>("items", {UNK});
        auto const options = [&](char const* name) {
            layer::EmbeddingOptions of{.width = 3, .name = name};
            if (names == Names::numbers) {
                of.height = std::ssize(keys) + 1;
            } else {
                of.kind = kind;
            }
            return of;
        };
        auto const table = layer::embedding_table(options("u"));
        auto const u = layer::embedding(users, table);
        auto const i = shared ? layer::embedding(items, table) : layer::embedding(items, options("i"));
        predict = layer::fc(layer::mul(u, i), {.output_size = 1, .name = "out"});
        return layer::mse(*predict, layer::data<float>("y", {UNK, 1}));
    }

    Names names;
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
        all.push_back({{"users", users}, {"items", items}, {"y", Tensor<float>::from_values({5, 1}, y)}});
    }
    return all;
}

/// The row of a key in what was learned; -1: none.
std::int64_t row_of(Parameters const& learned, Names names, std::string const& table, std::int64_t key) {
    Value const& found = learned.find(table + "#keys");
    auto const& rows = learned.get<std::int64_t>(table + "#rows");
    auto const at = [&](auto const& all, auto const& wanted) {
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (all(k) == wanted) return rows(k);
        return std::int64_t{-1};
    };
    if (names == Names::keys)
        return at([&](std::size_t k) { return found.get<LoDTensor<std::int64_t>>().value()(k); }, key);
    auto const& bytes = found.get<LoDTensor<std::uint8_t>>();
    Strings const texts(std::string(bytes.value().begin(), bytes.value().end()), bytes.lod());
    return at([&](std::size_t k) { return texts[k]; }, text_of(key));
}

/// The same batches with keys of a net, or their rows in what was learned.
std::vector<Feeds> named(std::vector<Feeds> all, Names names, Names of = {}, Parameters const* learned = nullptr,
                         bool shared = false) {
    for (Feeds& feeds : all) {
        for (auto const& [data, table] : {std::pair("users", "u"), std::pair("items", shared ? "u" : "i")}) {
            auto const value = feeds.at(data).value();
            auto rows = value.get<LoDTensor<std::int64_t>>().value();
            if (names == Names::strings) {
                std::vector<std::string> texts;
                for (auto const key : rows) texts.push_back(text_of(key));
                feeds.insert_or_assign(data, texts);
            } else if (names == Names::numbers) {
                for (auto& key : rows) key = row_of(*learned, of, table, key);
                feeds.insert_or_assign(data, rows);
            }
        }
    }
    return all;
}

Parameters trained(Net& net, TrainOptions const& options, std::function<std::vector<Feeds>(std::int64_t)> const& reader) {
    ScopeGuard const guard(net.scope);
    return train(net.cost, [&](std::int64_t epoch) { return net.names == Names::numbers ? reader(epoch) : named(reader(epoch), net.names); },
                 options);
}

/// The same values; of tables by keys the rows that keys have.
void check_same(Parameters const& learned, Parameters const& want) {
    CHECK(learned.size() == want.size());
    for (auto const& [name, value] : want) {
        INFO(name);
        auto const a = Value(learned.find(name).share()).elements(), b = Value(want.find(name).share()).elements();
        REQUIRE(a.dims == b.dims);
        auto const rows = name.substr(0, name.find('@')) + "#rows";
        if (name.find('#') != std::string::npos || !want.contains(rows)) {
            CHECK(std::ranges::equal(a.bytes, b.bytes));
            continue;
        }
        std::size_t const size = a.bytes.size() / static_cast<std::size_t>(a.dims[0]);
        for (auto const row : want.get<std::int64_t>(rows)) {
            auto const at = static_cast<std::size_t>(row) * size;
            CHECK(std::ranges::equal(a.bytes.subspan(at, size), b.bytes.subspan(at, size)));
        }
    }
}

}  // namespace

TEST_CASE("a table by keys is trained as one by row numbers that begins with the same values", "[train][keyed]") {
    auto const names = GENERATE(Names::keys, Names::strings);
    bool const shared = GENERATE(false, true);
    std::int64_t const parts = GENERATE(1, 3);
    std::vector<layer::Optimizer> const optimizers{
        layer::Sgd{.learning_rate = 0.1},     layer::Momentum{.learning_rate = 0.1},
        layer::AdaGrad{.learning_rate = 0.1}, layer::RowwiseAdaGrad{.learning_rate = 0.1},
        layer::Adam{.learning_rate = 0.1},    layer::RmsProp{.learning_rate = 0.1},
        layer::Ftrl{.learning_rate = 0.1},    layer::Deferred{layer::Adam{.learning_rate = 0.1}},
        layer::Deferred{layer::Momentum{.learning_rate = 0.1}}};
    auto const reader = [](std::int64_t epoch) { return batches(static_cast<std::uint64_t>(epoch), 6); };
    auto const options = [&](layer::Optimizer const& optimizer) {
        TrainOptions with{.optimizer = optimizer, .epochs = 3, .seed = 5};
        if (parts != 1) with.parts = parts;
        return with;
    };
    Net first(names, shared);
    auto const begin = trained(first, options(layer::Sgd{.learning_rate = 0}), reader);
    for (std::size_t n = 0; n < optimizers.size(); ++n) {
        INFO("optimizer " << n);
        Net keyed(names, shared), dense(Names::numbers, shared);
        auto const learned = trained(keyed, options(optimizers[n]), reader);
        auto with = options(optimizers[n]);
        for (auto const* name : {"u", "i"})
            if (begin.contains(name)) with.initial.insert_or_assign(name, begin.get<float>(name).share());
        auto const want = trained(dense, with, [&](std::int64_t epoch) {
            return named(reader(epoch), Names::numbers, names, &begin, shared);
        });
        for (auto const& [name, value] : want) {
            INFO(name);
            CHECK(same(learned.get<float>(name), want.get<float>(name)));
        }
        for (std::int64_t const key : keys) CHECK(row_of(learned, names, "u", key) == row_of(begin, names, "u", key));
    }
}

TEST_CASE("a resumed training of tables by keys has the bits of one that was not stopped", "[train][keyed]") {
    auto const names = GENERATE(Names::keys, Names::strings);
    auto const reader = [](std::int64_t epoch) { return batches(static_cast<std::uint64_t>(epoch), 4); };
    TrainOptions const options{.optimizer = layer::Adam{.learning_rate = 0.1}, .epochs = 4, .seed = 5};
    layer::Keyed const kind{.sightings = 2, .eviction = {.idle = 2, .every = 3}};
    Net whole(names, false, kind), half(names, false, kind), rest(names, false, kind);
    auto const want = trained(whole, options, reader);
    auto with = options;
    with.epochs = 2;
    auto const first = trained(half, with, reader);
    with.resume = &first;
    check_same(trained(rest, with, [&](std::int64_t epoch) { return reader(epoch + 2); }), want);
}

TEST_CASE("a step that fails leaves no key, and the next one has the bits of a training without it", "[train][keyed]") {
    bool const deferred = GENERATE(false, true);
    auto const all = batches(1, 3);
    layer::Keyed const kind{.eviction = {.most = 4}};
    Net failing(Names::keys, false, kind), smooth(Names::keys, false, kind);
    auto const run = [&](Net& net, bool fails) {
        ScopeGuard const guard(net.scope);
        TrainOptions options{.optimizer = layer::AdaGrad{.learning_rate = 0.1}, .seed = 5};
        if (deferred) options.optimizer = layer::Deferred{layer::Adam{.learning_rate = 0.1}};
        Trainer<> trainer(net.cost, options);
        for (Feeds const& feeds : all) {
            if (fails) {
                Feeds bad = feeds;
                bad.insert_or_assign("users", Tensor<std::int64_t>{1, 2, 3, 4, 5});
                bad.insert_or_assign("y", Tensor<float>::full({5, 1}, NAN));
                CHECK_THROWS_AS(trainer.step(bad), ValueError);
                bad.insert_or_assign("items", Tensor<std::int64_t>{1, 2, 3});
                CHECK_THROWS_AS(trainer.step(bad), ShapeError);
                static_cast<void>(trainer.parameters());
            }
            trainer.step(feeds);
        }
        return trainer.parameters();
    };
    auto const learned = run(failing, true);
    check_same(learned, run(smooth, false));
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

TEST_CASE("bags of several tables by keys have the bits of each alone", "[train][keyed]") {
    using Bags = std::vector<std::vector<std::string>>;
    Feeds const fed{{"users", Bags{{"a", "b"}, {}}}, {"items", Bags{{"a"}, {"c", "a"}}},
                    {"both", Bags{{"a", "b"}, {}, {"a"}, {"c", "a"}}}};
    auto const train_with = [&](bool together) {
        test::DefaultScope const scope;
        auto const users = layer::data<std::string>("users", {UNK}, 1), items = layer::data<std::string>("items", {UNK}, 1);
        auto const both = layer::data<std::string>("both", {UNK}, 1);
        auto const table = [&](char const* name) { return layer::EmbeddingOptions{.width = 2, .name = name, .kind = layer::Keyed{}}; };
        auto const x = together ? layer::embedding_bags(both, {.width = 2, .names = {"u", "i"}, .kind = layer::Keyed{}})
                                : layer::concat({layer::embedding_bag(users, table("u"), {.pool = Pooling::sum}),
                                                 layer::embedding_bag(items, table("i"), {.pool = Pooling::sum})}, {.axis = 1});
        auto const cost = layer::reduce_sum(layer::square(x));
        auto learned = train(cost, [&](std::int64_t) { return std::vector<Feeds>(3, fed); }, {.optimizer = layer::Adam{}, .seed = 3});
        auto const y = infer(x, fed, learned).value();
        return std::pair(std::move(learned), Tensor<float>(y));
    };
    auto const [one, y] = train_with(true);
    auto const [two, z] = train_with(false);
    check_same(one, two);
    CHECK(same(y, z));
}

TEST_CASE("what tables by keys cannot do in nets is refused with a sentence", "[train][keyed][bad_input]") {
    test::DefaultScope const scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const refused = [&](layer::EmbeddingOptions options) {
        options.kind = layer::Keyed{};
        CHECK_THROWS_AS(layer::embedding(ids, options), GraphError);
    };
    refused({.height = 3, .width = 2});
    refused({.width = 2, .padding_id = 0});
    refused({.width = 2, .unknown = 0});
    refused({.width = 2, .sharded = true});
    CHECK_THROWS_WITH(layer::embedding(ids, {.kind = layer::Keyed{}}), "layer::embedding: width is not given, expected the number of elements per row");
    using Catch::Matchers::Contains, Catch::Matchers::StartsWith;
    CHECK_THROWS_WITH(layer::embedding(layer::cast<std::int64_t>(ids), {.width = 2, .kind = layer::Keyed{}}),
                      StartsWith("layer::embedding: keys are layer::data"));
    CHECK_THROWS_WITH(layer::embedding(layer::data<std::int32_t>("narrow", {UNK}), {.width = 2, .kind = layer::Keyed{}}),
                      Contains("i64 or strings"));
    CHECK_THROWS_WITH(layer::embedding(ids, {.width = 2, .table = layer::XavierUniform{}, .kind = layer::Keyed{}}),
                      Contains("Uniform, Normal or Constant"));
    CHECK_THROWS_WITH(layer::embedding(layer::data<std::string>("words", {UNK}), {.height = 3, .width = 2}),
                      "layer::embedding: strings are keys: give .kind = layer::Keyed{}");
    auto const table = layer::embedding_table({.width = 2, .name = "w", .kind = layer::Keyed{}});
    auto const cost = layer::mean(layer::embedding(ids, table));
    CHECK_THROWS_WITH(layer::embedding(layer::data<std::string>("texts", {UNK}), table), Contains("integers or strings"));
    CHECK_THROWS_WITH(layer::embedding(ids, table, {.padding_id = 0}), Contains(".padding_id"));
    CHECK_THROWS_WITH(layer::embedding_bag(layer::data<std::int64_t>("bags", {UNK}, 1), {.width = 2, .kind = layer::Keyed{}}, {.padding_id = 0}),
                      Contains(".padding_id"));
    CHECK_THROWS_WITH(layer::embedding_bags(layer::data<std::int64_t>("more", {UNK}, 1), {.width = 2, .kind = layer::Keyed{}}), Contains("the number of tables"));
    Trainer<> const other(cost);
    CHECK_THROWS_WITH(Trainer<>(cost), "another trainer has the table w");
    CHECK_THROWS_WITH(Trainer<>(cost, {.rates = {{"w#keys", 1.0}}}), Contains("there is no parameter"));
    CHECK_THROWS_WITH(Trainer<>(cost, {.average = layer::MovingAverage{}}), Contains("without averages"));
    CHECK_THROWS_WITH(Trainer<>(layer::mean(layer::add(layer::embedding(ids, table), layer::reduce_sum(table)))), Contains("nets read it by layer::embedding"));
    CHECK_THROWS_WITH(layer::data<std::string>("pairs", {UNK, 2}), Contains("the rank of strings"));
    CHECK_THROWS_AS(layer::TableKind(layer::Keyed{.sightings = -1}), ValueError);
    CHECK_THROWS_AS(layer::TableKind(layer::Keyed{.probability = 2}), ValueError);
    CHECK_THROWS_AS(layer::TableKind(layer::Keyed{.sightings = 2, .default_row = false}), ValueError);
    CHECK_THROWS_AS(layer::TableKind(layer::Keyed{.eviction = {.idle = -1}}), ValueError);
    CHECK_THROWS_AS(layer::TableKind(layer::Keyed{.eviction = {.every = 0}}), ValueError);
}

TEST_CASE("keys without a row are errors where there is no default row", "[train][keyed][bad_input]") {
    test::DefaultScope const scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const x = layer::embedding(ids, {.width = 2, .name = "w", .kind = layer::Keyed{.default_row = false}});
    auto const learned = train(layer::mean(x), [](std::int64_t) { return std::vector<Feeds>{{{"ids", Tensor<std::int64_t>{5, 6}}}}; });
    CHECK(infer(x, {{"ids", Tensor<std::int64_t>{6, 5}}}, learned).value().shape(0) == 2);
    CHECK_THROWS_WITH(infer(x, {{"ids", Tensor<std::int64_t>{6, 8}}}, learned), Catch::Matchers::Contains("ids[1] = 8 has no row"));
}

TEST_CASE("keys lose their rows by the time that batches give, and are reported", "[train][keyed]") {
    test::DefaultScope const scope;
    auto const ids = layer::data<std::string>("ids", {UNK});
    layer::data<std::int64_t>("day", {1});
    std::vector<layer::Evicted> all;
    layer::Keyed const kind{.eviction = {.idle = 1, .most = 3, .time = "day", .report = [&](layer::Evicted const& e) { all.push_back(e); }}};
    auto const cost = layer::mean(layer::embedding(ids, {.width = 2, .name = "w", .kind = kind}));
    Trainer<> trainer(cost);
    using Texts = std::vector<std::string>;
    auto const step = [&](std::int64_t day, Texts const& keys) { trainer.step(Feeds{{"ids", keys}, {"day", Tensor<std::int64_t>{day}}}); };
    step(1, {"a", "b"});
    step(1, {"c"});
    CHECK(all.empty());
    step(2, {"d", "b"});  // of a, b, c and d one too many, and a is the smallest of the oldest
    REQUIRE(all.size() == 1);
    CHECK((all[0].time == 2 && all[0].strings == Texts{"a"}));
    step(4, {"d"});
    REQUIRE(all.size() == 2);
    CHECK((all[1].time == 4 && all[1].strings == Texts{"b", "c"}));
    CHECK_THROWS_WITH(trainer.step(std::span<Feeds const>()), Catch::Matchers::Contains("batches"));
    CHECK_THROWS_WITH(step(3, {"d"}), Catch::Matchers::Contains("the time of a step"));
    CHECK_THROWS_WITH(trainer.step(Feeds{{"ids", Texts{"d"}}}), Catch::Matchers::Contains("the batch has no \"day\""));
    CHECK(trainer.parameters().get<std::int64_t>("w#rows").size() == 1);
}

}  // namespace test_train_keyed
