// tests/op/sequence_slice.cpp
#include <rowan/op/sequence/sequence_slice.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/op/gradients.hpp>

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

}  // namespace test_sequence_slice
