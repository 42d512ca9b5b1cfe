// tests/op/sequence_pool.cpp
#include <rowan/op/sequence/sequence_pool.hpp>

#include "check_gradients.hpp"

namespace test_sequence_pool {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::sequence_pool_op;
using rowan::tensor_spec, rowan::UNK;

TEST_CASE("the gradient of every pooling equals central differences", "[op]") {
    LoDTensor<double> const x(test::values({6, 2}, 1), Lod{{0, 2, 3}, {0, 3, 3, 6}});
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max, Pooling::min, Pooling::first, Pooling::last}) {
        CAPTURE(static_cast<int>(pool));
        test::check_gradients<sequence_pool_op>(std::tuple(x), {pool});
    }
    CHECK((sequence_pool_op::run(Cpu{}, x, {Pooling::last, -1}).value()(1, 0) == -1));
}

static_assert(sequence_pool_op::infer(tensor_spec<float>({UNK, 4}, 2)) == tensor_spec<float>({UNK, 4}, 1));

}  // namespace test_sequence_pool
