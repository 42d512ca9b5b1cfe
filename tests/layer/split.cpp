// tests/layer/split.cpp
#include <rowan/layer/split.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>

namespace test_split {

using namespace rowan;

TEST_CASE("layer::split cuts a value along an axis", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 3}, 1);
    LoDTensor<float> const value({{1, 2, 3}, {4, 5, 6}}, Lod{{0, 2}});
    auto const parts = layer::split(x, {1, 0, 2}, {.axis = 1});
    REQUIRE(parts.size() == 3);
    CHECK(parts[2]->spec() == tensor_spec<float>({UNK, 2}, 1));
    CHECK((test::run(parts[0], {{"x", value}}) == LoDTensor<float>({{1}, {4}}, Lod{{0, 2}})));
    CHECK((test::run(parts[1], {{"x", value}}).value() == Tensor<float>::from_shape({2, 0})));
    CHECK((test::run(parts[2], {{"x", value}}) == LoDTensor<float>({{2, 3}, {5, 6}}, Lod{{0, 2}})));
    auto const rows = layer::split(x, {1, 1});
    CHECK(rows[1]->spec() == tensor_spec<float>({1, 3}));
    CHECK((test::run(rows[1], {{"x", value}}) == LoDTensor<float>(Tensor<float>{{4, 5, 6}})));
}

TEST_CASE("the gradient of layer::split equals central differences, also with an unused part", "[layer]") {
    test::DefaultScope scope;
    auto const w = test::parameter({3, 4}, 1), target = layer::data<double>("target", {3, 1});
    test::set(*target, LoDTensor<double>(test::values({3, 1}, 3)));
    auto const parts = layer::split(w, {1, 2, 1}, {.axis = 1});
    test::check_net(layer::mse(layer::mul(parts[0], parts[2]), target));
}

}  // namespace test_split
