// tests/op/sequence_mask.cpp
#include <rowan/op/sequence/sequence_mask.hpp>

#include "catch.hpp"

#include <cstdint>

namespace test_sequence_mask {

using rowan::Cpu, rowan::sequence_mask_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(sequence_mask_op::infer(tensor_spec<std::int64_t>({UNK}, 1)) == tensor_spec<bool>({UNK, UNK}, 1));
static_assert(sequence_mask_op::infer(tensor_spec<std::int32_t>({4}), {.max_length = 3}) == tensor_spec<bool>({4, 3}));

TEST_CASE("sequence_mask_op marks the elements of sequences", "[op][golden]") {
    Tensor<std::int64_t> const lengths{2, 0, 1};
    CHECK((sequence_mask_op::run(Cpu{}, lengths) == Tensor<bool>{{true, true}, {false, false}, {true, false}}));
    CHECK((sequence_mask_op::run(Cpu{}, lengths, {.max_length = 1}) == Tensor<bool>{{true}, {false}, {true}}));
    CHECK_THROWS_WITH(sequence_mask_op::infer(tensor_spec<float>({3})), "sequence_mask: lengths dtype is f32, expected i64");
}

}  // namespace test_sequence_mask
