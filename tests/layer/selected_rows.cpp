// tests/layer/selected_rows.cpp
#include <rowan/layer/selected_rows.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/operators.hpp>
#include <rowan/layer/compare.hpp>
#include <rowan/layer/cond.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/train/train.hpp>
#include <rowan/layer/while_loop.hpp>
#include <rowan/sparse/add.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace test_selected_rows {

using namespace rowan;

using Rows = std::vector<std::int64_t>;

Feeds batch(Tensor<std::int64_t> const& ids) {
    return {{"ids", ids}, {"y", Tensor<float>::full({ids.size(), 2}, 0.5F)}};
}

TEST_CASE("a lookup finds the rows of a table that is data", "[layer]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK, UNK});
    auto const table = layer::selected_rows<float>("table", {UNK, 2});
    auto const out = layer::embedding(ids, table, {.padding_id = 7});
    SelectedRows<float> const rows(31, {30, 10, 20}, Tensor<float>{{5, 6}, {1, 2}, {3, 4}});
    Feeds feeds{{"ids", Tensor<std::int64_t>{{30, 10}, {7, 30}}}, {"table", rows}};
    CHECK((infer(out, feeds, {}).value() == Tensor<float>{{{5, 6}, {1, 2}}, {{0, 0}, {5, 6}}}));
    feeds.insert_or_assign("ids", Tensor<std::int64_t>{{30, 11}});
    CHECK_THROWS_WITH(infer(out, feeds, {}), Catch::Matchers::Contains("ids[1] = 11 is not a row of the table"));
    feeds.insert_or_assign("ids", Tensor<std::int64_t>{{7}});
    feeds.insert_or_assign("table", SelectedRows<float>(8, {}, Tensor<float>::from_shape({0, 2})));
    CHECK((infer(out, feeds, {}).value() == Tensor<float>{{{0, 0}}}));
    feeds.insert_or_assign("table", Tensor<float>::zeros({8, 2}));
    CHECK_THROWS_WITH(infer(out, feeds, {}), "table is LoDTensor<f32>, expected SelectedRows<f32>");
    feeds.insert_or_assign("table", SelectedRows<float>(8, {}, Tensor<float>::from_shape({0, 3})));
    CHECK_THROWS_WITH(infer(out, feeds, {}), "table.shape() is [8, 3], expected [UNK, 2]");
}

TEST_CASE("a trained table of some rows has the bits of these rows of a whole table, with every optimizer", "[layer]") {
    Rows const present{9, 2, 5, 7};
    auto const run = [&](layer::Optimizer const& optimizer, bool some, std::int64_t parts, bool clip) {
        test::DefaultScope scope;
        auto const ids = layer::data<std::int64_t>("ids", {UNK});
        layer::EmbeddingOptions options{.height = 10, .width = 2, .padding_id = 5, .name = "table"};
        if (some) options.rows = present;
        auto const cost = layer::mse(layer::embedding(ids, options), layer::data<float>("y", {UNK, 2}));
        TrainOptions all{.optimizer = optimizer, .parts = parts, .epochs = 3};
        if (clip) all.clip = layer::ClipByGlobalNorm{.max_norm = 0.25};
        return train(
            cost,
            [](std::int64_t) {
                return std::vector{batch({2, 9, 2, 5}), batch({7, 9}), batch({2, 2, 2})};
            },
            all);
    };
    for (layer::Optimizer const& optimizer :
         {layer::Optimizer(layer::Sgd{}), layer::Optimizer(layer::AdaGrad{}), layer::Optimizer(layer::RowwiseAdaGrad{}),
          layer::Optimizer(layer::Momentum{}), layer::Optimizer(layer::Adam{}), layer::Optimizer(layer::AdamW{}),
          layer::Optimizer(layer::Adamax{}), layer::Optimizer(layer::Adadelta{}), layer::Optimizer(layer::RmsProp{}), layer::Optimizer(layer::Ftrl{})}) {
        for (std::int64_t const parts : {1, 2}) {
            auto const some = run(optimizer, true, parts, parts == 2), whole = run(optimizer, false, parts, parts == 2);
            auto const& rows = some.get_rows<float>("table");
            CHECK(rows.height() == 10);
            CHECK(Rows(rows.rows().begin(), rows.rows().end()) == present);
            CHECK(rows.value() == gather(whole.get<float>("table"), present));
            for (auto const& named : some.states())
                CHECK(some.get<float>(named.first) == gather(whole.get<float>(named.first), present));
        }
    }
}

