// tests/train/deferred.cpp
#include <rowan/own_operator.hpp>
#include <rowan/train/deferred.hpp>

#include "inputs.hpp"
#include "layer/check_net.hpp"
#include "parts.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/sampled_loss.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/moving_average.hpp>
#include <rowan/train/train.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace test_train_deferred {

using namespace rowan;

namespace {

constexpr std::int64_t height = 40;

enum class Reads { rows, bags, some_rows, computed_ids, some_computed, all_rows };

/// A net with a table, read in one of several ways, and a dense layer.
layer::Var<float> cost_of(Reads reads) {
    auto const ids = layer::data<std::int64_t>("ids", {UNK}, 1);
    auto const y = layer::data<float>("y", {UNK, 2}, reads == Reads::bags ? 0 : 1);
    layer::EmbeddingOptions options{.height = height, .width = 3, .name = "table"};
    LookupOptions lookup;
    if (reads == Reads::some_rows || reads == Reads::some_computed) {
        options.rows.emplace();
        for (std::int64_t r = 0; r < height; r += 2) options.rows->push_back(r);
        lookup.unknown = 4;
    }
    auto const table = layer::embedding_table(options);
    bool const computed = reads == Reads::computed_ids || reads == Reads::some_computed;
    auto const rows = reads == Reads::bags ? layer::embedding_bag(ids, table, {.pool = Pooling::mean})
                                           : layer::embedding(computed ? (ids + ids) - ids : ids, table, lookup);
    auto const error = layer::fc(rows, {.output_size = 2, .name = "fc"}) - y;
    auto const cost = layer::reduce_mean(error * error);
    return reads == Reads::all_rows ? cost + layer::reduce_mean(table * table) : cost;
}

/// Batch i: sequences of ids, few of which are frequent.
Feeds batch(Reads reads, std::int64_t i) {
    inputs::Random random(static_cast<std::uint64_t>(i) + 11);
    std::vector<std::int64_t> ids, ends{0};
    std::int64_t const bags = 2 + random.below(3);
    for (std::int64_t b = 0; b < bags; ++b) {
        for (std::int64_t k = 1 + random.below(3); k > 0; --k)
            ids.push_back(random.below(random.below(2) == 0 ? 3 : height));
        ends.push_back(static_cast<std::int64_t>(ids.size()));
    }
    auto const n = reads == Reads::bags ? static_cast<std::size_t>(bags) : ids.size();
    auto y = Tensor<float>::from_shape({n, 2});
    for (std::size_t k = 0; k < y.size(); ++k) y.data()[k] = static_cast<float>(random.below(100));
    Feed const target = reads == Reads::bags ? Feed(y) : Feed(LoDTensor<float>(y, Lod{ends}));
    return {{"ids", LoDTensor<std::int64_t>(Tensor<std::int64_t>(ids), Lod{ends})}, {"y", target}};
}

std::vector<Feeds> batches(Reads reads, std::int64_t begin, std::int64_t end) {
    std::vector<Feeds> all;
    for (std::int64_t i = begin; i < end; ++i) all.push_back(batch(reads, i));
    return all;
}

template <class O>
layer::Optimizer deferred(O const& optimizer) {
    return {layer::Deferred{optimizer}, dtypes<float>{}};
}

std::uint64_t hash_of(Value const& value, std::uint64_t h = 0) {
    auto all = value.spec().type == VarType::SELECTED_ROWS ? value.row_values() : value.share();
    return parts::bits(all.elements().bytes, h);
}
std::uint64_t hash_of(Parameters const& p) {
    std::uint64_t h = static_cast<std::uint64_t>(p.steps);
    for (auto const& named : p) h = hash_of(named.second, h);
    return h;
}

/// Trains on batches [begin, end).
Parameters trained(Reads reads, TrainOptions options, std::int64_t end = 30, std::int64_t begin = 0) {
    test::DefaultScope scope;
    auto const cost = cost_of(reads);
    options.schedule = [](std::int64_t step) { return step < 8 ? 0.125 * static_cast<double>(step + 1) : 1.0; };
    return train(
        cost, [&](std::int64_t) { return batches(reads, begin, end); }, options);
}

Tensor<float> row(Variable const& table, std::int64_t i) {
    auto const all = table.value().spec().type == VarType::SELECTED_ROWS
                         ? table.value().get<SelectedRows<float>>().value().share()
                         : table.value().get<LoDTensor<float>>().value().share();
    return gather(all, Tensor<std::int64_t>{i});
}

}  // namespace

