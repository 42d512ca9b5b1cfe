// tests/op/sequence_unpad.cpp
#include <rowan/op/sequence/sequence_unpad.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/op/sequence/sequence_pad.hpp>

#include <cstdint>

namespace test_sequence_unpad {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_unpad_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(sequence_unpad_op::infer(tensor_spec<float>({UNK, 3, 4}, 1), tensor_spec<std::int32_t>({UNK})) == tensor_spec<float>({UNK, 4}, 2));

TEST_CASE("sequence_unpad_op is the inverse of sequence_pad_op", "[op]") {
    LoDTensor<double> const x(test::values({6, 2}, 1), Lod{{0, 2, 3}, {0, 3, 3, 6}});
    auto const [rows, length] = rowan::sequence_pad_op::run(Cpu{}, x, {.pad_value = 7});
    CHECK(sequence_unpad_op::run(Cpu{}, rows, length) == x);
    LoDTensor<float> const none(Tensor<float>::zeros({0, 3}));
    CHECK((sequence_unpad_op::run(Cpu{}, none, LoDTensor<std::int64_t>(Tensor<std::int64_t>::zeros({0}))) == LoDTensor<float>(Tensor<float>::zeros({0}), Lod{{0}})));
}

}  // namespace test_sequence_unpad
