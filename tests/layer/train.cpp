// tests/layer/train.cpp
#include <rowan/layer/train.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/infer.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/sequence_pool.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
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

}  // namespace

TEST_CASE("a net of layers learns a line with every optimizer", "[layer]") {
    auto const learns = [](layer::Optimizer const& optimizer, double least) {
        Scope scope;
        ScopeGuard const guard(scope);
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
    learns(layer::RmsProp{.learning_rate = 0.01}, 1e-2);
    learns(layer::RowwiseAdaGrad{.learning_rate = 0.5}, 1e-3);
    learns(layer::Ftrl{.learning_rate = 0.5}, 1e-3);
}

TEST_CASE("a classifier of bags of words learns, with a row-sparse table", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const rows = layer::embedding(words, {.height = 20, .width = 8});
    auto const scores = layer::fc(layer::sequence_pool(rows, {Pooling::mean}), {.output_size = 2});
    auto const cost = layer::softmax_with_cross_entropy(scores, layer::data<std::int64_t>("label", {UNK}));
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
    for (auto const& [name, value] : at_once) {
        CAPTURE(name);
        CHECK(value.get<LoDTensor<float>>() == resumed.find(name).get<LoDTensor<float>>());
    }
    CHECK(at_once.contains("fc_0.w_0"));
    CHECK(at_once.contains("fc_1.b_0@adam.moment2"));
}

TEST_CASE("a bad batch is refused, changes nothing, and the next good one trains as if nothing had happened", "[layer]") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    auto const good = line(2, 1);
    auto const result = [&](std::vector<Feeds> const& bad) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2}), {.output_size = 2}), layer::data("y", {UNK, 2}));
        rowan::detail::Trainer<float, Cpu> trainer(*cost, layer::Adam{});
        trainer.begin(1, nullptr);
        trainer.step(good[0], {});
        for (Feeds const& feeds : bad) CHECK_THROWS_AS(trainer.step(feeds, {}), Error);
        trainer.step(good[1], {});
        return trainer.parameters();
    };
    auto const want = result({});
    Tensor<float> const y{{1, 2}};
    auto const got = result({{{"x", Tensor<float>{{nan, 1}}}, {"y", y}},
                             {{"x", Tensor<float>{{1, 2, 3}}}, {"y", y}},
                             {{"x", Tensor<double>{{1, 2}}}, {"y", y}},
                             {{"y", y}}});
    for (auto const& [name, value] : want) CHECK(value.get<LoDTensor<float>>() == got.find(name).get<LoDTensor<float>>());
}

TEST_CASE("what train and infer refuse is named", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const x = layer::data("x", {UNK, 2});
    auto const predict = layer::fc(x, {.output_size = 2});
    auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
    auto const one = [](Feeds const& feeds) { return [feeds](std::int64_t) { return std::array{feeds}; }; };
    Tensor<float> const good{{1, 2}};
    float const inf = std::numeric_limits<float>::infinity();
    CHECK_THROWS_WITH(train(cost, one({{"y", good}})), "the batch has no value for the variable \"x\"");
    CHECK_THROWS_WITH(train(cost, one({{"x", Tensor<float>{{inf, 2}}}, {"y", good}})),
                      "the cost mse_0.out_0 is inf, expected a finite number");
    CHECK_THROWS_WITH(train(predict, one({{"x", good}, {"y", good}})), "fc_0.out_0.shape() is [1, 2], expected [1]");
    CHECK_THROWS_WITH(train(x, one({{"x", good}})), "x does not depend on a parameter: there is nothing to train");
    CHECK_THROWS_WITH(infer(predict, {{"x", good}}, Parameters{}), "there is no parameter \"fc_0.w_0\"");
    CHECK_THROWS_WITH(layer::fc(layer::data("z", {UNK, UNK}), {.output_size = 2}),
                      "a dim of a parameter is UNK, expected known: give the data its width");
    CHECK_THROWS_AS(layer::fc(x, {.output_size = -1}), Error);
    CHECK_THROWS_AS(layer::mse(predict, layer::data("w", {UNK, 3})), ShapeError);
}

TEST_CASE("parameters of training depend on the seed, and on nothing else", "[layer]") {
    auto const first = [](std::uint64_t seed) {
        Scope scope;
        ScopeGuard const guard(scope);
        auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2}), {.output_size = 2}), layer::data("y", {UNK, 2}));
        return train(cost, [](std::int64_t) { return std::vector<Feeds>{}; }, {.seed = seed});
    };
    auto const w = first(1).get<float>("fc_0.w_0");
    CHECK((w == first(1).get<float>("fc_0.w_0")));
    CHECK(!(w == first(2).get<float>("fc_0.w_0")));
    double const bound = std::sqrt(6.0 / 4);
    for (float const e : w) CHECK(std::abs(e) <= bound);
    CHECK((first(1).get<float>("fc_0.b_0") == Tensor<float>{0, 0}));
}

TEST_CASE("parameters of a training are its own: nothing that runs later changes them", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const predict = layer::fc(layer::data("x", {UNK, 2}), {.output_size = 2});
    auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
    auto const all = line(4, 1);
    auto const reader = [&](std::int64_t) { return all; };
    Feeds const batch{{"x", Tensor<float>{{1, 2}}}};
    auto const first = train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 0.1}});
    auto const before = infer(predict, batch, first);
    auto const longer = train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 0.1}, .resume = &first});
    CHECK(infer(predict, batch, first) == before);
    CHECK(!(infer(predict, batch, longer) == before));
    auto const again = train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 0.1}});  // from the seed, not from where the last ended
    CHECK(infer(predict, batch, again) == before);

    // asking other parameters in the middle of training does not disturb it
    auto const asked = train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 0.1}, .on_batch = [&](BatchReport const&) { infer(predict, batch, longer); }});
    CHECK(infer(predict, batch, asked) == before);
}

