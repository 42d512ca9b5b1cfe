// tests/op/sequence_reshape.cpp
#include <rowan/op/sequence/sequence_reshape.hpp>

#include "catch.hpp"

namespace test_op_sequence_reshape {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_reshape_op, rowan::tensor_spec, rowan::UNK;

static_assert(sequence_reshape_op::infer(tensor_spec<float>({6, 2}, 2), {4}) == tensor_spec<float>({UNK, 4}, 2));
static_assert(sequence_reshape_op::infer(tensor_spec<float>({UNK}, 1), {4}) == tensor_spec<float>({UNK, 4}, 1));

TEST_CASE("sequence_reshape_op throws for inputs that do not match", "[op][bad]") {
    CHECK_THROWS_WITH(sequence_reshape_op::infer(tensor_spec<float>({UNK, 2}, 1), {0}), "sequence_reshape: width is 0, expected 1 or more");
    CHECK_THROWS_WITH(sequence_reshape_op::infer(tensor_spec<float>({UNK, 2}), {2}), "sequence_reshape: x.lod().levels() is 0, expected at least 1");
    CHECK_THROWS_WITH(sequence_reshape_op::infer(tensor_spec<float>({}, 1), {2}), "sequence_reshape: x rank is 0, expected at least 1");
}

}  // namespace test_op_sequence_reshape