TEST_CASE("a deferred optimizer learns the bits of one that is not lazy", "[layer]") {
    auto const check = [](auto dense, Reads reads, std::int64_t parts) {
        TrainOptions options{.clip = layer::ClipByGlobalNorm{.max_norm = 1}, .parts = parts};
        dense.lazy = true;
        options.optimizer = deferred(dense);
        auto const learned = trained(reads, options);
        options.optimizer = dense;
        CHECK(hash_of(learned) != hash_of(trained(reads, options)));
        dense.lazy = false;
        options.optimizer = dense;
        auto const want = trained(reads, options);
        CHECK(learned.size() == want.size());
        CHECK(learned.contains("table@adam.moment") == want.contains("table@adam.moment"));
        CHECK(hash_of(learned) == hash_of(want));
    };
    layer::Adam const adam{.learning_rate = 0.05};
    for (auto const reads : {Reads::rows, Reads::bags, Reads::computed_ids})
        for (std::int64_t const parts : {1, 3}) check(adam, reads, parts);
    check(layer::Adam{.learning_rate = 0.05, .weight_decay = 0.1}, Reads::rows, 1);
    check(layer::Momentum{.learning_rate = 0.05, .nesterov = true}, Reads::bags, 1);
    check(layer::AdamW{.learning_rate = 0.05, .weight_decay = 0.1}, Reads::rows, 1);
    // a dense gradient, of which a lazy optimizer makes the same
    TrainOptions options{.optimizer = deferred(adam)};
    auto const learned = hash_of(trained(Reads::all_rows, options));
    options.optimizer = adam;
    CHECK(learned == hash_of(trained(Reads::all_rows, options)));
}

TEST_CASE("other trainers of a net read the rows that a deferred optimizer has updated, and one alone may defer", "[layer]") {
    auto const run = [](layer::Optimizer const& optimizer) {
        test::DefaultScope scope;
        auto const cost = cost_of(Reads::rows);
        std::vector<double> costs;
        {
            Trainer first(cost, {.optimizer = optimizer}), second(cost, {.optimizer = layer::Sgd{.learning_rate = 0.01}});
            for (std::int64_t i = 0; i < 20; ++i) costs.push_back((i % 3 == 2 ? second : first).step(batch(Reads::rows, i)));
        }
        for (std::size_t i = 0; i < 6; ++i) costs.push_back(static_cast<double>(row(*scope.find("table"), static_cast<std::int64_t>(i))(0, 0)));  // of the scope
        return costs;
    };
    layer::Adam const dense{.learning_rate = 0.05, .lazy = false};
    CHECK(run(deferred(dense)) == run(dense));

    test::DefaultScope scope;
    auto const cost = cost_of(Reads::rows);
    Trainer const first(cost, {.optimizer = deferred(dense)});
    CHECK_THROWS_WITH(Trainer(cost, {.optimizer = deferred(dense)}), "another trainer defers the updates of table, too");
}

TEST_CASE("a training with a deferred optimizer goes on with the same bits, and with the other optimizer", "[layer]") {
    layer::Adam const dense{.learning_rate = 0.05, .lazy = false};
    std::uint64_t const want = hash_of(trained(Reads::rows, {.optimizer = dense}));
    for (bool const first : {false, true}) {
        for (bool const second : {false, true}) {
            auto const optimizer = [&](bool defers) { return defers ? deferred(dense) : layer::Optimizer(dense); };
            auto const half = trained(Reads::rows, {.optimizer = optimizer(first)}, 17);
            CHECK(hash_of(trained(Reads::rows, {.optimizer = optimizer(second), .resume = &half}, 30, 17)) == want);
        }
    }
}

TEST_CASE("averages, and tables of some rows, have the same bits if each step updates all rows", "[layer]") {
    layer::Adam const dense{.learning_rate = 0.05, .lazy = false};
    layer::MovingAverage const average{.decay = 0.9};
    CHECK(hash_of(trained(Reads::bags, {.optimizer = deferred(dense), .average = average})) ==
          hash_of(trained(Reads::bags, {.optimizer = dense, .average = average})));

    CHECK(hash_of(trained(Reads::some_rows, {.optimizer = deferred(dense)})) ==
          hash_of(trained(Reads::some_computed, {.optimizer = deferred(dense)})));
}

TEST_CASE("rows that a batch does not name miss its step, until parameters are asked for", "[layer]") {
    for (auto const reads : {Reads::rows, Reads::bags, Reads::some_rows, Reads::computed_ids}) {
        test::DefaultScope scope;
        auto const cost = cost_of(reads);
        Trainer trainer(cost, {.optimizer = deferred(layer::Momentum{.learning_rate = 0.05})});
        auto const batch_of = [&](std::vector<std::int64_t> const& ids, float target_value = 0) {
            auto const n = static_cast<std::int64_t>(ids.size());
            Lod const lod{{0, n}};
            Tensor<float> const y = Tensor<float>::zeros({reads == Reads::bags ? 1 : ids.size(), 2}) + target_value;
            Feed const target = reads == Reads::bags ? Feed(y) : Feed(LoDTensor<float>(y, lod));
            return Feeds{{"ids", LoDTensor<std::int64_t>(Tensor<std::int64_t>(ids), lod)}, {"y", target}};
        };
        Variable const& table = *scope.find("table");
        trainer.step(batch_of({2, 6}));
        auto const after = row(table, reads == Reads::some_rows ? 1 : 2);
        trainer.step(batch_of({6}));
        auto const now = row(table, reads == Reads::some_rows ? 1 : 2);
        CHECK((now == after) == (reads != Reads::computed_ids));
        auto const learned = trainer.parameters();
        CHECK(row(table, reads == Reads::some_rows ? 1 : 2) != after);
        // a batch that is refused changes nothing, and the next one goes on
        CHECK_THROWS_AS(trainer.step(batch_of({2, 4}, std::numeric_limits<float>::infinity())), ValueError);
        if (reads != Reads::some_rows) CHECK_THROWS_AS(trainer.step(batch_of({2, height})), IndexError);
        CHECK(hash_of(trainer.parameters()) == hash_of(learned));
        trainer.step(batch_of({2}));
        CHECK(trainer.parameters().steps == 3);
    }
}

