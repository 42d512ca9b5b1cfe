// tests/op/sequence_expand.cpp
#include <rowan/op/sequence/sequence_expand.hpp>

#include "check_gradients.hpp"

namespace test_sequence_expand {

using rowan::Lod, rowan::LoDTensor, rowan::sequence_expand_op, rowan::tensor_spec, rowan::UNK;

static_assert(sequence_expand_op::infer(tensor_spec<float>({3, 4}), tensor_spec<double>({UNK}, 1)) ==
              tensor_spec<float>({UNK, 4}, 1));

TEST_CASE("the gradient of sequence_expand equals central differences", "[op]") {
    LoDTensor<float> const y(rowan::Tensor<float>::zeros({6}), Lod{{0, 2, 2, 6}});
    test::check_gradients<sequence_expand_op>(std::tuple(LoDTensor<double>(test::values({3, 2}, 1)), y));
    test::check_gradients<sequence_expand_op>(std::tuple(LoDTensor<double>(test::values({4, 2}, 1), Lod{{0, 2, 3, 4}}), y));
}

}  // namespace test_sequence_expand
