// tests/layer/losses.cpp: losses as layers, their reductions, and their gradients in a net.
#include <rowan/layer/loss.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/op.hpp>

namespace test_losses_layers {

using namespace rowan;

TEST_CASE("losses of pairs and of cosines, with their options", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1), y = layer::data("y", {UNK, 2}, 1);
    Tensor<float> const a{{0.5F, -2}, {-0.5F, 3}, {0, 0.25F}}, b{{1, 0}, {1, 1}, {0, 0.5F}};
    Feeds const feeds{{"x", LoDTensor<float>(a, Lod{{0, 2, 3}})}, {"y", LoDTensor<float>(b, Lod{{0, 2, 3}})}};
    auto const gives = [&](layer::Var<float> const& out, Tensor<float> const& want) { CHECK(test::run(out, feeds).value() == want); };
    gives(layer::ranknet(y, x, x, {Reduction::none}), Tensor<float>::full({3, 2}, std::log(2.0F)));
    CHECK(test::run(layer::ranknet(y, x, y, {Reduction::none}), feeds).value()(0, 0) == Approx(0.9740769841801067));  // log(1 + exp(-0.5)) + 0.5
    gives(layer::margin_ranking(y, x, y, {.margin = 0.5}), margin_ranking(sub(a, b), b, {.margin = 0.5}));
    gives(layer::cosine_embedding(x, y, layer::scale(layer::cosine_similarity(x, y), 0, -1), {.margin = 0.25}),
          cosine_embedding(cosine_similarity(a, b), Tensor<float>::full({3, 1}, -1), {.margin = 0.25}));
}

TEST_CASE("losses of elements and of pairs take weights of rows", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1), y = layer::data("y", {UNK, 2}, 1), w = layer::data("w", {UNK});
    Tensor<float> const a{{0.5F, -2}, {-0.5F, 3}, {0, 0.25F}}, b{{1, 0}, {1, 1}, {0, 0.5F}}, weights{2, 0, 1};
    Feeds const feeds{{"x", LoDTensor<float>(a, Lod{{0, 2, 3}})}, {"y", LoDTensor<float>(b, Lod{{0, 2, 3}})}, {"w", weights}};
    auto const gives = [&](layer::Var<float> const& out, Tensor<float> const& want) { CHECK(test::run(out, feeds).value() == want); };
    gives(layer::huber(x, y, w, {.delta = 0.5}), huber(a, b, weights, {.delta = 0.5}));
    gives(layer::mse(x, y, w), mse(a, b, weights));
    CHECK(test::run(layer::mse(x, y, w, {Reduction::none}), feeds).lod().levels() == 1);
    gives(layer::binary_cross_entropy_with_logits(x, y, w, {.pos_weight = 3}), binary_cross_entropy_with_logits(a, b, weights, {.pos_weight = 3}));
    gives(layer::hinge(x, y, {.pos_weight = 3}), hinge(a, b, {.pos_weight = 3}));
    gives(layer::ranknet(y, x, x, w, {Reduction::none}), Tensor<float>{{2 * std::log(2.0F), 2 * std::log(2.0F)}, {0, 0}, {std::log(2.0F), std::log(2.0F)}});
    gives(layer::margin_ranking(y, x, y, w, {.margin = 0.5}), margin_ranking(sub(a, b), b, weights, {.margin = 0.5}));
    gives(layer::cosine_embedding(x, y, layer::scale(layer::cosine_similarity(x, y), 0, -1), w, {.margin = 0.25}),
          cosine_embedding(cosine_similarity(a, b), Tensor<float>::full({3, 1}, -1), weights, {.margin = 0.25}));
    CHECK_THROWS_WITH(layer::mse(x, y, layer::data("v", {UNK, 1})), "weighted_mse: weights rank is 2, expected 1, a weight for each row of x");
    Feeds bad = feeds;
    bad.insert_or_assign("w", Tensor<float>{1, 1, std::nanf("")});
    CHECK_THROWS_WITH(test::run(layer::mse(x, y, w), bad), Catch::Matchers::Contains("weights[2] is nan, expected in [0, 1e150]"));
}

TEST_CASE("layers of losses with labels take a reduction, a label to ignore, and probabilities", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}), soft = layer::data("soft", {UNK, 2});
    auto const label = layer::data<std::int64_t>("label", {UNK});
    Tensor<float> const a{{0.5F, -2}, {-0.5F, 3}}, shares{{0.25F, 0.75F}, {1, 0}};
    Tensor<std::int64_t> const labels{1, -100};
    Feeds const feeds{{"x", a}, {"soft", shares}, {"label", labels}};
    auto const gives = [&](layer::Var<float> const& out, Tensor<float> const& want) { CHECK(test::run(out, feeds).value() == want); };
    gives(layer::cross_entropy(x, label, {.ignore_index = -100}), std::get<0>(cross_entropy(a, labels, {Reduction::mean, -100})));
    gives(layer::cross_entropy(x, soft, {.soft_label = true, .reduction = Reduction::none}), std::get<0>(cross_entropy(a, shares, {Reduction::none})));
    CHECK(layer::cross_entropy(x, label, {.reduction = Reduction::none})->spec().dims == Dims{UNK});
    CHECK(layer::cross_entropy_of_probabilities(x, label, {Reduction::none})->spec().dims == Dims{UNK});
    CrossEntropyOptions const weighed{.ignore_index = -100, .weights = {2, 3}};
    gives(layer::cross_entropy(x, label, weighed), std::get<0>(cross_entropy(a, labels, weighed)));
    gives(layer::cross_entropy_of_probabilities(layer::softmax(x), label, weighed), cross_entropy_of_probabilities(softmax(a), labels, weighed));
    gives(layer::cross_entropy_of_probabilities(layer::softmax(x), soft, {.soft_label = true, .axis = 0, .weights = {2, 3}}), cross_entropy_of_probabilities(softmax(a), shares, {.axis = 0, .weights = {2, 3}}));
    CHECK_THROWS_WITH(layer::cross_entropy_of_probabilities(x, label, {.weights = {1}}), "weights.size() is 1, expected 2, one for each class");
    CHECK_THROWS_WITH(layer::cross_entropy(x, soft, {.reduction = Reduction::sum}), "soft_label is 0, expected true for labels that are not integers");
}

TEST_CASE("softmax along axis 0 in a step is over the sequences of that step", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 1}, 1);
    auto const step = [](auto x_t, auto before) { return layer::Step{layer::add(layer::softmax(x_t, {.axis = 0}), before), before}; };
    LoDTensor<float> const batch({{5}, {-1}, {5}, {2}, {3}}, Lod{{0, 2, 3, 5}});
    auto const want = softmax(Tensor<float>{5, 5, 2}, {.axis = 0}), rest = softmax(Tensor<float>{-1, 3}, {.axis = 0});
    CHECK(test::run(layer::rnn(x, 1, step), {{"x", batch}}).value() == Tensor<float>{{want(0)}, {rest(0)}, {want(1)}, {want(2)}, {rest(1)}});
}

TEST_CASE("the gradients of losses in a net equal finite differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::parameter({3, 2}, 1), y = test::parameter({3, 2}, 2);
    auto const target = test::fed("target", LoDTensor<double>({{1, 0}, {0.25, 0.75}, {0, 1}}));
    test::check_net(layer::cross_entropy(x, target, {.soft_label = true}));
    test::check_net(layer::ranknet(target, x, y));
    test::check_net(layer::cosine_embedding(x, y, layer::scale(layer::cosine_similarity(target, target), -1)));
}

}  // namespace test_losses_layers
