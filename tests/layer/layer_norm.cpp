// tests/layer/layer_norm.cpp
#include <rowan/layer/layer_norm.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/op/norm/layer_norm.hpp>

namespace test_layer_norm {

using namespace rowan;

TEST_CASE("the gradients of layer::layer_norm equal central differences, also in the steps of a recurrent net", "[layer]") {
    test::DefaultScope scope;
    Lod const lod{{0, 2, 3}, {0, 3, 3, 5}};
    auto const x = test::fed("x", LoDTensor<double>(test::values({5, 3}, 1), lod));
    auto const target = test::fed("target", LoDTensor<double>(test::values({5, 4}, 2), lod));
    auto const norm = layer::layer_norm(layer::fc(x, {.output_size = 4}), {.name = "norm"});
    CHECK(norm->spec() == tensor_spec<double>({UNK, 4}, 2));
    CHECK(scope.get("norm.w_0").spec() == tensor_spec<double>({4}));
    auto const plain = layer::layer_norm(layer::fc(norm), {.epsilon = 0.1, .scale = false});
    auto const states = layer::rnn(plain, 4, [](auto row, auto state) {
        auto const next = layer::layer_norm(layer::fc(row) + state);
        return layer::Step{next, next};
    });
    CHECK(test::check_net(layer::mse(states, target)).size() == 11);
}

TEST_CASE("layer::layer_norm keeps the levels, begins as the plain norm, and adds nothing if it throws", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data<float>("x", {UNK, 2}, 1);
    auto const norm = layer::layer_norm(x, {.scale = false, .shift = false});
    LoDTensor<float> const rows({{1, 2}, {5, 3}}, Lod{{0, 2}});
    CHECK(test::run(norm, {{"x", rows}}) == LoDTensor<float>(layer_norm(rows.value()), rows.lod()));
    auto const before = scope.variables().size();
    CHECK_THROWS_WITH(layer::layer_norm(layer::data<float>("wide", {UNK, UNK})), "a dim of a parameter is UNK, expected known: give the data its width");
    CHECK_THROWS_WITH(layer::layer_norm(layer::data<float>("list", {UNK})), "layer::layer_norm: x rank is 1, expected at least 2");
    CHECK_THROWS_WITH(layer::layer_norm(x, {.epsilon = -1}), "epsilon is -1, expected 0 or more");
    CHECK_THROWS_WITH(layer::layer_norm(x, {.begin_axis = 2}), "begin_axis is 2, expected in [1, 1] or [-1, -1]: axis 0 is that of rows");
    CHECK(scope.variables().size() == before + 2);
}

}  // namespace test_layer_norm