TEST_CASE("a missing row is an error that changes nothing, and rows are added by resuming", "[layer]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const out = layer::embedding(ids, {.height = 10, .width = 2, .name = "table", .rows = Rows{3, 1}});
    auto const cost = layer::mse(out, layer::data<float>("y", {UNK, 2}));
    Trainer trainer(cost, {.optimizer = layer::AdaGrad{}});
    auto const before = trainer.parameters();
    CHECK_THROWS_WITH(trainer.step(batch({1, 4})), Catch::Matchers::Contains("ids[1] = 4 is not a row of the table"));
    CHECK(trainer.parameters().get_rows<float>("table") == before.get_rows<float>("table"));
    trainer.step(batch({1, 3}));
    auto learned = trainer.parameters();
    CHECK(learned.get_rows<float>("table") != before.get_rows<float>("table"));

    auto const& old = learned.get_rows<float>("table");
    Value grown, state;
    grown.set(add(old, SelectedRows<float>(10, {4}, Tensor<float>{{8, 9}})));
    auto moment = Tensor<float>::zeros({3, 2});
    std::copy_n(learned.get<float>("table@adagrad.moment").data(), 4, moment.data());
    state.set(LoDTensor<float>(moment));
    Parameters more = learned.share();
    more.set("table", std::move(grown));
    more.set("table@adagrad.moment", std::move(state));
    Trainer resumed(cost, {.optimizer = layer::AdaGrad{}, .resume = &more});
    resumed.step(batch({4, 1}));
    CHECK(resumed.parameters().get_rows<float>("table").value()(2, 0) < 8);
    CHECK(resumed.parameters().get_rows<float>("table").value()(0, 0) == more.get_rows<float>("table").value()(0, 0));

    more.set("table@adagrad.moment", learned.find("table@adagrad.moment").share());  // too small: not repaired
    CHECK_THROWS_WITH(Trainer(cost, {.optimizer = layer::AdaGrad{}, .resume = &more}),
                      "table@adagrad.moment.shape(0) is 2, expected 3, the number of rows of table");
}

TEST_CASE("ids of no row train the row of unknown ids, and read it at serving", "[layer]") {
    auto const run = [](bool unknown, bool bag, layer::EmbeddingOptions options) {
        test::DefaultScope scope;
        auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
        options.height = 10, options.width = 2, options.name = "table";
        if (unknown) options.unknown = 3;
        auto const out = bag ? layer::embedding_bag(ids, options, {}) : layer::embedding(ids, options);
        auto const feeds = [&](Tensor<std::int64_t> const& list) {
            return Feeds{{"ids", LoDTensor<std::int64_t>(list, Lod{{0, 1, 2, 3, 4}})}, {"y", Tensor<float>::full({4, 2}, 0.5F)}};
        };
        auto const batch = unknown ? feeds({-1, 7, 12, 3}) : feeds({3, 7, 3, 3});
        auto const cost = layer::mse(out, layer::data<float>("y", {UNK, 2}));
        auto const learned = train(
            cost, [&](std::int64_t) { return std::vector{batch, batch}; }, {.optimizer = layer::Adam{}});
        return infer(out, batch, learned).value();
    };
    for (bool const bag : {false, true}) {
        CHECK(run(true, bag, {}) == run(false, bag, {}));
        CHECK(run(true, bag, {.rows = Rows{7, 3}}) == run(false, bag, {.rows = Rows{7, 3}}));
        CHECK(run(true, bag, {.sharded = true}) == run(false, bag, {}));
    }
}

TEST_CASE("bags of a table of some rows have the bits of the whole table", "[layer]") {
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
        SelectedRows<float> const some(10, {7, 2, 5}, inputs::wild<float>({3, 2}, 3));
        auto const whole = to_dense(some);
        LoDTensor<std::int64_t> const ids(Tensor<std::int64_t>{2, 7, 7, 9, 5}, Lod{{0, 2, 2, 5}});
        BagOptions const options{.pool = pool, .padding_id = 9};
        Cpu const exec;
        CHECK(embedding_bag(exec, some, ids, options) == embedding_bag(exec, whole, ids, options));
        Tensor<float> const out_grad{{1, 2}, {3, 4}, {5, 6}};
        auto const g = embedding_bag_grad(exec, some, ids, out_grad, options);
        CHECK(g == embedding_bag_grad(exec, whole, ids, out_grad, options));
    }
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const bags = layer::embedding_bag(words, {.height = 9, .width = 2, .rows = Rows{8, 0}}, {});
    auto const cost = layer::mse(bags, layer::data<float>("y", {UNK, 2}));
    Feeds const feeds{{"words", LoDTensor<std::int64_t>::from_nested({{8, 0}, {0}})},
                      {"y", Tensor<float>::zeros({2, 2})}};
    Trainer trainer(cost);
    double const first = trainer.step(feeds);
    CHECK(trainer.step(feeds) < first);
}

