// tests/layer/sequence_top_k_mean.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>

namespace test_layer_sequence_top_k_mean {

using namespace rowan;

TEST_CASE("layer::sequence_top_k_mean pools the greatest elements, and its gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({6, 3}, 1), Lod{{0, 2, 2, 6}}));
    auto const pooled = layer::sequence_top_k_mean(layer::fc(x, {.output_size = 2}), {.ks = {1, 3}});
    CHECK(pooled->spec() == tensor_spec<double>({UNK, 4}));
    test::check_net(layer::mse(pooled, test::fed("target", LoDTensor<double>(test::values({3, 4}, 2)))));
    CHECK_THROWS_WITH(layer::sequence_top_k_mean(pooled, {.ks = {1}}), "sequence_top_k_mean: x.lod().levels() is 0, expected at least 1");
}

}  // namespace test_layer_sequence_top_k_mean
