// tests/train/train.cpp
#include <rowan/train/train.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/gradient_clip.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/trainer.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace test_train {

namespace {

using namespace rowan;

/// y = x · [[1 -2] [0.5 3]] + [1 -1]
std::vector<Feeds> line(std::size_t batches, std::uint64_t seed) {
    inputs::Random random(seed);
    std::vector<Feeds> all;
    for (std::size_t b = 0; b < batches; ++b) {
        auto x = Tensor<float>::from_shape({16, 2}), y = Tensor<float>::from_shape({16, 2});
        for (std::size_t i = 0; i < 16; ++i) {
            for (float& e : x.row(i)) e = static_cast<float>(random.below(2'001) - 1'000) / 1'000;
            y(i, 0) = x(i, 0) + 0.5f * x(i, 1) + 1;
            y(i, 1) = -2 * x(i, 0) + 3 * x(i, 1) - 1;
        }
        all.push_back({{"x", x}, {"y", y}});
    }
    return all;
}

/// The cost of each of three steps of `parts` batches, what `infer` gives then, and the parameters of `train`.
template <class F>
std::vector<Tensor<float>> learned(F const& cost_of, Dims const& dims, std::int64_t parts) {
    test::DefaultScope scope;
    auto const e = layer::fc(layer::data("x", {UNK, 2}), {.output_size = 2}) - layer::data("y", {UNK, 2});
    auto const cost = cost_of(e * e);
    CHECK(cost->spec().dims == dims);
    TrainOptions const options{.optimizer = layer::Adam{.learning_rate = 0.1}, .clip = layer::ClipByGlobalNorm{.max_norm = 1}, .parts = parts};
    auto const batches = line(static_cast<std::size_t>(3 * parts), 5);
    std::vector<Tensor<float>> all;
    auto const add = [&](Parameters const& parameters) {
        for (char const* const name : {"fc_0.w_0", "fc_0.b_0"}) all.push_back(parameters.find(name).get<LoDTensor<float>>().value());
        auto const value = infer(cost, batches[0], parameters).value();
        CHECK(value.dimension() == dims.size());
        all.push_back(value.reshaped({1}));
    };
    {
        Trainer trainer(cost, options);
        for (std::size_t i = 0; i < batches.size(); i += static_cast<std::size_t>(parts)) {
            auto const of_step = std::span(batches).subspan(i, static_cast<std::size_t>(parts));
            all.push_back(Tensor<float>{static_cast<float>(trainer.step(of_step))});
        }
        add(trainer.parameters());
    }
    add(train(cost, [&](std::int64_t) { return batches; }, options));
    return all;
}

}  // namespace

TEST_CASE("a cost is [1] or [], which learn the same", "[layer]") {
    auto const as = [](std::vector<std::int64_t> shape) {
        return [shape](auto const& cost) { return layer::reshape(cost, ReshapeOptions{.shape = shape}); };
    };
    for (std::int64_t const parts : {1, 2}) {
        auto const mean = [](auto const& x) { return layer::reduce_mean(x); };
        auto const sum = [](auto const& x) { return layer::reduce_sum(x, {.axes = {0, 1}, .keep_dims = false}); };
        CHECK((learned(mean, {}, parts) == learned([&](auto const& x) { return as({1})(mean(x)); }, {1}, parts)));
        CHECK((learned(sum, {}, parts) == learned([&](auto const& x) { return as({1})(sum(x)); }, {1}, parts)));
    }
}

TEST_CASE("a net of layers learns a line with every optimizer", "[layer]") {
    auto const learns = [](layer::Optimizer const& optimizer, double least) {
        test::DefaultScope scope;
        auto const x = layer::data("x", {UNK, 2});
        auto const predict = layer::fc(x, {.output_size = 2});
        auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
        double last = 0;
        auto const parameters = train(cost, [](std::int64_t epoch) { return line(50, static_cast<std::uint64_t>(epoch)); },
                                      {.optimizer = optimizer, .epochs = 8, .on_batch = [&](BatchReport const& r) { last = r.cost; }});
        CHECK(last < least);
        CHECK(parameters.steps == 400);
        auto const y = infer(predict, {{"x", Tensor<float>{{1, 1}}}}, parameters);
        CHECK(std::abs(y.value()(0, 0) - 2.5f) < 10 * std::sqrt(least));
    };
    learns(layer::Sgd{.learning_rate = 0.2f}, 1e-6);
    learns(layer::AdaGrad{.learning_rate = 0.5f}, 1e-4);
    learns(layer::Momentum{.learning_rate = 0.05}, 1e-6);
    learns(layer::Adam{.learning_rate = 0.02}, 1e-3);
    learns(layer::AdamW{.learning_rate = 0.02}, 1e-3);
    learns(layer::Adamax{.learning_rate = 0.1}, 1e-6);
    learns(layer::Adadelta{.epsilon = 1e-2}, 1e-6);
    learns(layer::Lamb{.learning_rate = 0.02, .weight_decay = 0}, 1e-2);
    learns(layer::RmsProp{.learning_rate = 0.01}, 1e-2);
    learns(layer::RowwiseAdaGrad{.learning_rate = 0.5}, 1e-3);
    learns(layer::Ftrl{.learning_rate = 0.5}, 1e-3);
}

TEST_CASE("a classifier of bags of words learns, with a row-sparse table", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const rows = layer::embedding(words, {.height = 20, .width = 8});
    auto const scores = layer::fc(layer::sequence_pool(rows, {Pooling::mean}), {.output_size = 2});
    auto const cost = layer::cross_entropy(scores, layer::data<std::int64_t>("label", {UNK}));
    // words below 10 are of class 0, the others of class 1; one sentence is empty
    auto const reader = [](std::int64_t epoch) {
        inputs::Random random(static_cast<std::uint64_t>(epoch));
        std::vector<Feeds> all;
        for (int b = 0; b < 20; ++b) {
            std::vector<std::vector<std::int64_t>> sentences;
            Tensor<std::int64_t> label = Tensor<std::int64_t>::from_shape({8});
            for (auto& l : label) {
                l = random.below(2);
                auto& s = sentences.emplace_back(static_cast<std::size_t>(random.below(5)));
                for (auto& w : s) w = l * 10 + random.below(10);
            }
            all.push_back({{"words", LoDTensor<std::int64_t>::from_nested(sentences)}, {"label", label}});
        }
        return all;
    };
    auto const parameters = train(cost, reader, {.optimizer = layer::AdaGrad{.learning_rate = 0.5}, .epochs = 5});
    auto const answer = infer(scores, {{"words", LoDTensor<std::int64_t>::from_nested({{3, 7}, {12, 15, 19}})}}, parameters).value();
    CHECK(answer(0, 0) > answer(0, 1) + 1);
    CHECK(answer(1, 1) > answer(1, 0) + 1);
}

TEST_CASE("training resumes with the same bits", "[layer]") {
    auto const build = [](Scope& scope) {
        ScopeGuard const guard(scope);
        return layer::mse(layer::fc(layer::tanh(layer::fc(layer::data("x", {UNK, 2}), {.output_size = 5})), {.output_size = 2}),
                          layer::data("y", {UNK, 2}));
    };
    auto const all = line(20, 1);
    auto const part = [&](std::size_t begin, std::size_t end) {
        return [&, begin, end](std::int64_t) { return std::vector(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)); };
    };
    TrainOptions options{.optimizer = layer::Adam{.learning_rate = 0.01}, .seed = 3};
    Scope whole, first, second;
    auto const at_once = train(build(whole), part(0, 20), options);
    auto const half = train(build(first), part(0, 10), options);
    options.resume = &half;
    auto const resumed = train(build(second), part(10, 20), options);
    CHECK(resumed.steps == 20);
    Scope third;
    CHECK(train(build(third), part(10, 20), options).get<float>("fc_0.w_0") == resumed.get<float>("fc_0.w_0"));  // half has not changed
    for (auto const& [name, value] : at_once) {
        CAPTURE(name);
        CHECK(value.get<LoDTensor<float>>() == resumed.find(name).get<LoDTensor<float>>());
    }
    CHECK(at_once.contains("fc_0.w_0"));
    CHECK(at_once.contains("fc_1.b_0@adam.moment2"));
}

