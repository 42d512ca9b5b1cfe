// tests/op/pick_sequences.cpp
#include <rowan/op/sequence/pick_sequences.hpp>

#include "check_gradients.hpp"

#include <cstdint>

namespace test_pick_sequences {

using rowan::Lod, rowan::LoDTensor, rowan::pick_sequences_op, rowan::tensor_spec, rowan::UNK;

static_assert(pick_sequences_op::infer(tensor_spec<float>({3, 4}), tensor_spec<std::int64_t>({5})) == tensor_spec<float>({5, 4}));
static_assert(pick_sequences_op::infer(tensor_spec<float>({3, 4}, 2), tensor_spec<std::int32_t>({5})) == tensor_spec<float>({UNK, 4}, 2));

TEST_CASE("the gradient of pick_sequences equals central differences", "[op]") {
    LoDTensor<std::int64_t> const ids(rowan::Tensor<std::int64_t>{2, 0, 2, 2});
    test::check_gradients<pick_sequences_op>(std::tuple(LoDTensor<double>(test::values({3, 2}, 1)), ids));
    test::check_gradients<pick_sequences_op>(std::tuple(LoDTensor<double>(test::values({4, 2}, 1), Lod{{0, 2, 2, 3}, {0, 1, 2, 4}}), ids));
}

}  // namespace test_pick_sequences
