// tests/layer/sequence_softmax.cpp: attention over ragged sequences, in layers.
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/matmul.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace test_sequence_softmax {

using namespace rowan;

TEST_CASE("attention with layer::sequence_softmax weighs the rows of each sequence by its scores", "[layer]") {
    test::DefaultScope scope;
    Lod const lod{{0, 2, 3}, {0, 3, 3, 4}};
    auto const x = test::fed("x", LoDTensor<double>(test::values({4, 2}, 1), lod));
    auto const scores = layer::fc(layer::sequence_reverse(layer::fc(x, {.output_size = 2})), {.output_size = 1});
    auto const weights = layer::sequence_softmax(scores);
    CHECK(weights->spec() == tensor_spec<double>({UNK, 1}, 2));
    auto const attended = layer::sequence_pool(layer::mul(x, layer::matmul(weights, test::parameter({1, 2}, 3))));
    test::check_net(layer::mse(attended, test::fed("target", LoDTensor<double>(test::values({3, 2}, 2), Lod{{0, 2, 3}}))));
    CHECK(test::run(layer::sequence_softmax(x), {{"x", x->value().get<LoDTensor<double>>()}}).lod() == lod);
    CHECK_THROWS_WITH(layer::sequence_softmax(layer::data<double>("rows", {UNK, 1})), "sequence_softmax: x.lod().levels() is 0, expected at least 1");
}

}  // namespace test_sequence_softmax