TEST_CASE("errors of train and infer name the cause", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2});
    auto const predict = layer::fc(x, {.output_size = 2});
    auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
    auto const one = [](Feeds const& feeds) { return [feeds](std::int64_t) { return std::array{feeds}; }; };
    Tensor<float> const good{{1, 2}};
    float const inf = std::numeric_limits<float>::infinity();
    CHECK_THROWS_WITH(train(cost, one({{"y", good}})), "the batch has no \"x\"; it has \"y\"");
    CHECK_THROWS_WITH(train(cost, one({{"x", Tensor<float>{{inf, 2}}}, {"y", good}})),
                      "the cost mse_0.out_0 is inf, expected a finite number");
    CHECK_THROWS_WITH(train(predict, one({{"x", good}, {"y", good}})), "fc_0.out_0.shape() is [1, 2], expected [1] or []: reduce it with layer::reduce_mean");
    CHECK_THROWS_WITH(train(x, one({{"x", good}})), "x does not depend on a parameter: there is nothing to train");
    CHECK_THROWS_WITH(infer(predict, {{"x", good}}, Parameters{}), "there is no parameter \"fc_0.w_0\"");
    CHECK_THROWS_WITH(layer::fc(layer::data("z", {UNK, UNK}), {.output_size = 2}),
                      "a dim of a parameter is UNK, expected known: give the data its width");
    CHECK_THROWS_AS(layer::fc(x, {.output_size = -1}), Error);
    CHECK_THROWS_AS(layer::mse(predict, layer::data("w", {UNK, 3})), ShapeError);
}

