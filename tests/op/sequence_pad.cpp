// tests/op/sequence_pad.cpp
#include <rowan/op/sequence/sequence_pad.hpp>

#include "catch.hpp"

#include <cstdint>

namespace test_sequence_pad {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_pad_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(sequence_pad_op::infer(tensor_spec<float>({7, 4}, 2))[0] == tensor_spec<float>({UNK, UNK, 4}, 1));
static_assert(sequence_pad_op::infer(tensor_spec<float>({UNK}, 1), {.length = 3})[0] == tensor_spec<float>({UNK, 3}));
static_assert(sequence_pad_op::infer(tensor_spec<float>({7, 4}, 2))[1] == tensor_spec<std::int64_t>({UNK}, 1));

TEST_CASE("sequence_pad_op pads the last level and keeps the upper levels", "[op][golden]") {
    LoDTensor<std::int32_t> const x({1, 2, 3}, Lod{{0, 2, 3}, {0, 2, 2, 3}});
    auto const [rows, length] = sequence_pad_op::run(Cpu{}, x, {.pad_value = -1});
    CHECK((rows == LoDTensor<std::int32_t>({{1, 2}, {-1, -1}, {3, -1}}, Lod{{0, 2, 3}})));
    CHECK((length == LoDTensor<std::int64_t>({2, 0, 1}, Lod{{0, 2, 3}})));
    CHECK((std::get<0>(sequence_pad_op::run(Cpu{}, x, {.length = 3})).value() == Tensor<std::int32_t>{{1, 2, 0}, {0, 0, 0}, {3, 0, 0}}));
    auto const none = sequence_pad_op::run(Cpu{}, LoDTensor<float>(Tensor<float>::zeros({0, 2}), Lod{{0}}));
    CHECK(std::get<0>(none).shape() == Tensor<float>::shape_type{0, 0, 2});
}

TEST_CASE("sequence_pad_op pads with a value for each column", "[op]") {
    LoDTensor<float> const x({{1, 2}, {3, 4}, {5, 6}}, Lod{{0, 2, 2, 3}});
    CHECK((std::get<0>(sequence_pad_op::run(Cpu{2}, x, {.pad_values = {-1, 7}})).value() == Tensor<float>{{{1, 2}, {3, 4}}, {{-1, 7}, {-1, 7}}, {{5, 6}, {-1, 7}}}));
    auto const ids = LoDTensor<std::int32_t>({1, 2}, Lod{{0, 1, 2}});
    CHECK((std::get<0>(sequence_pad_op::run(Cpu{}, ids, {.pad_value = 3, .length = 2, .pad_values = {9}})).value() == Tensor<std::int32_t>{{1, 9}, {2, 9}}));
    CHECK_THROWS_WITH(sequence_pad_op::run(Cpu{}, ids, {.pad_values = {0.5}}), "pad_values[0] is 0.5, expected a whole number that the element type holds");
}

}  // namespace test_sequence_pad
