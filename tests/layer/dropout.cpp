// tests/layer/dropout.cpp
#include <rowan/layer/dropout.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/matmul.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/train/train.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace test_dropout {

using namespace rowan;

namespace {

using Row = Tensor<double>;

/// The cost Σ dropout(v) + Σ dropout(w); v and w begin as rows of zeros. Kept elements have the gradient 2, others 0.
layer::Var<double> sum_of_kept(std::int64_t width, bool backwards = false) {
    auto const v = layer::parameter<double>({1, width}, {}, "v"), w = layer::parameter<double>({1, width}, {}, "w");
    auto const ones = layer::full<double>({width, 1}, 1);
    std::vector<layer::Var<double>> sums;
    for (auto const& x : backwards ? std::array{w, v} : std::array{v, w}) sums.push_back(layer::matmul(layer::dropout(x), ones));
    return layer::add(sums[backwards ? 1 : 0], sums[backwards ? 0 : 1]);
}

/// The values that each batch subtracts from v and w in a training with the learning rate 1.
struct Masks {
    std::vector<Row> v, w;
};
Masks masks(TrainOptions options, std::int64_t width = 64, bool backwards = false) {
    test::DefaultScope scope;
    Masks seen;
    Row v, w;
    auto const keep = [](Row& before, Parameters const& now, char const* name, std::vector<Row>& to) {
        auto const& after = now.get<double>(name);
        to.push_back(before - after);
        before = after;
    };
    if (options.resume != nullptr) {
        v = options.resume->get<double>("v");
        w = options.resume->get<double>("w");
    } else {
        v = w = Row::zeros({1, static_cast<std::size_t>(width)});
    }
    options.optimizer = layer::Sgd{.learning_rate = 1};
    options.on_epoch = [&](std::int64_t, Parameters const& now) {
        keep(v, now, "v", seen.v);
        keep(w, now, "w", seen.w);
    };
    train(sum_of_kept(width, backwards), [](std::int64_t) { return std::array{Feeds{}}; }, options);
    return seen;
}

bool same(std::vector<Row> const& a, std::vector<Row> const& b) {
    return std::ranges::equal(a, b, [](Row const& x, Row const& y) { return x == y; });
}

}  // namespace

TEST_CASE("every batch and every layer has a separate mask", "[layer]") {
    auto const seen = masks({.epochs = 40});
    std::vector<Row> all = seen.v;
    all.insert(all.end(), seen.w.begin(), seen.w.end());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (double const x : all[i]) {
            CHECK((x == 0 || x == 2));
            kept += x == 2;
        }
        for (std::size_t j = 0; j < i; ++j) CHECK(!(all[i] == all[j]));
    }
    CHECK(std::abs(static_cast<double>(kept) / (80 * 64) - 0.5) < 0.035);  // five standard deviations
}

TEST_CASE("masks depend on the seed and the net, not on construction order or threads", "[layer]") {
    auto const want = masks({.epochs = 3, .seed = 7});
    CHECK(same(want.v, masks({.epochs = 3, .seed = 7}).v));
    CHECK(!same(want.v, masks({.epochs = 3, .seed = 8}).v));
    auto const backwards = masks({.epochs = 3, .seed = 7}, 64, true);
    CHECK(same(want.v, backwards.v));
    CHECK(same(want.w, backwards.w));
    constexpr std::int64_t wide = 300'000;
    auto const one = masks({.epochs = 2, .exec = Cpu{1}}, wide);
    for (int const threads : {2, 8}) {
        auto const some = masks({.epochs = 2, .exec = Cpu{threads}}, wide);
        CHECK(same(one.v, some.v));
        CHECK(same(one.w, some.w));
    }
}

TEST_CASE("resumed training continues with the next masks", "[layer]") {
    test::DefaultScope scope;
    TrainOptions options{.optimizer = layer::Sgd{.learning_rate = 1}, .epochs = 2, .seed = 3};
    auto const half = train(sum_of_kept(64), [](std::int64_t) { return std::array{Feeds{}}; }, options);
    auto const whole = masks({.epochs = 5, .seed = 3});
    auto const rest = masks({.epochs = 3, .seed = 3, .resume = &half});
    CHECK(same({whole.v.begin() + 2, whole.v.end()}, rest.v));
    CHECK(same({whole.w.begin() + 2, whole.w.end()}, rest.w));
}