TEST_CASE("a table of some doubles that is looked up in a step has the bits of a whole one", "[layer]") {
    auto const run = [](bool some) {
        test::DefaultScope scope;
        auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
        layer::EmbeddingOptions options{.height = 9, .width = 2, .name = "table"};
        if (some) options.rows = Rows{4, 8, 0};
        auto const table = layer::embedding_table<double>(options);
        auto const states = layer::rnn<double>(words, 2, [&](auto word, auto state) {
            auto const next = layer::tanh(layer::embedding(word, table) + state);
            return layer::Step{next, next};
        });
        auto const cost = layer::mean(states * states);
        Feeds const feeds{{"words", LoDTensor<std::int64_t>::from_nested({{8, 0, 8}, {}, {4, 8}})}};
        return train(cost, [&](std::int64_t) { return std::vector(2, feeds); }, {.optimizer = layer::AdaGrad{}});
    };
    auto const some = run(true), whole = run(false);
    CHECK(some.get_rows<double>("table").value() == gather(whole.get<double>("table"), {4, 8, 0}));
}

TEST_CASE("a table of some rows that a branch or loop did not use has a gradient without rows", "[layer]") {
    test::DefaultScope scope;
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const table = layer::embedding_table({.height = 9, .width = 2, .name = "table", .rows = Rows{4, 8}});
    auto const flag = layer::data<bool>("flag", {1});
    auto const branch = layer::cond(
        flag, [&] { return layer::embedding(ids, table); }, [&] { return layer::embedding(ids, table); });
    auto const loop = layer::while_loop(
        branch, [&](auto const&) { return layer::logical_not(flag); },
        [&](auto const& x) { return x + layer::embedding(ids, table); });
    Trainer trainer(layer::mean(loop), {.optimizer = layer::Sgd{.learning_rate = 2}});
    auto const before = trainer.parameters();
    trainer.step({{"ids", Tensor<std::int64_t>{8}}, {"flag", Tensor<bool>{true}}});
    auto const& rows = before.get_rows<float>("table").value();
    auto const trained = trainer.parameters();
    auto const& learned = trained.get_rows<float>("table").value();
    CHECK(learned(0, 0) == rows(0, 0));
    CHECK(learned(1, 0) == rows(1, 0) - 1);
}

TEST_CASE("wrong tables are refused when the net is built", "[layer]") {
    test::DefaultScope scope;
    CHECK_THROWS_WITH(layer::selected_rows<float>({1, 4}, {4, 2}, {0, 0}), "rows[1] = 4 is not in [0, 4)");
    CHECK_THROWS_WITH(layer::selected_rows<float>({1, 2, 1}, {4, 2}, {0, 0}), "rows[2] = 1 is a repeated row");
    CHECK_THROWS_AS(layer::selected_rows<float>("x", {}), ShapeError);
    auto const ids = layer::data<std::int64_t>("ids", {UNK});
    auto const out = layer::embedding(ids, {.height = 10, .width = 2, .name = "table", .rows = Rows{3, 1}});
    auto const cost = layer::mse(out, layer::data<float>("y", {UNK, 2}));
    CHECK_THROWS_WITH(Trainer(cost, {.optimizer = layer::Adam{.lazy = false}}),
                      "an optimizer that updates all rows: table is SelectedRows<f32>, expected a LoDTensor");
    CHECK_THROWS_WITH(Trainer(cost, {.optimizer = layer::Lamb{}}),
                      "an optimizer that updates all rows: table is SelectedRows<f32>, expected a LoDTensor");
    CHECK_THROWS_WITH(Trainer(cost, {.average = layer::MovingAverage{}}),
                      "the moving average of table is SelectedRows<f32>, expected a LoDTensor");
}

}  // namespace test_selected_rows
