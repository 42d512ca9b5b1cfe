// tests/layer/concat.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>

namespace test_concat {

using namespace rowan;

TEST_CASE("layer::concat puts values together along an axis", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1), y = layer::data("y", {UNK, 1}, 1);
    Lod const lod{{0, 1, 2}};
    Feeds const feeds{{"x", LoDTensor<float>({{1, 2}, {3, 4}}, lod)}, {"y", LoDTensor<float>({{5}, {6}}, lod)}};
    auto const both = layer::concat({x, y, x}, {.axis = 1});
    CHECK(both->spec() == tensor_spec<float>({UNK, 5}, 1));
    CHECK((test::run(both, feeds) == LoDTensor<float>({{1, 2, 5, 1, 2}, {3, 4, 6, 3, 4}}, lod)));
    auto const rows = layer::concat(std::vector{x, x});
    CHECK(rows->spec() == tensor_spec<float>({UNK, 2}, 1));
    CHECK((test::run(rows, feeds) == LoDTensor<float>({{1, 2}, {3, 4}, {1, 2}, {3, 4}}, Lod{{0, 1, 2, 3, 4}})));
    auto const plain = layer::concat({layer::data("z", {1, 2}), x});
    CHECK(plain->spec() == tensor_spec<float>({UNK, 2}));
    CHECK((test::run(plain, {{"x", feeds.at("x")}, {"z", Tensor<float>{{7, 8}}}}) == LoDTensor<float>(Tensor<float>{{7, 8}, {1, 2}, {3, 4}})));
    CHECK((test::run(layer::concat({x}, {.axis = -1}), feeds).value() == Tensor<float>{{1, 2}, {3, 4}}));
}

TEST_CASE("the gradient of layer::concat equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const w = test::parameter({3, 2}, 1), v = test::parameter({3, 1}, 2), target = layer::data<double>("target", {3, 5});
    test::set(*target, LoDTensor<double>(test::values({3, 5}, 3)));
    test::check_net(layer::mse(layer::concat({w, v, w}, {.axis = 1}), target));
}

TEST_CASE("layer::concat joins batches, and its gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({3, 2}, 1), Lod{{0, 2, 2, 3}}));
    auto const y = test::fed("y", LoDTensor<double>(test::values({4, 2}, 2), Lod{{0, 0, 3, 4}}));
    auto const both = layer::concat({layer::fc(x, {.output_size = 2}), y, layer::fc(y, {.output_size = 2})});
    CHECK(both->spec() == tensor_spec<double>({UNK, 2}, 1));
    auto const pooled = layer::sequence_pool(both, {Pooling::sqrt});
    test::check_net(layer::mse(pooled, test::fed("target", LoDTensor<double>(test::values({9, 2}, 3)))));
}

TEST_CASE("layer::concat throws for shapes that do not match", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {4, 2}), y = layer::data("y", {3, 2});
    CHECK_THROWS_WITH(layer::concat({x, y}, {.axis = 1}), "concat: x[1].shape(0) is 3, expected 4");
    CHECK_THROWS_WITH(layer::concat({x, y}, {.axis = 2}), "axis = 2 is not in [-2, 2)");
    CHECK_THROWS_WITH(layer::concat(std::vector<layer::Var<float>>{}), "x.size() is 0, expected at least 1");
    CHECK(scope.operators().empty());
}

}  // namespace test_concat
