// tests/op/sequence_softmax.cpp
#include <rowan/op/sequence/sequence_softmax.hpp>

#include "catch.hpp"

namespace test_sequence_softmax {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_softmax_op, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(sequence_softmax_op::infer(tensor_spec<float>({UNK, 4}, 2)) == tensor_spec<float>({UNK, 4}, 2));

TEST_CASE("sequence_softmax_op is the softmax of each sequence, and keeps levels", "[op][golden]") {
    Lod const lod{{0, 1, 3}, {0, 1, 1, 3}};  // PyTorch: softmax(tensor([1., 2.]), 0)
    auto const out = sequence_softmax_op::run(Cpu{}, LoDTensor<double>({5, 1, 2}, lod));
    CHECK(out.lod() == lod);
    CHECK(out.value()(0) == 1);
    CHECK(out.value()(1) == Approx(0.2689414213699951).epsilon(1e-15));
    CHECK(out.value()(2) == Approx(0.7310585786300049).epsilon(1e-15));
    CHECK(sequence_softmax_op::run(Cpu{}, LoDTensor<float>(Tensor<float>::zeros({0, 2}), Lod{{0, 0}})).shape() == Tensor<float>::shape_type{0, 2});
}

}  // namespace test_sequence_softmax
