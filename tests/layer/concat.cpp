// tests/layer/concat.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>

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
    CHECK_THROWS_WITH(layer::concat(std::vector<layer::Var<float>>{}), "x.size() is 0, expected at least 1");
}

}  // namespace test_concat
