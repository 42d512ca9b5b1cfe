// tests/train/infer.cpp
#include <rowan/own_operator.hpp>
#include <rowan/train/infer.hpp>

#include "dtypes/own_types.hpp"
#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/train.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test_infer {

using namespace rowan;

namespace {

/// Sentences of words with a row for each word, and a label for each sentence.
struct Classifier {
    test::DefaultScope scope;
    layer::Var<std::int64_t> words = layer::data<std::int64_t>("words", {UNK}, 1);
    layer::Var<float> x = layer::data("x", {UNK, 2}, 1);
    layer::Var<float> scores = layer::fc(layer::sequence_pool(layer::add(layer::embedding(words, {.height = 5, .width = 2}), x)), {.output_size = 3});
    layer::Var<std::int32_t> label = layer::data<std::int32_t>("label", {UNK});
    layer::Var<float> cost = layer::cross_entropy(scores, label);
    Lod lod{{0, 1, 3}};
    Feeds good{{"words", LoDTensor<std::int64_t>({1, 2, 3}, lod)},
               {"x", LoDTensor<float>({{1, 2}, {3, 4}, {5, 6}}, lod)},
               {"label", Tensor<std::int32_t>{0, 2}}};
    Parameters parameters = Trainer(cost).parameters();

    Feeds with(char const* name, Feed feed) const {
        Feeds feeds = good;
        feeds.insert_or_assign(name, std::move(feed));
        return feeds;
    }
};

/// train and infer must both throw E with this text, and must not change variables.
template <class E>
void refused(Classifier& net, Feeds const& feeds, std::string const& text) {
    auto const one = [&](std::int64_t) { return std::array{feeds}; };
    auto const first = net.x->value().share();
    CHECK_THROWS_AS(infer(net.cost, feeds, net.parameters), E);
    CHECK_THROWS_WITH(infer(net.cost, feeds, net.parameters), text);
    CHECK_THROWS_AS(train(net.cost, one), E);
    CHECK_THROWS_WITH(train(net.cost, one), text);
    CHECK(net.x->value().empty() == first.empty());
}

}  // namespace

TEST_CASE("feeds must match the declarations, and are checked before anything runs", "[layer]") {
    Classifier net;
    refused<TypeError>(net, net.with("x", LoDTensor<double>({{1, 2}, {3, 4}, {5, 6}}, net.lod)), "x is LoDTensor<f64>, expected LoDTensor<f32>");
    refused<TypeError>(net, net.with("words", LoDTensor<std::int32_t>({1, 2, 3}, net.lod)), "words is LoDTensor<i32>, expected LoDTensor<i64>");
    refused<ShapeError>(net, net.with("x", LoDTensor<float>({{1}, {3}, {5}}, net.lod)), "x.shape() is [3, 1], expected [UNK, 2]");
    refused<ShapeError>(net, net.with("x", LoDTensor<float>({1, 2, 3}, net.lod)), "x.shape() is [3], expected [UNK, 2]");
    refused<ShapeError>(net, net.with("label", Tensor<std::int32_t>{{0}, {2}}), "label.shape() is [2, 1], expected [UNK]");
    refused<ShapeError>(net, net.with("words", Tensor<std::int64_t>{1, 2, 3}), "words.lod().levels() is 0, expected 1");
    refused<ShapeError>(net, net.with("words", LoDTensor<std::int64_t>({1, 2, 3}, Lod{{0, 2}, {0, 1, 3}})), "words.lod().levels() is 2, expected 1");
    refused<ShapeError>(net, net.with("label", LoDTensor<std::int32_t>({0, 2}, Lod{{0, 2}})), "label.lod().levels() is 1, expected 0");
    refused<GraphError>(net, net.with("lable", Tensor<std::int32_t>{0, 2}), "the batch has a value for \"lable\", but there is no data variable of that name (did you mean label?)");
    refused<GraphError>(net, net.with("fc_0.w_0", Tensor<float>{{1}}), "the batch has a value for \"fc_0.w_0\", but there is no data variable of that name");
    Feeds few = net.good;
    few.erase("label");
    refused<GraphError>(net, few, "the batch has no \"label\"; it has \"words\", \"x\"");
    static_cast<void>(infer(net.cost, net.good, net.parameters));
}

