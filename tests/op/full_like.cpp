// tests/op/full_like.cpp
#include <rowan/op/elementwise/full_like.hpp>

#include "catch.hpp"

#include <cstdint>

namespace test_full_like {

using rowan::Cpu, rowan::full_like_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(full_like_op::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<float>({UNK, 3}, 1));

TEST_CASE("full_like uses the shape of another tensor, and throws for values that integers cannot represent", "[op][golden][bad]") {
    CHECK((full_like_op::run(Cpu{}, Tensor<float>{{1, 2}}, {0.5}) == Tensor<float>{{0.5, 0.5}}));
    CHECK((full_like_op::run(Cpu{}, Tensor<std::int64_t>{1, 2}, {-3}) == Tensor<std::int64_t>{-3, -3}));
    for (double const value : {1.5, 1e300}) {
        CHECK_THROWS_AS(full_like_op::run(Cpu{}, Tensor<std::int64_t>{1, 2}, {value}), rowan::ValueError);
    }
}

}  // namespace test_full_like