TEST_CASE("dropout changes nothing outside training, also between training steps", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 3}, 1);
    auto const out = layer::dropout(x, {.probability = 0.9});
    CHECK(out->spec() == tensor_spec<float>({UNK, 3}, 1));
    LoDTensor<float> const value({{1, 2, 3}, {4, 5, 6}}, Lod{{0, 2}});
    CHECK(test::run(out, {{"x", value}}) == value);
    auto const cost = layer::mse(layer::fc(out, {.output_size = 3}), layer::data("y", {UNK, 3}));
    Feeds const batch{{"x", value}, {"y", Tensor<float>{{0, 0, 0}, {1, 1, 1}}}};
    auto const reader = [&](std::int64_t) { return std::array{batch, batch}; };
    int asked = 0;
    auto const ask = [&](BatchReport const&) {
        CHECK(test::run(out, {{"x", value}}) == value);
        ++asked;
    };
    auto const parameters = train(cost, reader, {.on_batch = ask});
    CHECK(asked == 2);
    CHECK(test::run(out, {{"x", value}}) == value);
    for (auto const& [name, kept] : parameters) CHECK(name.find("seed") == name.npos);
    Net<>::trace_and_build(*out).run(scope);  // with the values of the last batch
    CHECK(out->value().get<LoDTensor<float>>() == value);

    // a batch that throws leaves no seed behind
    Feeds const bad{{"x", value}, {"y", Tensor<float>{{0, 0, 0}}}};
    CHECK_THROWS_AS(train(cost, [&](std::int64_t) { return std::array{bad}; }), ShapeError);
    CHECK(test::run(out, {{"x", value}}) == value);
}

TEST_CASE("within a recurrent step a sequence has one mask for all its steps", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 16}, 1);
    auto const rows = layer::rnn(x, 16, [](auto x_t, auto before) { return layer::Step{layer::dropout(x_t), layer::add(before, x_t)}; });
    auto const net = Net<>::trace_and_build(*rows);
    auto const seed = std::ranges::find(net.inputs(), Role::seed, &Variable::role);
    REQUIRE(seed != net.inputs().end());
    LoDTensor<double> const ones(Tensor<double>::full({7, 16}, 1), Lod{{0, 2, 2, 5, 7}});
    CHECK(test::run(rows, {{"x", ones}}) == ones);
    test::set(*x, LoDTensor<double>(ones));
    test::set(**seed, LoDTensor<std::int64_t>(Tensor<std::int64_t>{4}));
    net.run(scope);
    auto const& out = rows->value().get<LoDTensor<double>>().value();
    auto const alike = [&](std::size_t i, std::size_t j) { return std::ranges::equal(out.row(i), out.row(j)); };
    CHECK((alike(0, 1) && alike(2, 3) && alike(2, 4) && alike(5, 6)));
    CHECK(!(alike(0, 2) || alike(2, 5) || alike(0, 5)));
    CHECK(std::ranges::all_of(out, [](double const e) { return e == 0 || e == 2; }));
}

TEST_CASE("gradients go through dropout of a state", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 3}, 1);
    auto const target = layer::data<double>("target", {UNK, 3});
    test::set(*x, LoDTensor<double>(test::values({7, 3}, 1), Lod{{0, 2, 2, 5, 7}}));
    test::set(*target, LoDTensor<double>(test::values({7, 3}, 2)));
    auto const rows = layer::rnn(x, 3, [](auto x_t, auto before) {
        auto const now = layer::tanh(layer::add(layer::fc(x_t), layer::fc(layer::dropout(before, {.probability = 0.4}))));
        return layer::Step{now, now};
    });
    auto const cost = layer::mse(rows, target);
    std::uint64_t number = 0;
    auto const net = Net<>::trace_and_build(*cost);
    for (Variable* const v : net.inputs()) {
        if (v->role() == Role::parameter) v->initialize(v->value(), ++number);
        if (v->role() == Role::seed) test::set(*v, LoDTensor<std::int64_t>(Tensor<std::int64_t>{5}));
    }
    CHECK(number == 4);
    test::check_net(cost);
}

TEST_CASE("layer::dropout throws for an invalid probability, and adds nothing", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2});
    CHECK_THROWS_WITH(layer::dropout(x, {.probability = 1.5}), "probability is 1.5, expected in [0, 1]");
    CHECK_THROWS_WITH(layer::dropout(x, {.probability = -0.5}), "probability is -0.5, expected in [0, 1]");
    CHECK_THROWS_WITH(layer::dropout(x, {.probability = std::nan("")}), "probability is nan, expected in [0, 1]");
    CHECK(scope.variables().size() == 1);
}

}  // namespace test_dropout
