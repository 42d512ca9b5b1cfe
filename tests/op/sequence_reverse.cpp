// tests/op/sequence_reverse.cpp
#include <rowan/op/sequence/sequence_reverse.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/op/gradients.hpp>

#include <cstdint>

namespace test_sequence_reverse {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::sequence_reverse_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(sequence_reverse_op::infer(tensor_spec<float>({UNK, 4}, 2)) == tensor_spec<float>({UNK, 4}, 2));

TEST_CASE("the gradient of sequence_reverse has the levels of x", "[op]") {
    LoDTensor<double> const x(test::values({6, 2}, 1), Lod{{0, 2, 3}, {0, 3, 3, 6}});
    auto const out = sequence_reverse_op::run(Cpu{}, x);
    CHECK(rowan::gradient_operator<rowan::sequence_reverse_op>::run(Cpu{}, x, LoDTensor<double>(out.value().share())) == x);
    LoDTensor<std::int64_t> const ids({1, 2, 3, 4}, Lod{{0, 1, 1, 4}});
    CHECK((sequence_reverse_op::run(Cpu{}, ids).value() == Tensor<std::int64_t>{1, 4, 3, 2}));
}

}  // namespace test_sequence_reverse
