// tests/layer/while_loop.cpp
#include <rowan/layer/while_loop.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/array.hpp>
#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/train.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace test_while_loop {

namespace {

using namespace test;

layer::Var<std::int64_t> counter() { return layer::full<std::int64_t>({1}, 0); }

}  // namespace

TEST_CASE("a loop runs while its condition is true", "[layer]") {
    DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2});
    auto const [i, y] = layer::while_loop(
        std::tuple(counter(), x), [](auto const& k, auto const&) { return layer::less(k, 3); },
        [](auto const& k, auto const& v) { return std::tuple(layer::scale(k, 1, 1), layer::scale(v, 2)); });
    CHECK(run(y, {{"x", Tensor<double>{{1, 2}, {3, 4}}}}).value() == Tensor<double>{{8, 16}, {24, 32}});
    CHECK(run(i, {{"x", Tensor<double>{{1, 2}}}}).value() == Tensor<std::int64_t>{3});

    auto const doubled = layer::while_loop(
        x, [](auto const& v) { return layer::any(layer::less(layer::reduce_sum(v, {.axes = {0}}), 100)); },
        [](auto const& v) { return layer::scale(v, 2); });
    CHECK(doubled->spec().dims == Dims{UNK, 2});
    CHECK(run(doubled, {{"x", Tensor<double>{{30, 90}}}}).value() == Tensor<double>{{120, 360}});  // the data decide when it ends
    CHECK(run(doubled, {{"x", Tensor<double>{{100, 100}}}}).value() == Tensor<double>{{100, 100}});
}

TEST_CASE("a parameter created in a loop is shared by all iterations, and is trained", "[layer]") {
    DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2});
    auto const [i, y] = layer::while_loop(
        std::tuple(counter(), x), [](auto const& k, auto const&) { return layer::less(k, 3); },
        [](auto const& k, auto const& v) {
            return std::tuple(layer::scale(k, 1, 1), layer::tanh(layer::fc(v, {.output_size = 2})));
        });
    auto const cost = layer::mse(y, layer::data<double>("y", {UNK, 2}));
    std::vector<double> costs;
    Feeds const batch{{"x", Tensor<double>{{1, -1}, {0.5, 2}}}, {"y", Tensor<double>{{0.2, -0.3}, {0.4, 0.1}}}};
    auto const parameters = train(cost, [&](std::int64_t) { return std::vector{batch}; },
                                  {.optimizer = layer::AdaGrad{.learning_rate = 0.2}, .epochs = 60,
                                   .on_batch = [&](auto const& p) { costs.push_back(p.cost); }});
    CHECK(parameters.size() == 4);  // the weights, the bias and their moments
    CHECK(costs.back() < costs.front() / 20);
}

TEST_CASE("a gradient of 16 bits is rounded once, after all iterations", "[layer]") {
    DefaultScope scope;
    auto const p = layer::parameter<bfloat16>({1, 1}, layer::Constant{0}, "p");
    auto const [i, y] = layer::while_loop(
        std::tuple(counter(), layer::full<bfloat16>({1, 1}, 0)), [](auto const& k, auto const&) { return layer::less(k, 1000); },
        [&](auto const& k, auto const& v) { return std::tuple(layer::scale(k, 1, 1), layer::add(v, p)); });
    auto const cost = layer::mse(y, layer::data<bfloat16>("y", {UNK, 1}));
    Feeds const batch{{"y", Tensor<bfloat16>{{bfloat16(-0.5F)}}}};  // the slope of the cost is 1
    auto const parameters = train(cost, [&](std::int64_t) { return std::vector{batch}; }, {.optimizer = layer::Sgd{.learning_rate = 1}});
    CHECK(parameters.get<bfloat16>("p") == Tensor<bfloat16>{{bfloat16(-1000)}});
}

TEST_CASE("states of other shapes and endless loops throw", "[layer]") {
    DefaultScope scope;
    auto const x = layer::data<double>("x", {UNK, 2});
    auto const always = [](auto const& v) { return layer::less_equal(layer::array_size(layer::unstack(v)), 100); };
    std::size_t const readers = x->readers().size();
    CHECK_THROWS_WITH(layer::while_loop(x, always, [](auto const& v) { return layer::fc(v, {.output_size = 3}); }),
                      "layer::while_loop: after an iteration, state 0.shape(1) is 3, expected 2");
    CHECK_THROWS_AS(layer::while_loop(x, always, [](auto const& v) { return layer::reduce_sum(v, {.axes = {0}}); }), ShapeError);
    CHECK(x->readers().size() == readers);
    CHECK(std::ranges::none_of(scope.operators(), [](auto const& op) { return op->kernel->name == "while_loop"; }));
    CHECK_THROWS_WITH(layer::while_loop(x, always, [](auto const& v) { return v; }, {.max_iterations = -1}),
                      "layer::while_loop: max_iterations is -1, expected 0 or more");

    Feeds const feeds{{"x", Tensor<double>{{1, 2}}}};
    auto const endless = layer::while_loop(x, always, [](auto const& v) { return v; }, {.max_iterations = 7});
    CHECK_THROWS_AS(run(endless, feeds), ValueError);
    CHECK_THROWS_WITH(run(endless, feeds), Catch::Matchers::ContainsSubstring("the number of iterations is 8, expected at most 7"));
    auto const two = layer::while_loop(x, [](auto const& v) { return layer::less(v, 0); }, [](auto const& v) { return v; });
    CHECK_THROWS_WITH(run(two, feeds), Catch::Matchers::ContainsSubstring("the condition's size is 2, expected 1"));
}

}  // namespace test_while_loop
