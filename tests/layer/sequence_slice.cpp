// tests/layer/sequence_slice.cpp
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace test_sequence_slice {

using namespace rowan;

TEST_CASE("layer::sequence_slice keeps a slice of each sequence, and its gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({6, 2}, 1), Lod{{0, 2, 3}, {0, 3, 3, 6}}));
    auto const offset = test::fed("offset", LoDTensor<std::int64_t>({1, 0, 0}));
    auto const length = test::fed("length", LoDTensor<std::int64_t>({2, 0, 1}));
    auto const kept = layer::sequence_slice(layer::fc(x, {.output_size = 2}), offset, length);
    CHECK(kept->spec() == tensor_spec<double>({UNK, 2}, 2));
    test::check_net(layer::mse(layer::sequence_pool(kept), test::fed("target", LoDTensor<double>(test::values({3, 2}, 2), Lod{{0, 2, 3}}))));
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    Feeds const feeds{{"words", LoDTensor<std::int64_t>({7, 8, 9}, Lod{{0, 1, 3, 3}})}, {"offset", Tensor<std::int64_t>{0, 1, 0}}, {"length", Tensor<std::int64_t>{1, 1, 0}}};
    CHECK((test::run(layer::sequence_slice(words, offset, length), feeds) == LoDTensor<std::int64_t>({7, 9}, Lod{{0, 1, 2, 2}})));
    CHECK_THROWS_WITH(test::run(layer::sequence_slice(words, length, length), feeds), "sequence_slice(x = words, offset = length, length): length[0] = 1 is not in [0, 1)");
}

}  // namespace test_sequence_slice
