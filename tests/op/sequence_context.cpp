// tests/op/sequence_context.cpp: windows of rows against Paddle's formula, and their gradients.
#include <rowan/op/sequence/sequence_context.hpp>

#include "any_threads.hpp"
#include "check_gradients.hpp"

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
    CHECK_THROWS_WITH(sequence_context(x, {0, 0}), "sequence_context: length is 0, expected in [1, 2^31)");
    CHECK_THROWS_WITH(sequence_context(x, {std::int64_t{1} << 31, 1}), "sequence_context: start is 2147483648, expected in (-2^31, 2^31)");
    CHECK_THROWS_WITH(sequence_context(LoDTensor<float>(Tensor<float>{{1, 2}}), around), "x.lod().levels() is 0, expected at least 1");
    CHECK_THROWS_WITH(sequence_context(x, Tensor<float>{{1, 2}}, around), "padding.shape(0) is 1, expected 2");
    CHECK_THROWS_WITH(sequence_context(x, Tensor<float>{{1}, {2}}, around), "padding.shape() is [2, 1], expected [2, 2]");
    CHECK_THROWS_WITH(rowan::sequence_context_grad(Cpu{}, Tensor<float>{{1, 2}}, x, around), "out_grad.shape() is [1, 2], expected [1, 6]");
    CHECK_THROWS_WITH(sequence_context_op::infer(tensor_spec<float>({UNK, 1, 1}, 1), around), "sequence_context: x rank is 3, expected 1 or 2");
    CHECK_THROWS_WITH(padded_sequence_context_op::infer(tensor_spec<float>({UNK, 2}, 1), tensor_spec<float>({3, 2}), around), "sequence_context: padding.shape(0) is 3, expected 2");
}

TEST_CASE("sequence_context and its gradients have the same bits on any number of threads", "[op]") {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < 3000; ++i) lengths.push_back(i * 7 % 61);
    auto const lod = Lod::from_lengths({lengths});
    LoDTensor<double> const x(test::values({static_cast<std::size_t>(lod.rows()), 3}, 1), lod);
    auto const out = sequence_context(Cpu{1}, x, around);
    REQUIRE(out.value().size() > rowan::detail::serial_below);
    test::check_any_threads([&](Cpu exec) { return sequence_context(exec, x, around).value(); });
    test::check_any_threads([&](Cpu exec) { return rowan::sequence_context_grad(exec, out.value(), x, around).value(); });
    test::check_any_threads([&](Cpu exec) { return rowan::sequence_padding_grad(exec, out.value(), x, around); });
}

}  // namespace test_sequence_context
