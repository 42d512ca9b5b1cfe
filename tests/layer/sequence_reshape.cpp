// tests/layer/sequence_reshape.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>

namespace test_layer_sequence_reshape {

using namespace rowan;

TEST_CASE("layer::sequence_reshape changes the width of rows, and its gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({6, 3}, 1), Lod{{0, 2, 2, 6}}));
    auto const wide = layer::sequence_reshape(layer::fc(x, {.output_size = 2}), {.width = 4});
    CHECK(wide->spec() == tensor_spec<double>({UNK, 4}, 1));
    test::check_net(layer::mse(layer::sequence_pool(wide), test::fed("target", LoDTensor<double>(test::values({3, 4}, 2)))));
    CHECK_THROWS_WITH(test::run(layer::sequence_reshape(layer::data("y", {UNK, 2}, 1), {.width = 4}), {{"y", LoDTensor<float>({{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 2, 3}})}}),
                      "sequence_reshape(x = y): elements of sequence 1 is 2, expected a multiple of 4");
}

TEST_CASE("layer::sequence_reshape in the steps of a recurrent layer", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({8, 2}, 1), Lod{{0, 2, 3}, {0, 4, 6, 8}}));
    auto const out = layer::rnn(x, 4, [](auto sentence, auto before) {
        auto const now = layer::tanh(layer::add(before, layer::sequence_pool(layer::sequence_reshape(sentence, {.width = 4}))));
        return layer::Step{now, now};
    }, {.level = 0});
    test::check_net(layer::mse(layer::fc(out, {.output_size = 2}), test::fed("target", LoDTensor<double>(test::values({3, 2}, 3), Lod{{0, 2, 3}}))));
}

}  // namespace test_layer_sequence_reshape
