// tests/layer/top_k.cpp: also one_hot.
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/one_hot.hpp>
#include <rowan/layer/rnn.hpp>

namespace test_top_k_layer {

using namespace rowan;

TEST_CASE("layer::top_k has values and positions, layer::one_hot an element type, and both keep levels", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 3}, 1);
    auto const ids = layer::data<std::int64_t>("ids", {UNK, 1}, 1);
    Lod const lod{{0, 2}};
    Feeds const feeds{{"x", LoDTensor<float>({{1, 5, 3}, {7, 2, 7}}, lod)}, {"ids", LoDTensor<std::int64_t>({{2}, {0}}, lod)}};
    auto const best = layer::top_k(x, {.k = 2});
    CHECK((test::run(best.value, feeds) == LoDTensor<float>({{5, 3}, {7, 7}}, lod)));
    CHECK((test::run(best.indices, feeds) == LoDTensor<std::int64_t>({{1, 2}, {0, 2}}, lod)));
    CHECK((test::run(layer::one_hot(ids, {.depth = 3}), feeds) == LoDTensor<float>({{0, 0, 1}, {1, 0, 0}}, lod)));
    CHECK((test::run(layer::one_hot<double>(ids, 3), feeds) == LoDTensor<double>({{0, 0, 1}, {1, 0, 0}}, lod)));
    CHECK_THROWS_WITH(layer::top_k(x, 4), "k is 4, expected in [1, 3]");
    CHECK_THROWS_WITH(layer::top_k(layer::data("any", {UNK, UNK}), 0), "k is 0, expected at least 1");
}

TEST_CASE("the gradient of layer::top_k flows through the steps of a recurrent net", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::fc(test::fed("x", LoDTensor<double>(test::values({5, 3}, 1), Lod{{0, 3, 3, 5}})), {.output_size = 4});
    auto const h = layer::rnn(x, 2, [&](auto x_t, auto before) {
        auto const now = layer::top_k(x_t, 2).value + layer::scale(before, 0.5);
        return layer::Step{now, now};
    });
    test::check_net(layer::mean(layer::mul(h, h)));
}

}  // namespace test_top_k_layer
