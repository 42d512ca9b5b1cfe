// tests/layer/concat.cpp
#include <rowan/layer/concat.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/loss.hpp>

namespace test_concat {

using namespace rowan;

TEST_CASE("layer::concat puts values together along an axis", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1), y = layer::data("y", {UNK, 1}, 1);
    Lod const lod{{0, 1, 2}};
    Feeds const feeds{{"x", LoDTensor<float>({{1, 2}, {3, 4}}, lod)}, {"y", LoDTensor<float>({{5}, {6}}, lod)}};
    auto const both = layer::concat({x, y, x}, 1);
    CHECK(both->spec() == tensor_spec<float>({UNK, 5}, 1));
    CHECK((test::run(both, feeds) == LoDTensor<float>({{1, 2, 5, 1, 2}, {3, 4, 6, 3, 4}}, lod)));
    auto const rows = layer::concat(std::vector{x, x});
    CHECK(rows->spec() == tensor_spec<float>({UNK, 2}));
    CHECK((test::run(rows, feeds) == LoDTensor<float>(Tensor<float>{{1, 2}, {3, 4}, {1, 2}, {3, 4}})));
    CHECK((test::run(layer::concat({x}, -1), feeds).value() == Tensor<float>{{1, 2}, {3, 4}}));
}

TEST_CASE("the gradient of layer::concat equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const w = test::parameter({3, 2}, 1), v = test::parameter({3, 1}, 2), target = layer::data<double>("target", {3, 5});
    test::set(*target, LoDTensor<double>(test::values({3, 5}, 3)));
    test::check_net(layer::mse(layer::concat({w, v, w}, 1), target));
}

TEST_CASE("layer::concat throws for shapes that do not match", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {4, 2}), y = layer::data("y", {3, 2});
    CHECK_THROWS_WITH(layer::concat({x, y}, 1), "concat: x[1].shape(0) is 3, expected 4");
    CHECK_THROWS_WITH(layer::concat({x, y}, 2), "axis is 2, expected in [-2, 2)");
    CHECK_THROWS_WITH(layer::concat(std::vector<layer::Var<float>>{}), "x.size() is 0, expected at least 1");
    CHECK(scope.operators().empty());
}

}  // namespace test_concat
