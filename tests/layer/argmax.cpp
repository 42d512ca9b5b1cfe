// tests/layer/argmax.cpp
#include <rowan/layer/one_hot.hpp>
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/rnn.hpp>

namespace test_argmax_layer {

using namespace rowan;

TEST_CASE("layers find the greatest elements of rows and keep levels", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 3}, 1);
    auto const ids = layer::data<std::int64_t>("ids", {UNK, 1}, 1);
    Lod const lod{{0, 2}};
    Feeds const feeds{{"x", LoDTensor<float>({{1, 5, 3}, {7, 2, 7}}, lod)}, {"ids", LoDTensor<std::int64_t>({{2}, {0}}, lod)}};
    auto const best = layer::top_k(x, {.k = 2});
    CHECK((test::run(best.value, feeds) == LoDTensor<float>({{5, 3}, {7, 7}}, lod)));
    CHECK((test::run(best.indices, feeds) == LoDTensor<std::int64_t>({{1, 2}, {0, 2}}, lod)));
    CHECK((test::run(layer::argmax(x), feeds) == LoDTensor<std::int64_t>(Tensor<std::int64_t>{1, 0}, lod)));
    CHECK((test::run(layer::argmin(x, {.axis = 0}), feeds) == LoDTensor<std::int64_t>(Tensor<std::int64_t>{0, 1, 0})));
    CHECK((test::run(layer::argsort(x), feeds) == LoDTensor<std::int64_t>({{0, 2, 1}, {1, 0, 2}}, lod)));
    CHECK((test::run(layer::argsort(x, {.axis = 0, .descending = true}), feeds) == LoDTensor<std::int64_t>({{1, 0, 1}, {0, 1, 0}}, lod)));
    CHECK((test::run(layer::one_hot(ids, {.depth = 3}), feeds) == LoDTensor<float>({{0, 0, 1}, {1, 0, 0}}, lod)));
    CHECK((test::run(layer::one_hot<double>(ids, 3), feeds) == LoDTensor<double>({{0, 0, 1}, {1, 0, 0}}, lod)));
    CHECK((test::run(layer::cumsum(x), feeds) == LoDTensor<float>({{1, 6, 9}, {7, 9, 16}}, lod)));
    CHECK_THROWS_WITH(layer::top_k(x, 4), "k is 4, expected in [1, 3]");
    CHECK_THROWS_WITH(layer::top_k(layer::data("any", {UNK, UNK}), 0), "k is 0, expected at least 1");
    CHECK_THROWS_WITH(layer::argmax(x, {.axis = 2}), "axis = 2 is not in [-2, 2)");
    CHECK_THROWS_WITH(layer::argsort(x, {.axis = 2}), "axis = 2 is not in [-2, 2)");
    CHECK_THROWS_WITH(layer::cumsum(x, {.axis = -3}), "axis = -3 is not in [-2, 2)");
    CHECK_THROWS_WITH(test::run(layer::one_hot(ids, 2), feeds), Catch::Contains("ids[0] = 2 is not in [0, 2)"));
}

TEST_CASE("gradients of top_k and cumsum flow through the steps of a recurrent net", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::fc(test::fed("x", LoDTensor<double>(test::values({5, 3}, 1), Lod{{0, 3, 3, 5}})), {.output_size = 4});
    auto const h = layer::rnn(x, 2, [&](auto x_t, auto before) {
        auto const now = layer::top_k(layer::cumsum(x_t), 2).value + layer::scale(before, 0.5);
        return layer::Step{now, now};
    });
    test::check_net(layer::mean(layer::mul(h, layer::cumsum(h, {.axis = 0, .reverse = true}))));
}

}  // namespace test_argmax_layer
