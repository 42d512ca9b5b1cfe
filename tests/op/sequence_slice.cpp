// tests/op/sequence_slice.cpp
#include <rowan/op/sequence/sequence_slice.hpp>

#include "check_gradients.hpp"

#include <cstdint>

namespace test_sequence_slice {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_slice_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

constexpr auto ids = tensor_spec<std::int64_t>({UNK});
static_assert(sequence_slice_op::infer(tensor_spec<float>({7, 4}, 2), ids, ids) == tensor_spec<float>({UNK, 4}, 2));

TEST_CASE("sequence_slice keeps the upper levels", "[op]") {
    LoDTensor<double> const x(test::values({6, 2}, 1), Lod{{0, 2, 3}, {0, 3, 3, 6}});
    LoDTensor<std::int32_t> const offset({1, 0, 3}), length({2, 0, 0});
    auto const out = sequence_slice_op::run(Cpu{}, x, offset, length);
    CHECK(out.lod() == Lod{{0, 2, 3}, {0, 2, 2, 2}});
    CHECK(rowan::gradient_operator<rowan::sequence_slice_op>::run(Cpu{}, x, offset, length, LoDTensor<double>(out.value().share())).lod() == x.lod());
    LoDTensor<std::int64_t> const none(Tensor<std::int64_t>::zeros({0}));
    CHECK(sequence_slice_op::run(Cpu{}, LoDTensor<double>(Tensor<double>::zeros({0, 2}), Lod{{0}}), none, none).size() == 0);
}

TEST_CASE("sequence_slice_op throws for inputs that do not match", "[op][bad]") {
    auto const x = tensor_spec<float>({UNK, 1}, 1);
    CHECK_THROWS_WITH(sequence_slice_op::infer(tensor_spec<float>({UNK, 1}), ids, ids), "sequence_slice: x.lod().levels() is 0, expected at least 1");
    CHECK_THROWS_WITH(sequence_slice_op::infer(x, tensor_spec<std::int64_t>({UNK, 1}), ids), "sequence_slice: offset rank is 2, expected 1");
    CHECK_THROWS_WITH(sequence_slice_op::infer(x, ids, tensor_spec<std::int32_t>({UNK})), "sequence_slice: length dtype is i32, expected i64");
    CHECK_THROWS_WITH(sequence_slice_op::infer(x, tensor_spec<std::int64_t>({3}), tensor_spec<std::int64_t>({2})), "sequence_slice: length.shape(0) is 2, expected 3");
}

}  // namespace test_sequence_slice