TEST_CASE("trained parameters depend on the seed only", "[layer]") {
    auto const first = [](std::uint64_t seed) {
        test::DefaultScope scope;
        auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2}), {.output_size = 2}), layer::data("y", {UNK, 2}));
        return Trainer(cost, {.seed = seed}).parameters();
    };
    auto const w = first(1).get<float>("fc_0.w_0");
    CHECK((w == first(1).get<float>("fc_0.w_0")));
    CHECK(!(w == first(2).get<float>("fc_0.w_0")));
    double const bound = std::sqrt(6.0 / 4);
    for (float const e : w) CHECK(std::abs(e) <= bound);
    CHECK((first(1).get<float>("fc_0.b_0") == Tensor<float>{0, 0}));
}

TEST_CASE("training leaves the net unchanged, also when repeated", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const scores = layer::fc(layer::sequence_pool(layer::embedding(words, {.height = 20, .width = 8, .name = "table"})), {.output_size = 2});
    auto const cost = layer::cross_entropy(scores, layer::data<std::int64_t>("label", {UNK}));
    auto const counts = [&] {
        std::vector<std::size_t> all{scope.operators().size(), scope.variables().size(), scope.scopes()};
        for (auto const& v : scope.variables()) all.push_back(v->readers().size() + 1000 * v->writers().size());
        return all;
    };
    Feeds const batch{{"words", LoDTensor<std::int64_t>::from_nested({{1, 2}, {3}})}, {"label", Tensor<std::int64_t>{0, 1}}};
    auto const reader = [&](std::int64_t) { return std::array{batch, batch}; };
    auto const before = counts();
    TrainOptions const options{.optimizer = layer::Adam{}, .clip = layer::ClipByGlobalNorm{.max_norm = 0.1}};
    auto const first = train(cost, reader, options);
    CHECK(counts() == before);
    auto const second = train(cost, reader, options);
    CHECK(counts() == before);
    CHECK_THROWS_AS(train(cost, [&](std::int64_t) { return std::array{Feeds{}}; }, options), GraphError);
    CHECK_THROWS_AS(train(cost, reader, {.optimizers = {{"nothing", layer::Sgd{}}}}), GraphError);
    CHECK(counts() == before);
    CHECK(first.size() == second.size());
    for (auto const& [name, value] : first) CHECK(value.get<LoDTensor<float>>() == second.find(name).get<LoDTensor<float>>());
    CHECK(first.contains("table@adam.moment"));
    CHECK(scope.find("table@adam.moment") == nullptr);
    CHECK(scope.find("fc_0.w_0") != nullptr);

    // a training inside another training of the same net
    auto const nested = train(cost, reader, {.optimizer = layer::Adam{}, .clip = options.clip, .on_epoch = [&](std::int64_t, Parameters const&) {
        CHECK_THROWS_AS(train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = std::nan("")}}), ValueError);
    }});
    CHECK(counts() == before);
    CHECK(nested.get<float>("table") == first.get<float>("table"));
}

