// tests/train/loss_rows.cpp: batches in which features, or all losses, have no rows.
#include <rowan/own_operator.hpp>
#include <rowan/train/detail/loss_rows.hpp>

#include "layer/check_net.hpp"

#include "inputs.hpp"
#include "parts.hpp"

#include <rowan/layer/batch_norm.hpp>
#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/gru.hpp>
#include <rowan/layer/if_else.hpp>
#include <rowan/layer/layer_norm.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/lstm.hpp>
#include <rowan/layer/map_fn.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/sampled_loss.hpp>
#include <rowan/layer/sequence_conv.hpp>
#include <rowan/train/deferred.hpp>
#include <rowan/train/train.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test_loss_rows {

using namespace rowan;

namespace {

using Words = layer::Var<std::int64_t>;
using Var = layer::Var<float>;

/// Sentences of these lengths, each with a row of x and y.
Feeds batch(std::vector<std::int64_t> const& lengths, std::uint64_t seed = 1) {
    inputs::Random random(seed);
    std::vector<std::int64_t> words, ends{0};
    for (std::int64_t const n : lengths) {
        for (std::int64_t i = 0; i < n; ++i) words.push_back(random.below(7));
        ends.push_back(std::ssize(words));
    }
    auto x = Tensor<float>::from_shape({lengths.size(), 3}), y = Tensor<float>::from_shape({lengths.size(), 2});
    for (auto* const t : {&x, &y}) {
        for (float& e : *t) e = static_cast<float>(random.normal());
    }
    return {{"words", LoDTensor<std::int64_t>(Tensor<std::int64_t>(words), Lod{ends})}, {"x", x}, {"y", y}};
}

Words words() {
    if (Variable* const there = default_scope().find("words")) return Words(*there);
    return layer::data<std::int64_t>("words", {UNK}, 1);
}
Var looked_up() { return layer::embedding(words(), {.height = 7, .width = 3}); }
Var x() { return layer::data<float>("x", {UNK, 3}); }
Var y() { return layer::data<float>("y", {UNK, 2}); }

/// The batch without what the net does not read.
Feeds fed(Var const& cost, Feeds all) {
    for (auto it = all.begin(); it != all.end();) it = cost->scope().find(it->first) == nullptr ? all.erase(it) : std::next(it);
    return all;
}

/// Of all values and the number of steps.
std::uint64_t bits(Parameters const& p) {
    auto h = static_cast<std::uint64_t>(p.steps);
    for (auto const& [name, value] : p) {
        Value shared = value.share();
        h = parts::bits(shared.elements().bytes, h);
    }
    return h;
}

bool finite(Parameters const& p) {
    for (auto const& [name, value] : p) {
        if (value.spec().dtype != dtype<float>::wire) continue;
        for (float const e : value.get<LoDTensor<float>>().value()) {
            if (!std::isfinite(e)) return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("a feature without rows is trained with the others, in all layers of sequences", "[train]") {
    struct Case {
        char const* name;
        std::function<Var()> rows;  // whose mean is the cost
        bool of_words = false;      // whether they are those of the words
    };
    auto const pooled = [](Var const& v, Pooling pool = Pooling::sum) { return layer::sequence_pool(v, {.pool = pool}); };
    std::vector<Case> const cases{
        {"sum", [=] { return pooled(looked_up()); }},
        {"max", [=] { return pooled(looked_up(), Pooling::max); }},
        {"gru", [=] { return pooled(layer::gru(looked_up(), {.size = 3}), Pooling::last); }},
        {"gru of two directions", [=] { return pooled(layer::gru(looked_up(), {.size = 3, .layers = 2, .bidirectional = true})); }},
        {"lstm", [=] { return pooled(layer::lstm(looked_up(), {.size = 3, .layers = 2, .bidirectional = true}), Pooling::mean); }},
        {"bag", [] { return layer::embedding_bag(words(), {.height = 7, .width = 3}, {.pool = Pooling::mean}); }},
        {"last of rnn", [] {
             return layer::drop_levels(layer::rnn_with_last<float>(looked_up(), 3, [](auto const& now, auto const& before) {
                 auto const next = layer::tanh(now + before);
                 return layer::Step{next, next};
             }).last);
         }},
        {"crf", [] {
             auto const w = layer::parameter<float>({9, 7}, {-1, 1}, "w");
             return layer::linear_chain_crf(layer::fc(looked_up(), {.output_size = 7}), w, words());
         }},
        {"with others", [=] { return layer::concat({pooled(looked_up()), layer::fc(x(), {.output_size = 2})}, {.axis = 1}); }},
        {"norms", [=] { return pooled(layer::layer_norm(layer::batch_norm(layer::fc(looked_up(), {.output_size = 3})))); }},
        {"rows mapped", [=] {
             return pooled(layer::map_fn(looked_up(), [](auto const& row) { return layer::tanh(layer::fc(row, {.output_size = 2})); }));
         }},
        {"parts of the words", [] {
             return layer::if_else(layer::less(layer::drop_levels(words()), 3), layer::drop_levels(looked_up()), [](auto const& r) { return layer::fc(r, {.output_size = 2}); },
                                   [](auto const& r) { return layer::fc(r, {.output_size = 2}); });
         }, true},
        {"joined sequences", [=] {
             auto const rows = looked_up();
             return pooled(layer::sequence_concat({rows, layer::sequence_reverse(rows)}));
         }},
        {"words", [] { return layer::dropout(layer::fc(looked_up(), {.output_size = 3})); }, true},
        {"softmax", [] { return layer::sequence_softmax(layer::fc(looked_up(), {.output_size = 1})); }, true},
        {"convolution", [] { return layer::sequence_conv(looked_up(), {.output_size = 3}); }, true},
        {"expand", [] { return layer::sequence_expand(layer::fc(x(), {.output_size = 2}), words()); }, true},
        {"cross entropy", [] { return layer::cross_entropy(layer::fc(looked_up(), {.output_size = 7}), words(), {}); }, true},
        {"some classes", [] {
             auto const w = layer::parameter<float>({7, 3}, {-1, 1}, "w"), b = layer::parameter<float>({7}, {-1, 1}, "b");
             auto const label = words();
             return layer::sampled_softmax(looked_up(), w, b, label, layer::sample_classes(w, label, {.samples = 3}));
         }, true}};
    for (Case const& c : cases) {
        for (std::int64_t const parts : {1, 2}) {
            for (std::vector<std::int64_t> const& lengths : {std::vector<std::int64_t>{2, 0, 1}, {0, 0}, {}}) {
                CAPTURE(c.name, parts, lengths);
                test::DefaultScope scope;
                auto const cost = layer::reduce_mean(c.rows());
                Trainer trainer(cost, {.optimizer = layer::Adam{}, .parts = parts});
                auto const before = bits(trainer.parameters());
                bool const counts = c.of_words ? lengths.size() == 3 : !lengths.empty();
                double value = NAN;
                CHECK_NOTHROW(value = trainer.step(std::vector<Feeds>(static_cast<std::size_t>(parts), fed(cost, batch(lengths)))));
                CHECK(trainer.steps() == (counts ? 1 : 0));
                CHECK((std::isfinite(value) && (counts || value == 0)));
                CHECK((bits(trainer.parameters()) == before) == !counts);
                CHECK(finite(trainer.parameters()));
            }
        }
    }
}

namespace {

/// A net with moving statistics, dropout, a penalty and a loss that divides by its rows.
Var whole() {
    auto const rows = layer::dropout(layer::batch_norm(layer::concat({layer::sequence_pool(looked_up()), x()}, {.axis = 1}), {.name = "norm"}), {.probability = 0.25});
    auto const error = layer::fc(rows, {.output_size = 2, .name = "fc"}) - y();
    auto const p = layer::parameter<float>({1}, {-1, 1}, "p");
    return layer::reduce_mean(error * error) + p * p;
}

std::vector<Feeds> steps_of(Var const& cost, std::vector<std::vector<std::int64_t>> const& all) {
    std::vector<Feeds> list;
    for (std::size_t i = 0; i < all.size(); ++i) list.push_back(fed(cost, batch(all[i], all[i].size() + i)));
    return list;
}

}  // namespace

TEST_CASE("a step in which no loss has a row leaves no trace", "[train]") {
    std::vector<layer::Optimizer> const optimizers{layer::Sgd{}, layer::Adam{}, layer::AdamW{.lazy = false}, layer::Momentum{},
                                                   layer::Deferred{layer::Adam{.learning_rate = 0.05}}};
    for (std::size_t k = 0; k < optimizers.size(); ++k) {
        for (std::int64_t const parts : {1, 2, 3}) {
            CAPTURE(k, parts);
            test::DefaultScope scope;
            auto const cost = whole();
            auto const real = steps_of(cost, {{1, 2}, {3, 0, 1}, {0}, {2, 2, 2}, {1}, {4, 1}});
            std::vector<Feeds> with;
            Feeds const none = fed(cost, batch({}));
            auto const add_none = [&] { with.insert(with.end(), static_cast<std::size_t>(parts), none); };
            add_none();
            for (std::size_t i = 0; i < real.size(); ++i) {
                with.push_back(real[i]);
                if (static_cast<std::int64_t>(i + 1) % parts == 0) add_none();
            }
            TrainOptions options{.optimizer = optimizers[k], .schedule = layer::CosineDecay{.steps = 9}, .parts = parts, .epochs = 2};
            if (k != 4) options.average = layer::MovingAverage{.decay = 0.5};
            std::vector<double> costs;
            options.on_batch = [&](BatchReport const& r) { costs.push_back(r.cost); };
            auto const want = train(cost, [&](std::int64_t) { return real; }, options);
            auto const wanted = std::exchange(costs, {});
            std::int64_t calls = 0, last = -1;
            options.on_batch = [&](BatchReport const& r) {
                ++calls;
                CHECK((r.batch == last + 1 || (r.batch == 0 && r.epoch == 1)));
                last = r.batch;
                if (r.rows != 0) return costs.push_back(r.cost);
                CHECK(r.cost == 0);
            };
            auto const got = train(cost, [&](std::int64_t) { return with; }, options);
            CHECK(got.steps == want.steps);
            CHECK(bits(got) == bits(want));
            CHECK(costs == wanted);
            CHECK(calls == 2 * (std::ssize(with) / parts));
        }
    }
}

TEST_CASE("a part without rows adds nothing to a step", "[train]") {
    // Its cost is 0 / 0, and the gradient of the factor NaN.
    test::DefaultScope scope;
    auto const w = layer::data<float>("w", {UNK, 1}), f = layer::parameter<float>({1}, layer::Constant{2}, "f");
    auto const error = layer::fc(x(), {.output_size = 1, .name = "fc"});
    auto const cost = layer::reduce_sum(error * error * w) / layer::reduce_sum(w) * f;
    auto const feeds = [&](std::size_t n) {
        return Feeds{{"x", Tensor<float>::full({n, 3}, 0.5F * static_cast<float>(n))}, {"w", Tensor<float>::full({n, 1}, 0.25F)}};
    };
    auto const after = [&](std::vector<Feeds> const& parts) {
        Trainer trainer(cost, {.optimizer = layer::Adam{}, .parts = 4});
        auto const value = trainer.step(parts);
        CHECK(std::isfinite(value));
        CHECK(finite(trainer.parameters()));
        return std::pair(value, bits(trainer.parameters()));
    };
    auto const none = feeds(0);
    CHECK(after({feeds(2), feeds(3), none, none}) == after({feeds(2), feeds(3), none}));
    CHECK(after({none, feeds(2), none, feeds(3)}) == after({none, none, feeds(2), feeds(3)}));
    CHECK(after({none, none}).first == 0);
    CHECK(after({none}) == after({none, none, none}));
}

TEST_CASE("what the losses of a batch are decides whether it is a step", "[train]") {
    auto const steps = [](std::function<Var()> const& cost_of, Feeds const& feeds, std::int64_t parts = 1) {
        test::DefaultScope scope;
        auto const cost = cost_of();
        std::vector<std::int64_t> rows;
        auto const learned = train(cost, [&](std::int64_t) { return std::vector<Feeds>(static_cast<std::size_t>(parts), fed(cost, feeds)); },
                                   {.optimizer = layer::Adam{}, .parts = parts, .on_batch = [&](BatchReport const& r) { rows.push_back(r.rows); }});
        CHECK(finite(learned));
        CHECK((learned.steps == 1) == (rows == std::vector<std::int64_t>{rows.at(0)} && rows[0] != 0));
        return rows.at(0);
    };
    auto const of_words = [] { return layer::reduce_mean(layer::fc(looked_up(), {.output_size = 1})); };
    auto const of_rows = [] { return layer::reduce_mean(layer::fc(x(), {.output_size = 1})); };
    for (std::int64_t const parts : {1, 2}) {
        CHECK(steps([=] { return of_words() + of_rows(); }, batch({0, 0, 0}), parts) == 3 * parts);  // the one has no rows
        CHECK(steps([=] { return of_rows() + of_words(); }, batch({0, 0, 0}), parts) == 3 * parts);
        CHECK(steps([=] { return of_words() + of_words(); }, batch({0, 0, 0}), parts) == 0);
        CHECK(steps([=] { return layer::scale(layer::reduce_sum(layer::fc(looked_up(), {.output_size = 1})), 2); }, batch({}), parts) == 0);
        CHECK(steps([=] { return layer::scale(of_words(), 2, 1); }, batch({}), parts) == 0);
    }
    CHECK(steps([=] { return of_words() + of_rows(); }, batch({5, 1})) == 6);
    CHECK(steps([=] { return layer::sqrt(of_words()); }, batch({})) == 0);  // whose slope is infinite
    // One example, whose words are a feature: the loss has a row, and the bias learns from it.
    auto example = batch({});
    example.insert_or_assign("y", Tensor<float>{{1, 2}});
    auto const of_one = [] {
        auto const h = layer::reduce_mean(looked_up(), {.axes = {0}, .keep_dims = true});
        auto const error = layer::fc(h, {.output_size = 2}) - layer::data<float>("y", {1, 2});
        return layer::reduce_mean(error * error);
    };
    CHECK(steps(of_one, example) == 1);
    auto factor = batch({});
    factor.insert_or_assign("y", Tensor<float>{3});
    CHECK(steps([=] { return of_words() * layer::data<float>("y", {1}); }, factor) == 0);
    CHECK(steps([] { return layer::scale(layer::parameter<float>({1}, {1, 2}, "p"), 3); }, {}) == 1);  // no rows in any batch
}

TEST_CASE("a step whose weights are all 0 is one without rows, and a part of it adds nothing", "[train]") {
    auto const cost_of = [](Reduction reduction) {
        auto const w = layer::data<float>("w", {UNK});  // also weights that the net computes
        auto const rows = layer::fc(layer::batch_norm(x(), {.name = "norm"}), {.output_size = 2, .name = "fc"});
        return layer::huber(rows, y(), layer::clip(w, 0, INFINITY), {.reduction = reduction});
    };
    auto const feeds = [](std::size_t n, float weight, std::uint64_t seed) {
        Feeds made = batch(std::vector<std::int64_t>(n, 0), seed);
        made.erase("words");
        auto w = Tensor<float>::full({n}, weight);
        if (weight != 0) w(0) = 0;
        made.insert_or_assign("w", w);
        return made;
    };
    for (auto const reduction : {Reduction::mean, Reduction::sum}) {
        for (std::int64_t const parts : {1, 2}) {
            CAPTURE(static_cast<int>(reduction), parts);
            auto const after = [&](std::vector<Feeds> const& data, std::vector<std::int64_t>& rows, std::vector<double>& costs) {
                test::DefaultScope scope;
                return bits(train(cost_of(reduction), [&](std::int64_t) { return data; },
                                  {.optimizer = layer::Adam{}, .parts = parts, .on_batch = [&](BatchReport const& r) {
                                       rows.push_back(r.rows);
                                       costs.push_back(r.cost);
                                   }}));
            };
            std::vector<Feeds> with, without;
            for (std::int64_t i = 0; i < parts; ++i) with.push_back(feeds(4, 0, 1));
            for (std::int64_t i = 0; i < parts; ++i) without.push_back(feeds(3, i == 0 ? 0.5F : 0.0F, 2));
            auto const zeros = with;
            for (auto const& more : {without, zeros}) with.insert(with.end(), more.begin(), more.end());
            std::vector<std::int64_t> rows, some;
            std::vector<double> costs, wanted;
            CHECK(after(with, rows, costs) == after(without, some, wanted));
            CHECK(rows == std::vector<std::int64_t>{0, 2, 0});
            CHECK((costs == std::vector<double>{0, wanted.at(0), 0} && some == std::vector<std::int64_t>{2}));
        }
    }
}

TEST_CASE("moving statistics of a feature without rows remain", "[train]") {
    for (std::int64_t const parts : {1, 2}) {
        test::DefaultScope scope;
        auto const cost = layer::reduce_mean(layer::sequence_pool(layer::batch_norm(looked_up(), {.name = "norm"})) + x());
        Trainer trainer(cost, {.parts = parts});
        auto const step = [&](std::vector<std::int64_t> const& lengths) { trainer.step(std::vector<Feeds>(static_cast<std::size_t>(parts), fed(cost, batch(lengths)))); };
        step({3, 2});
        auto const before = trainer.parameters();
        step({0, 0});
        auto const after = trainer.parameters();
        CHECK(after.steps == 2);
        std::size_t moving = 0;
        for (auto const& [name, value] : before) {
            if (name.find("norm") == std::string::npos || name.find("mean") + name.find("variance") == 2 * std::string::npos) continue;
            ++moving;
            CHECK(value.get<LoDTensor<float>>() == after.find(name).get<LoDTensor<float>>());
        }
        CHECK(moving == 2);
    }
}

TEST_CASE("a table of height 0 is trained beside others", "[train]") {
    for (bool const deferred : {false, true}) {
        test::DefaultScope scope;
        auto const rows = layer::embedding(words(), {.height = 0, .width = 3, .table = layer::XavierUniform{}, .name = "none"});
        auto const cost = layer::reduce_mean(layer::sequence_pool(rows) + layer::fc(x(), {.output_size = 3}));
        auto const optimizer = deferred ? layer::Optimizer(layer::Deferred{layer::Adam{}}) : layer::Optimizer(layer::Adam{});
        auto const learned = train(cost, [&](std::int64_t) { return steps_of(cost, {{0, 0}, {}, {0}}); }, {.optimizer = optimizer, .epochs = 2});
        CHECK(learned.steps == 4);
        CHECK(learned.get<float>("none").shape() == Tensor<float>::shape_type{0, 3});
        CHECK(finite(learned));
        Trainer trainer(cost, {.optimizer = optimizer});
        CHECK_THROWS_WITH(trainer.step(fed(cost, batch({1}))), Catch::Matchers::Contains(" is not in [0, 0)"));
    }
}

TEST_CASE("epochs in which no loss has a row", "[train]") {
    test::DefaultScope scope;
    auto const cost = whole();
    std::optional<Parameters> saved;
    int saves = 0, ends = 0;
    TrainOptions options{.optimizer = layer::Adam{}, .epochs = 4};
    options.checkpoint = {.every = 2,
                          .save = [&](Variable&, Parameters const& all) {
                              ++saves;
                              saved = all.share();
                          },
                          .load = [&](Variable&) { return saved ? std::optional(saved->share()) : std::nullopt; }};
    options.metrics = {{"steps", [&](Parameters const& p) { return static_cast<double>(p.steps); }}};
    options.on_epoch = [&](std::int64_t, Parameters const&) { ++ends; };
    auto const learned = train(cost, [&](std::int64_t) { return std::vector<Feeds>(3, fed(cost, batch({}))); }, options);
    CHECK((learned.steps == 0 && ends == 4 && saves == 1));  // at the end alone
    saved.reset();
    options.stop = layer::EarlyStop{.metric = "steps", .patience = 2};
    ends = 0;
    train(cost, [&](std::int64_t) { return std::vector<Feeds>(3, fed(cost, batch({}))); }, options);
    CHECK(ends == 3);
    options.stop = {};
    // One that was ended between steps without rows has the bits of one that was not.
    auto const none = fed(cost, batch({}));
    auto const real = steps_of(cost, {{1, 2}, {2}, {1, 1}});
    std::vector<Feeds> const all{none, real[0], none, real[1], none, none, real[2], none};
    saved.reset();
    auto const want = train(cost, [&](std::int64_t) { return all; }, options);
    for (std::int64_t const at : {0, 2, 3, 4, 5, 7}) {
        saved.reset();
        std::vector<std::int64_t> seen;
        std::int64_t end = at;
        options.on_batch = [&](BatchReport const& r) {
            seen.push_back(r.batch);
            return r.epoch != 0 || r.batch != end;
        };
        train(cost, [&](std::int64_t) { return all; }, options);
        end = -1;
        auto const got = train(cost, [&](std::int64_t) { return all; }, options);
        CAPTURE(at, seen);
        CHECK(bits(got) == bits(want));
        for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == static_cast<std::int64_t>(i) % 8);
    }
    CHECK_THROWS_WITH(train(cost, [](std::int64_t) { return std::vector<Feeds>(); }), "the number of batches of epoch 0 is 0, expected at least 1");
}

}  // namespace test_loss_rows
