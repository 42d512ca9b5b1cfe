// tests/op/drop_levels.cpp
#include <rowan/op/sequence/drop_levels.hpp>

#include "check_gradients.hpp"

namespace test_drop_levels {

using rowan::drop_levels_op, rowan::Lod, rowan::LoDTensor, rowan::tensor_spec, rowan::UNK;

static_assert(drop_levels_op::infer(tensor_spec<float>({UNK, 4}, 2)) == tensor_spec<float>({UNK, 4}));
static_assert(drop_levels_op::infer(tensor_spec<float>({UNK, 4}, 2), {.levels = 1}) == tensor_spec<float>({UNK, 4}, 1));

TEST_CASE("the gradient of drop_levels equals central differences and has the levels of x", "[op]") {
    LoDTensor<double> const x(test::values({4, 2}, 1), Lod{{0, 2, 3}, {0, 1, 3, 4}});
    test::check_gradients<drop_levels_op>(std::tuple(x));
    CHECK(rowan::drop_levels_grad_op::run(rowan::Cpu{}, x, drop_levels(x)) == x);
}

}  // namespace test_drop_levels