TEST_CASE("a Trainer takes the steps of train, one batch at a time", "[layer]") {
    test::DefaultScope scope;
    auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2}), {.output_size = 2}), layer::data("y", {UNK, 2}));
    auto const batches = line(6, 4);
    TrainOptions options{.optimizer = layer::Adam{.learning_rate = 0.01}, .seed = 5};
    std::vector<double> want, got;
    options.on_batch = [&](BatchReport const& r) { want.push_back(r.cost); };
    auto const learned = train(cost, [&](std::int64_t) { return batches; }, options);
    auto const text = [](Parameters const& p) {
        std::vector<std::string> all;
        for (auto const& [name, value] : p) {
            auto const bytes = value.share().elements().bytes;
            all.push_back(name + std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size()));
        }
        return all;
    };
    auto const readers = scope.get("x").readers().size();
    Parameters half;
    {
        Trainer trainer(cost, options);
        for (std::size_t b = 0; b < 3; ++b) got.push_back(trainer.step(batches[b]));
        half = trainer.parameters();
        CHECK((half.steps == 3 && trainer.steps() == 3));
        auto const copied = text(half);
        trainer.step(batches[3]);
        CHECK(text(half) == copied);
    }
    options.resume = &half;
    CHECK(scope.get("x").readers().size() == readers);  // what it added to the net is gone
    Trainer trainer(cost, options);
    for (std::size_t b = 3; b < 6; ++b) got.push_back(trainer.step(batches[b]));
    CHECK(got == want);
    CHECK(text(trainer.parameters()) == text(learned));
    CHECK(want.size() == 6);  // the trainer does not call on_batch
    CHECK_THROWS_AS(Trainer(layer::Var<float>(*cost), {.optimizers = {{"none", layer::Sgd{}}}}), GraphError);
}

TEST_CASE("results of the operators that the cost needs stay after a step, if they are kept", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2});
    auto const made = layer::fc(x, {.output_size = 2});
    auto const other = layer::relu(made);
    auto const cost = layer::mse(made, layer::data("y", {UNK, 2}));
    auto const batches = line(2, 4);
    {
        Trainer trainer(cost, {.optimizer = layer::Sgd{.learning_rate = 0.1}, .keep = {&*made}});
        for (auto const& batch : batches) {
            auto const before = infer(made, Feeds{{"x", batch.at("x")}}, trainer.parameters());
            trainer.step(batch);
            CHECK(made->value().get<LoDTensor<float>>().value() == before.value());
        }
    }
    auto const keeps = [&](Variable* v) { return Trainer(layer::Var<float>(*cost), {.keep = {v}}); };
    CHECK_THROWS_WITH(keeps(&*x), "options.keep has x, which is no result of the operators that the cost needs");
    CHECK_THROWS_AS(keeps(&*other), GraphError);
    CHECK_THROWS_WITH(keeps(nullptr), "options.keep has a null pointer, which is no result of the operators that the cost needs");
}

