// tests/layer/sequence_scatter.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/array.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>

#include <cstdint>

namespace test_layer_sequence_scatter {

using namespace rowan;

TEST_CASE("layer::sequence_scatter adds updates to places, and its gradients equal central differences", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    test::set(*words, LoDTensor<std::int64_t>({1, 0, 1, 3}, Lod{{0, 1, 1, 4}}));
    auto const x = test::fed("x", LoDTensor<double>(test::values({3, 2}, 1)));
    auto const updates = layer::squeeze(layer::fc(test::fed("y", LoDTensor<double>(test::values({4, 2}, 2))), {.output_size = 1}), {1});
    auto const out = layer::sequence_scatter(layer::fc(x, {.output_size = 4}), words, updates);
    CHECK(out->spec() == tensor_spec<double>({UNK, 4}));
    test::check_net(layer::mse(out, test::fed("target", LoDTensor<double>(test::values({3, 4}, 3)))));
    auto const z = layer::data("z", {UNK, 2});
    auto const w = layer::data("w", {UNK});
    Feeds const feeds{{"words", LoDTensor<std::int64_t>({1, 2}, Lod{{0, 1, 2}})}, {"z", Tensor<float>{{1, 2}, {3, 4}}}, {"w", Tensor<float>{5, 6}}};
    CHECK_THROWS_WITH(test::run(layer::sequence_scatter(z, words, w), feeds), "sequence_scatter(x = z, ids = words, updates = w): ids[1] = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(layer::sequence_scatter(w, words, w), "sequence_scatter: x rank is 1, expected at least 2");
}

}  // namespace test_layer_sequence_scatter