TEST_CASE("an empty batch is refused", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const cost = layer::mse(layer::fc(layer::data("x", {UNK, 2}), {.output_size = 2}), layer::data("y", {UNK, 2}));
    Feeds const none{{"x", Tensor<float>::from_shape({0, 2})}, {"y", Tensor<float>::from_shape({0, 2})}};
    CHECK_THROWS_WITH(train(cost, [&](std::int64_t) { return std::array{none}; }),
                      "x.shape(0) is 0, expected at least 1");
}

namespace {

/// Refuses its third step.
struct tired_op : rowan::detail::optimizer_op<AdamOptions> {
    static constexpr std::string_view name = "tired";
    template <class P, class D, rowan::detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad, AdamOptions const& a) {
        if (a.step >= 3) throw ValueError("step", static_cast<double>(a.step), "less than 3");
        sgd(exec, param, grad, a.learning_rate);
    }
};
struct Tired {
    using op = tired_op;
    AdamOptions options() const { return {.learning_rate = 1}; }
};

/// Passes on its input, and a gradient of another shape.
struct wrong_grad_op {
    static constexpr std::string_view name = "wrong_grad";
    using inputs = slots<grad_of<slot::out>>;
    using outputs = slots<grad_of<slot::x>>;
    using grad = no_grad;
    static VarSpec infer(VarSpec const& x) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x) {
        return Tensor<T, D>::zeros({x.size() + 1});
    }
};
struct wrong_op {
    static constexpr std::string_view name = "wrong";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = grad_rule<wrong_grad_op>;
    static VarSpec infer(VarSpec const& x) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x) {
        return x;
    }
};

float first(Variable const& v) { return v.value().get<LoDTensor<float>>().value().data()[0]; }

/// A net of two parameters that begin with 0, whose gradients are 1.
struct Two {
    Scope scope;
    ScopeGuard guard{scope};
    layer::Var<float> v = layer::parameter<float>({1}, {}, "v"), w = layer::parameter<float>({1}, {}, "w");
    layer::Var<float> cost = layer::add(v, w);

    /// Three batches that must not all pass: how often v and w have changed.
    std::pair<float, float> steps(TrainOptions const& options, std::string const& text) const {
        v->value().clear();
        w->value().clear();
        CHECK_THROWS_WITH(train(cost, [](std::int64_t) { return std::vector<Feeds>(3); }, options), text);
        return {v->value().empty() ? 0 : -first(*v), w->value().empty() ? 0 : -first(*w)};
    }
};

}  // namespace

TEST_CASE("all parameters change or none, also where one optimizer refuses", "[layer]") {
    using both = std::pair<float, float>;
    float const nan = std::numeric_limits<float>::quiet_NaN();
    Two net;
    auto const with = [](layer::Optimizer const& w) { return TrainOptions{.optimizer = layer::Sgd{.learning_rate = 1}, .optimizers = {{"w", w}}}; };
    CHECK(net.steps(with(layer::Sgd{.learning_rate = nan}), "sgd(w, identity_1.out_0): learning_rate is nan, expected a finite number") == both{0, 0});
    CHECK(net.steps(with(layer::Adam{.beta2 = 1}), "adam(w, w@adam.moment, w@adam.moment2, identity_1.out_0): beta2 is 1, expected a number in [0, 1)") == both{0, 0});
    CHECK(net.steps(with(layer::Ftrl{.l1 = nan}), "ftrl(w, w@ftrl.moment, w@ftrl.linear, identity_1.out_0): l1 is nan, expected a finite number") == both{0, 0});
    CHECK(net.steps(with(Tired{}), "tired(w, identity_1.out_0): step is 3, expected less than 3") == both{2, 2});
    auto options = with(layer::Sgd{.learning_rate = 1e30});
    options.schedule = [](std::int64_t step) { return step == 2 ? 1e30 : 1.0; };  // too much for floats, but for w alone
    CHECK(net.steps(options, "sgd(w, identity_1.out_0): learning_rate is 1.0000000000000001e+60, expected a number that fits the type of computation") == both{2, 2e30f});

    auto const wrong = layer::add(net.v, layer::apply<wrong_op>({}, net.w));
    CHECK_THROWS_WITH(train(wrong, [](std::int64_t) { return std::vector<Feeds>(1); }),
                      "the gradient wrong_grad_0.x@GRAD_0.shape() is [2], expected [1], that of w");
    CHECK(first(*net.v) == 0);
}

TEST_CASE("training leaves the net as it was, however often", "[layer]") {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const scores = layer::fc(layer::sequence_pool(layer::embedding(words, {.height = 20, .width = 8, .name = "table"})), {.output_size = 2});
    auto const cost = layer::softmax_with_cross_entropy(scores, layer::data<std::int64_t>("label", {UNK}));
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

    // one training within another, of the same net
    auto const nested = train(cost, reader, {.optimizer = layer::Adam{}, .clip = options.clip, .on_epoch = [&](std::int64_t, Parameters const&) {
        CHECK_THROWS_AS(train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = std::nan("")}}), ValueError);
    }});
    CHECK(counts() == before);
    CHECK(nested.get<float>("table") == first.get<float>("table"));
}

}  // namespace test_train
