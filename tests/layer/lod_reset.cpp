// tests/layer/lod_reset.cpp: levels and masks in nets: lod_reset, lod_from_offsets, sequence_erase, sequence_mask.
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace test_lod_reset {

using namespace rowan;

TEST_CASE("rows are pooled by other levels, and the gradient equals central differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({5, 2}, 1), Lod{{0, 1, 5}}));
    auto const words = test::fed("words", LoDTensor<std::int64_t>({1, 0, 2, 3, 3}, Lod{{0, 2, 2, 5}}));
    auto const offset = test::fed("offset", LoDTensor<std::int64_t>({0, 2, 2, 5}));
    auto const target = test::fed("target", LoDTensor<double>(test::values({3, 2}, 2)));
    auto const rows = layer::fc(x, {.output_size = 2});
    test::check_net(layer::mse(layer::sequence_pool(layer::lod_reset(rows, words), {.pool = Pooling::sqrt}), target));
    test::check_net(layer::mse(layer::sequence_pool(layer::lod_from_offsets(rows, offset), {.pool = Pooling::sqrt}), target));
    CHECK_THROWS_WITH(layer::lod_reset(rows, offset), "lod_reset: y.lod().levels() is 0, expected at least 1");
}

TEST_CASE("tokens are erased from sequences, which are padded and masked", "[layer]") {
    test::DefaultScope scope;
    auto const words = layer::sequence_erase(layer::data<std::int64_t>("words", {UNK}, 1), {.tokens = {0}});
    Feeds const feeds{{"words", LoDTensor<std::int64_t>({7, 0, 8, 0, 9}, Lod{{0, 3, 4, 5}})}};
    CHECK((test::run(words, feeds) == LoDTensor<std::int64_t>({7, 8, 9}, Lod{{0, 2, 2, 3}})));
    auto const mask = layer::cast<float>(layer::sequence_mask(layer::sequence_pad(words).length));
    CHECK(mask->spec() == tensor_spec<float>({UNK, UNK}));
    CHECK((test::run(mask, feeds).value() == Tensor<float>{{1, 1}, {0, 0}, {1, 0}}));
}

}  // namespace test_lod_reset
