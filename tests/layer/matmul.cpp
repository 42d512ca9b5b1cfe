// tests/layer/matmul.cpp
#include <rowan/layer/matmul.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>

namespace test_matmul {

using namespace rowan;

TEST_CASE("layer::matmul multiplies matrices, optionally transposed", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1), y = layer::data("y", {2, 2});
    LoDTensor<float> const value({{1, 2}, {3, 4}}, Lod{{0, 0, 2}});
    Feeds const feeds{{"x", value}, {"y", Tensor<float>{{1, 10}, {100, 1000}}}};
    auto const plain = layer::matmul(x, y);
    CHECK(plain->spec() == tensor_spec<float>({UNK, 2}, 1));
    CHECK((test::run(plain, feeds) == LoDTensor<float>({{201, 2010}, {403, 4030}}, value.lod())));
    CHECK((test::run(layer::matmul(x, y, {.transpose_y = true}), feeds) == LoDTensor<float>({{21, 2100}, {43, 4300}}, value.lod())));
    CHECK((test::run(layer::matmul(x, y, {.transpose_x = true}), feeds) == LoDTensor<float>(Tensor<float>{{301, 3010}, {402, 4020}})));
}

TEST_CASE("gradients of layer::matmul equal central differences", "[layer]") {
    for (int const transposed : {0, 1, 2}) {
        test::DefaultScope scope;
        auto const x = test::parameter(transposed == 1 ? Dims{2, 3} : Dims{3, 2}, 1);
        auto const y = test::parameter(transposed == 2 ? Dims{4, 2} : Dims{2, 4}, 2);
        auto const target = layer::data<double>("target", {3, 4});
        test::set(*target, LoDTensor<double>(test::values({3, 4}, 3)));
        test::check_net(layer::mse(layer::matmul(x, y, {.transpose_x = transposed == 1, .transpose_y = transposed == 2}), target));
    }
}

TEST_CASE("layer::matmul multiplies batches of matrices, with both transpositions, and keeps levels", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2, 1}, 1), y = layer::data("y", {UNK, 1, 2});
    LoDTensor<float> const value({{{1}, {2}}, {{3}, {4}}}, Lod{{0, 2}});
    Feeds const feeds{{"x", value}, {"y", Tensor<float>{{{1, 10}}, {{100, 1000}}}}};
    CHECK((test::run(layer::matmul(x, y), feeds) == LoDTensor<float>({{{1, 10}, {2, 20}}, {{300, 3000}, {400, 4000}}}, value.lod())));
    CHECK((test::run(layer::matmul(x, y, {.transpose_x = true, .transpose_y = true}), feeds) == LoDTensor<float>({{{21}}, {{4300}}}, value.lod())));
}

TEST_CASE("gradients of batches flow through layer::matmul, also in the steps of a recurrent net", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({5, 3, 2}, 1), Lod{{0, 3, 3, 5}}));
    auto const w = test::parameter({4, 3}, 2), v = test::parameter({2, 4}, 3);
    auto const h = layer::rnn(x, 4, [&](auto x_t, auto before) {
        auto const now = layer::reduce_sum(layer::matmul(layer::matmul(w, x_t), v), {.axes = {1}}) + layer::scale(before, 0.5);
        return layer::Step{now, now};
    });
    test::check_net(layer::mean(h * h) + layer::mean(layer::matmul(layer::matmul(x, w, {.transpose_x = true, .transpose_y = true}), layer::matmul(x, x, {.transpose_x = true}), {.transpose_x = true})));
}

TEST_CASE("layer::matmul throws for shapes that do not match", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}), y = layer::data("y", {3, 4}), z = layer::data("z", {UNK});
    CHECK_THROWS_WITH(layer::matmul(x, y), "matmul: the inner dim of y is 3, expected 2");
    CHECK_THROWS_WITH(layer::matmul(x, z), "matmul: y rank is 1, expected at least 2");
    CHECK_THROWS_WITH(layer::matmul(x, layer::data("many", {UNK, 3, 4})), "matmul: the inner dim of y is 3, expected 2");
}

}  // namespace test_matmul