TEST_CASE("a feed of a wrong type or kind throws; the error gives the number of a custom type", "[layer]") {
    test::DefaultScope scope;
    auto const q = layer::data<test::fixed>("q", {UNK});
    CHECK_THROWS_WITH(test::run(layer::scale(q, 2), {{"q", Tensor<float>{1}}}),
                      std::string("q is LoDTensor<f32>, expected LoDTensor<element type ") + std::to_string(dtype<test::fixed>::wire) + ">");
    CHECK((test::run(layer::scale(q, 2), {{"q", Tensor<test::fixed>{test::fixed{65536}}}}).value() == Tensor<test::fixed>{test::fixed{131072}}));
    layer::Var<float> const g(scope.new_var("g", selected_rows_spec<float>({3, 2}), Role::data));
    CHECK_THROWS_WITH(test::run(layer::scale(g, 2), {{"g", Tensor<float>{{1}}}}), "g is LoDTensor<f32>, expected SelectedRows<f32>");
}

TEST_CASE("infer accepts feeds that only the cost needs, and ignores them", "[layer]") {
    Classifier net;
    Feeds few = net.good;
    few.erase("label");
    auto const want = infer(net.scores, few, net.parameters);
    CHECK(infer(net.scores, net.good, net.parameters) == want);
    CHECK(infer(net.scores, net.with("label", Tensor<float>{{1, 2}}), net.parameters) == want);
    CHECK_THROWS_WITH(infer(net.scores, net.with("lable", Tensor<std::int32_t>{0, 2}), net.parameters),
                      "the batch has a value for \"lable\", but there is no data variable of that name (did you mean label?)");
    Scope inner(net.scope);  // data of parent scopes
    ScopeGuard const guard(inner);
    CHECK(infer(layer::scale(net.scores, 1), net.good, net.parameters) == want);
}

TEST_CASE("infer and resumed training throw for the parameters of another net", "[layer]") {
    Classifier net;
    auto const name = std::string("fc_0.b_0");
    auto const refused = [&](auto value, std::string const& text) {
        Parameters other = net.parameters.share();
        Value held;
        held.set(std::move(value));
        other.set(name, std::move(held));
        CHECK_THROWS_WITH(infer(net.scores, net.good, other), text);
        train(net.cost, [&](std::int64_t) { return std::array{net.good}; });
        auto const before = net.scope.get(name).value().get<LoDTensor<float>>();
        CHECK_THROWS_WITH(train(net.cost, [&](std::int64_t) { return std::array{net.good}; }, {.resume = &other}), text);
        CHECK(net.scope.get(name).value().get<LoDTensor<float>>() == before);
    };
    refused(LoDTensor<float>(Tensor<float>{1, 2}), "fc_0.b_0.shape() is [2], expected [3]");
    refused(LoDTensor<double>(Tensor<double>{1, 2, 3}), "fc_0.b_0 is LoDTensor<f64>, expected LoDTensor<f32>");
    refused(SelectedRows<float>(3, {0}, {1}), "fc_0.b_0 is SelectedRows<f32>, expected LoDTensor<f32>");
    refused(LoDTensor<float>({1, 2, 3}, Lod{{0, 3}}), "fc_0.b_0.lod().levels() is 1, expected 0");
}

TEST_CASE("a constant whose value a program has set keeps it", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK});
    layer::Var<float> const c(scope.new_var("c", tensor_spec<float>({UNK})));
    test::set(*c, LoDTensor<float>(Tensor<float>{1, 10}));
    auto const sum = layer::add(x, c);
    for (int i = 0; i < 2; ++i) CHECK((test::run(sum, {{"x", Tensor<float>{1, 2}}}).value() == Tensor<float>{2, 12}));
}

}  // namespace test_infer
