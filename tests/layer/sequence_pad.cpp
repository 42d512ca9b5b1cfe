// tests/layer/sequence_pad.cpp: sequences padded in a net, and back.
#include <rowan/layer/operators.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace test_sequence_pad {

using namespace rowan;

TEST_CASE("layer::sequence_pad and layer::sequence_unpad are inverse, and their gradients equal central differences", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::fed("x", LoDTensor<double>(test::values({6, 2}, 1), Lod{{0, 2, 3}, {0, 3, 3, 6}}));
    auto const [rows, length] = layer::sequence_pad(layer::fc(x, {.output_size = 2}), {.pad_value = 0.5, .length = 4});
    CHECK(rows->spec() == tensor_spec<double>({UNK, 4, 2}, 1));
    CHECK(length->spec() == tensor_spec<std::int64_t>({UNK}, 1));
    auto const back = layer::sequence_unpad(layer::mul(rows, rows), length);
    CHECK(back->spec() == tensor_spec<double>({UNK, 2}, 2));
    test::check_net(layer::mse(back, test::fed("target", LoDTensor<double>(test::values({6, 2}, 2), Lod{{0, 2, 3}, {0, 3, 3, 6}}))));
    auto const sums = layer::reduce_sum(layer::sequence_pad(layer::fc(x, {.output_size = 1})).value, {.axes = {1}});
    test::check_net(layer::mse(sums, test::fed("sums", LoDTensor<double>(test::values({3, 1}, 2), Lod{{0, 2, 3}}))));
}

TEST_CASE("layer::sequence_pad of fed ids, and back with lengths that are fed", "[layer]") {
    test::DefaultScope scope;
    auto const [rows, length] = layer::sequence_pad(layer::data<std::int64_t>("words", {UNK}, 2), {.pad_value = -1});
    auto const again = layer::sequence_unpad(rows, layer::data<std::int64_t>("length", {UNK}));
    Feeds const feeds{{"words", LoDTensor<std::int64_t>({7, 8, 9}, Lod{{0, 1, 3}, {0, 1, 3, 3}})}, {"length", Tensor<std::int64_t>{2, 1, 0}}};
    CHECK((test::run(rows, feeds) == LoDTensor<std::int64_t>({{7, -1}, {8, 9}, {-1, -1}}, Lod{{0, 1, 3}})));
    CHECK((test::run(length, feeds) == LoDTensor<std::int64_t>({1, 2, 0}, Lod{{0, 1, 3}})));
    CHECK((test::run(again, feeds) == LoDTensor<std::int64_t>({7, -1, 8}, Lod{{0, 1, 3}, {0, 2, 3, 3}})));
}

}  // namespace test_sequence_pad
