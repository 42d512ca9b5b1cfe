// tests/op/sequence_context.cpp: windows of rows against Paddle's formula, and their gradients.
#include <rowan/op/sequence/sequence_context.hpp>

#include "catch.hpp"

#include <cstdint>

namespace test_sequence_context {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::padded_sequence_context_op, rowan::sequence_context, rowan::sequence_context_op,
    rowan::SequenceContextOptions, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

constexpr SequenceContextOptions around{-1, 3};
static_assert(sequence_context_op::infer(tensor_spec<float>({UNK, 4}, 2), around) == tensor_spec<float>({UNK, 12}, 2));
static_assert(sequence_context_op::infer(tensor_spec<float>({7}, 1), around) == tensor_spec<float>({7, 3}, 1));
static_assert(padded_sequence_context_op::infer(tensor_spec<float>({7, 4}, 1), tensor_spec<float>({2, 4}), around) == tensor_spec<float>({7, 12}, 1));

TEST_CASE("sequence_context has the windows of Paddle's documentation", "[op][golden]") {
    // x = [[a1, a2; b1, b2; c1, c2] [d1, d2]], start -1, length 3, as in Paddle's context_project.h
    LoDTensor<float> const x({{1, 2}, {3, 4}, {5, 6}, {7, 8}}, Lod{{0, 3, 3, 4}});
    CHECK((sequence_context(x, around) == LoDTensor<float>({{0, 0, 1, 2, 3, 4}, {1, 2, 3, 4, 5, 6}, {3, 4, 5, 6, 0, 0}, {0, 0, 7, 8, 0, 0}}, x.lod())));
    Tensor<float> const padding{{-1, -2}, {-3, -4}};
    CHECK((sequence_context(x, padding, around).value() == Tensor<float>{{-1, -2, 1, 2, 3, 4}, {1, 2, 3, 4, 5, 6}, {3, 4, 5, 6, -3, -4}, {-1, -2, 7, 8, -3, -4}}));
    Tensor<float> const two{{-1, 0}, {-2, 0}, {-3, 0}, {-4, 0}};  // windows longer than the sequences
    CHECK((sequence_context(x, two, {-2, 5}).value() == Tensor<float>{{-1, 0, -2, 0, 1, 2, 3, 4, 5, 6}, {-2, 0, 1, 2, 3, 4, 5, 6, -3, 0}, {1, 2, 3, 4, 5, 6, -3, 0, -4, 0}, {-1, 0, -2, 0, 7, 8, -3, 0, -4, 0}}));
    LoDTensor<std::int64_t> const ids({7, 8, 9, 5}, Lod{{0, 2}, {0, 3, 4}});
    CHECK((sequence_context(ids, {0, 2, -1}) == LoDTensor<std::int64_t>({{7, 8}, {8, 9}, {9, -1}, {5, -1}}, ids.lod())));
    CHECK((sequence_context(ids, {2, 1}).value() == Tensor<std::int64_t>{{9}, {0}, {0}, {0}}));
    CHECK((sequence_context(ids, {-1, 1}).value() == Tensor<std::int64_t>{{0}, {7}, {8}, {0}}));
    CHECK(sequence_context(LoDTensor<float>(Tensor<float>::zeros({0, 2}), Lod{{0, 0}}), around).shape() == Tensor<float>::shape_type{0, 6});
}

TEST_CASE("sequence_context throws for bad inputs", "[op][bad]") {
    LoDTensor<float> const x({{1, 2}}, Lod{{0, 1}});
    CHECK_THROWS_WITH(sequence_context(x, {std::int64_t{1} << 31, 1}), "sequence_context: start is 2147483648, expected in (-2^31, 2^31)");
    CHECK_THROWS_WITH(sequence_context(x, Tensor<float>{{1}, {2}}, around), "padding.shape() is [2, 1], expected [2, 2]");
    CHECK_THROWS_WITH(sequence_context_op::infer(tensor_spec<float>({UNK, 1, 1}, 1), around), "sequence_context: x rank is 3, expected 1 or 2");
}

}  // namespace test_sequence_context