TEST_CASE("a step of a trainer cannot be entered twice", "[layer]") {
    test::DefaultScope scope;
    auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2})), layer::data("y", {UNK, 2}));
    Trainer<float>* inner = nullptr;
    auto const batch = line(1, 1)[0];
    Trainer trainer(cost, {.schedule = [&](std::int64_t step) { return step == 1 ? inner->step(batch) : 1.0; }});
    inner = &trainer;
    trainer.step(batch);
    CHECK_THROWS_WITH(trainer.step(batch), "Trainer::step is running: it is for one thread at a time");
}

TEST_CASE("a trainer throws, and changes nothing, while another thread uses the net", "[layer]") {
    test::DefaultScope scope;
    auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2})), layer::data("y", {UNK, 2}));
    Feeds const batch = line(1, 1)[0];
    Trainer trainer(cost);
    auto const refused = [&](auto const& call) {
        detail::ScopeUse const use(scope);
        bool threw = false;
        std::thread([&] {
            try {
                call();
            } catch (GraphError const& e) {
                threw = std::string(e.what()).starts_with("another thread");
            }
        }).join();
        return threw;
    };
    CHECK(refused([&] { trainer.step(batch); }));
    CHECK(scope.get("x").value().empty());
    CHECK(refused([&] { Trainer<float> const other(cost); }));
    CHECK(std::isfinite(trainer.step(batch)));
}

TEST_CASE("on_batch and on_epoch end the training by returning false", "[layer]") {
    test::DefaultScope scope;
    auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2})), layer::data("y", {UNK, 2}));
    auto const reader = [batches = line(4, 1)](std::int64_t) { return batches; };
    std::int64_t epochs = 0;
    auto const count = [&](std::int64_t, Parameters const& p) { epochs = p.steps / 4; };
    auto const on_batch = [](BatchReport const& r) { return r.epoch < 1 || r.batch < 1; };
    CHECK(train(cost, reader, {.epochs = 3, .on_batch = on_batch, .on_epoch = count}).steps == 6);
    CHECK(epochs == 1);
    CHECK(train(cost, reader, {.epochs = 3, .on_epoch = [](std::int64_t epoch, Parameters const&) { return epoch < 1; }}).steps == 8);
    CHECK(train(cost, reader, {.epochs = 3, .on_batch = [](BatchReport const&) { return 0; }}).steps == 12);  // no bool
    CHECK(train(cost, reader, {.on_batch = std::function<bool(BatchReport const&)>()}).steps == 4);
    CHECK(train(cost, reader, {.on_batch = std::function<void(BatchReport const&)>()}).steps == 4);
}

TEST_CASE("an epoch without a batch is refused, also after others", "[layer]") {
    test::DefaultScope scope;
    auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2})), layer::data("y", {UNK, 2}));
    for (std::int64_t const parts : {1, 3}) {
        TrainOptions const options{.parts = parts, .epochs = 3};
        auto const none = [](std::int64_t) { return std::vector<Feeds>(); };
        CHECK_THROWS_AS(train(cost, none, options), ShapeError);
        CHECK_THROWS_WITH(train(cost, none, options), "the number of batches of epoch 0 is 0, expected at least 1");
        auto once = [batches = line(2, 1)](std::int64_t) mutable { return std::exchange(batches, {}); };
        CHECK_THROWS_WITH(train(cost, once, options), "the number of batches of epoch 1 is 0, expected at least 1");
    }
    CHECK(train(cost, [](std::int64_t) { return std::vector<Feeds>(); }, {.epochs = 0}).steps == 0);
    CHECK_THROWS_WITH(train(cost, [](std::int64_t) { return line(2, 1); }, {.epochs = -1}), "epochs is -1, expected 0 or more");
}

