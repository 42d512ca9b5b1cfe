// tests/op/sequence_erase.cpp
#include <rowan/op/sequence/sequence_erase.hpp>

#include "catch.hpp"

#include <cstdint>

namespace test_sequence_erase {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_erase_op, rowan::tensor_spec, rowan::UNK;

TEST_CASE("sequence_erase_op removes tokens and keeps the upper levels", "[op][golden]") {
    LoDTensor<std::int32_t> const x({3, 1, 4, 1, 5, 1}, Lod{{0, 2, 3}, {0, 3, 4, 6}});
    CHECK((sequence_erase_op::run(Cpu{}, x, {.tokens = {9, 1}}) == LoDTensor<std::int32_t>({3, 4, 5}, Lod{{0, 2, 3}, {0, 2, 2, 3}})));
    CHECK(sequence_erase_op::run(Cpu{}, x, {}) == x);
    CHECK(sequence_erase_op::infer(tensor_spec<std::int64_t>({7, 1}, 2), {}) == tensor_spec<std::int64_t>({UNK, 1}, 2));
    CHECK_THROWS_WITH(sequence_erase_op::infer(tensor_spec<float>({UNK}, 1), {}), "sequence_erase: x dtype is f32, expected i64");
}

}  // namespace test_sequence_erase
