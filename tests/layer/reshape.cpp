// tests/layer/reshape.cpp
#include <rowan/layer/array.hpp>
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/array.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/rnn.hpp>

namespace test_reshape_layer {

using namespace rowan;

TEST_CASE("layers that change shapes take a list, and keep levels with the rows", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2, 1}, 1);
    Lod const lod{{0, 1, 3}};
    Tensor<float> const rows{{1, 2}, {3, 4}, {5, 6}};
    LoDTensor<float> const value(rows.reshaped({3, 2, 1}), lod);
    Feeds const feeds{{"x", value}};
    auto const flat = layer::reshape(x, {-1, 2});
    CHECK((test::run(flat, feeds) == LoDTensor<float>(rows, lod)));
    CHECK((test::run(layer::squeeze(x, {-1}), feeds) == LoDTensor<float>(rows, lod)));
    CHECK((test::run(layer::unsqueeze(flat, {-1}), feeds) == value));
    CHECK((test::run(layer::shape(x), feeds) == LoDTensor<std::int64_t>(Tensor<std::int64_t>{3, 2, 1})));  // without the levels of 3 rows
    CHECK((test::run(layer::transpose(x, {0, -1, 1}), feeds) == LoDTensor<float>(rows.reshaped({3, 1, 2}), lod)));
    CHECK((test::run(layer::stack({flat, flat}, {.axis = -1}), feeds).lod() == lod));
    CHECK((test::run(layer::stack({flat, flat}), feeds).value().shape() == Tensor<float>::shape_type{2, 3, 2}));
}

TEST_CASE("gradients flow through changes of shape, in nets and in steps", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::fc(test::fed("x", LoDTensor<double>(test::values({5, 3}, 1), Lod{{0, 3, 3, 5}})), {.output_size = 4});
    auto const h = layer::rnn(x, 2, [&](auto x_t, auto before) {
        auto const pairs = layer::transpose(layer::reshape(x_t, {-1, 2, 2}), {0, 2, 1});
        auto const both = layer::stack({layer::reduce_sum(pairs * pairs, {.axes = {1}}), before}, {.axis = 1});
        auto const now = layer::squeeze(layer::unsqueeze(layer::reduce_mean(both, {.axes = {1}}), {1}), {1}) * layer::reduce_sum(x_t * x_t, {.axes = {1}, .keep_dims = true});
        return layer::Step{now, now};
    });
    auto const w = test::parameter({2, 3}, 2);
    test::check_net(layer::mean(h * h) + layer::mean(layer::transpose(layer::stack({w, w * w})) * layer::reshape(w, {3, 2, 1})));
}

}  // namespace test_reshape_layer