TEST_CASE("training begins with the values that are given for some parameters", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::fc(layer::data("x", {UNK, 2}), {.output_size = 3});
    auto const cost = layer::mse(layer::fc(x, {.output_size = 2}), layer::data("y", {UNK, 2}));
    auto const begin = [&](TrainOptions const& options) { return Trainer(cost, options).parameters(); };
    Tensor<float> const w{{1, 2, 3}, {4, 5, 6}};
    auto const fresh = begin({.optimizer = layer::Adam{}, .seed = 3});
    auto const given = begin({.optimizer = layer::Adam{}, .seed = 3, .initial = {{"fc_0.w_0", w}, {"fc_1.b_0", w.row(0).first(2)}}});
    CHECK(given.get<float>("fc_0.w_0") == w);
    CHECK(given.get<float>("fc_1.b_0") == Tensor<float>{1, 2});
    CHECK(given.get<float>("fc_1.w_0") == fresh.get<float>("fc_1.w_0"));  // the others are initialized as without
    CHECK(fresh.get<float>("fc_0.w_0")(0, 0) != fresh.get<float>("fc_1.w_0")(0, 0));  // and each differently
    auto const stateless = begin({.seed = 4});
    auto const resumed = begin({.optimizer = layer::Adam{}, .resume = &stateless});  // its states begin as in a new training
    CHECK(resumed.get<float>("fc_0.w_0") == stateless.get<float>("fc_0.w_0"));
    CHECK(resumed.get<float>("fc_0.w_0@adam.moment") == Tensor<float>{{0, 0, 0}, {0, 0, 0}});
    auto learned = given.share();
    learned.steps = 2;
    CHECK(begin({.optimizer = layer::Adam{}, .resume = &learned}).steps == 2);
    learned = given.trained();
    learned.steps = 2;
    CHECK_THROWS_WITH(begin({.optimizer = layer::Adam{}, .resume = &learned}),
                      "options.resume has 2 steps, but not the state \"fc_0.w_0@adam.moment\": to start anew from its "
                      "parameters, give them as options.initial");
    CHECK_THROWS_WITH(begin({.average = layer::MovingAverage{}, .resume = &learned}), Catch::Matchers::Contains("\"fc_0.w_0@average\""));
    CHECK((scope.get("fc_0.w_0").value().get<LoDTensor<float>>().value() == w));  // nothing is written
    CHECK(begin({.resume = &learned}).steps == 2);  // Sgd has no states
    auto const again = begin({.seed = 3, .initial = given.only({"fc_0.w_0"})});
    CHECK(again.get<float>("fc_0.w_0") == w);
    CHECK(again.get<float>("fc_1.b_0") == fresh.get<float>("fc_1.b_0"));
    auto const refuses = [&](Feeds const& initial, std::string const& text) {
        CHECK_THROWS_WITH(begin({.initial = initial}), text);
        CHECK((scope.get("fc_0.w_0").value().get<LoDTensor<float>>().value() == w));
    };
    refuses({{"fc_0.w_0", w + 1.f}, {"fc_2.w_0", w}}, "there is no parameter \"fc_2.w_0\" for the initial value of that name (did you mean fc_0.w_0?)");
    refuses({{"fc_0.w_0", w + 1.f}, {"x", w}}, "there is no parameter \"x\" for the initial value of that name");
    refuses({{"fc_0.w_0", w + 1.f}, {"fc_1.w_0", w}}, "fc_1.w_0.shape() is [2, 3], expected [3, 2]");
    refuses({{"fc_0.w_0", w + 1.}}, "fc_0.w_0 is LoDTensor<f64>, expected LoDTensor<f32>");
    CHECK_THROWS_WITH(begin({.initial = {{"fc_0.w_0", w}}, .resume = &fresh}),
                      "options.initial and options.resume are both given: what is resumed has no initial values");
    CHECK_THROWS_WITH(fresh.only({"none"}), "there is no parameter \"none\"");
}

}  // namespace test_train