TEST_CASE("rows of the tables of sampled losses are brought up to date by the ids that are fed", "[layer]") {
    using Numbers = layer::Var<float>;
    struct Inputs {
        Numbers x = layer::data<float>("x", {UNK, 3}), w = layer::parameter({height, 3}, layer::Uniform{-0.1, 0.1}, "w"),
                b = layer::parameter({height}, layer::Constant{0}, "b");
        layer::Var<std::int64_t> label = layer::data<std::int64_t>("label", {UNK}), ids = layer::data<std::int64_t>("ids", {UNK}),
                                 groups = layer::data<std::int64_t>("groups", {UNK, 3});
        layer::Sampled<float> fed{ids, layer::data<float>("of_label", {UNK}), layer::data<float>("of_ids", {UNK})};
        layer::Sampled<float> drawn() const { return layer::sample_classes(w, label, {.samples = 3}); }
    };
    // The hash of what is learned, and how many numbers of w and b change in step 10.
    auto const learned = [](auto const& cost_of, layer::Optimizer const& optimizer) {
        test::DefaultScope scope;
        Trainer trainer(cost_of(Inputs()), {.optimizer = optimizer});
        inputs::Random random(5);
        std::vector<std::vector<float>> seen;
        auto const see = [&] {
            std::vector<float> all;
            for (char const* const name : {"w", "b"}) {
                if (scope.find(name)->value().empty()) continue;  // not in the net
                auto const& x = scope.find(name)->value().get<LoDTensor<float>>().value();
                all.insert(all.end(), x.begin(), x.end());
            }
            seen.push_back(all);
        };
        for (std::size_t step = 0; step < 20; ++step) {
            auto const last = static_cast<std::int64_t>(20 + step);
            Tensor<std::int64_t> const label{random.below(9), random.below(9)}, ids{random.below(20), random.below(20), last},
                groups{{label(0), ids(0), last}, {label(1), ids(1), 2}};
            trainer.step(Feeds{{"x", Tensor<float>(test::values({2, 3}, step))},
                               {"label", label},
                               {"ids", ids},
                               {"groups", groups},
                               {"of_label", Tensor<float>{0.5F, 0.25F}},
                               {"of_ids", Tensor<float>{0.5F, 1, 0.125F}}});
            see();
        }
        std::pair<std::size_t, std::size_t> changed;
        for (std::size_t i = 0; i < seen[9].size(); ++i)
            (i < 3 * height ? changed.first : changed.second) += seen[9][i] != seen[10][i];
        return std::pair(hash_of(trainer.parameters()), changed);
    };
    auto const check = [&](auto const& cost_of, bool each_step, bool has_b = true) {
        layer::Adam const adam{.learning_rate = 0.05, .lazy = false};
        auto const [want, changed] = learned(cost_of, adam);
        auto const [got, changed_too] = learned(cost_of, deferred(adam));
        CHECK(got == want);
        CHECK((each_step ? changed_too.first == changed.first : changed_too.first < changed.first));
        if (has_b) CHECK((each_step ? changed_too.second == changed.second : changed_too.second < changed.second));
    };
    check([](Inputs const& in) { return layer::sampled_softmax(in.x, in.w, in.b, in.label, in.fed); }, false);
    check([](Inputs const& in) { return layer::nce(in.x, in.w, in.b, in.label, in.fed); }, false);
    check([](Inputs const& in) { return layer::reduce_mean(layer::negative_sampling(in.x, in.w, in.groups)); }, false, false);
    check([](Inputs const& in) { return layer::sampled_softmax(in.x, in.w, in.b, in.label, in.drawn()); }, true);
    // one table for words and for classes
    check([](Inputs const& in) { return layer::sampled_softmax(layer::embedding(in.label, in.w), in.w, in.b, in.label, in.fed); }, false);
    // all rows are read besides
    check([](Inputs const& in) { return layer::nce(in.x, in.w, in.b, in.label, in.fed) + layer::reduce_mean(in.w) + layer::reduce_mean(in.b); }, true);
}

}  // namespace test_train_deferred
