// tests/op/lod_reset.cpp
#include <rowan/op/sequence/lod_reset.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/op/gradients.hpp>

#include <cstdint>

namespace test_lod_reset {

using rowan::Cpu, rowan::Lod, rowan::LodError, rowan::LoDTensor, rowan::lod_from_offsets_op, rowan::lod_reset_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

static_assert(lod_reset_op::infer(tensor_spec<float>({7, 4}), tensor_spec<std::int64_t>({UNK}, 2)) == tensor_spec<float>({7, 4}, 2));
static_assert(lod_from_offsets_op::infer(tensor_spec<float>({7, 4}, 2), tensor_spec<std::int32_t>({UNK})) == tensor_spec<float>({7, 4}, 1));

TEST_CASE("lod_reset_op takes the levels of another value, and its gradient has those of x", "[op]") {
    LoDTensor<double> const x(test::values({4, 2}, 1), Lod{{0, 1, 4}});
    LoDTensor<std::int64_t> const y({0, 0, 0, 0}, Lod{{0, 2, 3}, {0, 3, 3, 4}});
    auto const out = lod_reset_op::run(Cpu{}, x, y);
    CHECK(out.lod() == y.lod());
    CHECK(out.value() == x.value());
    CHECK(std::get<0>(rowan::gradients<lod_reset_op>(Cpu{}, std::tie(x, y), std::tie(out), std::tie(out))) == x);
    CHECK_THROWS_AS(lod_reset_op::run(Cpu{}, LoDTensor<double>(test::values({3}, 1)), y), LodError);
    CHECK_THROWS_WITH(lod_reset_op::infer(tensor_spec<float>({UNK}, 1), tensor_spec<float>({UNK})), "lod_reset: y.lod().levels() is 0, expected at least 1");
}

TEST_CASE("lod_from_offsets_op makes sequences of rows", "[op]") {
    LoDTensor<double> const x(test::values({4, 2}, 1), Lod{{0, 2, 3}, {0, 1, 1, 4}});
    LoDTensor<std::int32_t> const offset({0, 0, 3, 4});
    CHECK(lod_from_offsets_op::run(Cpu{}, x, offset).lod() == Lod{{0, 0, 3, 4}});
    CHECK_THROWS_AS(lod_from_offsets_op::run(Cpu{}, x, LoDTensor<std::int32_t>({0, 3})), LodError);
    CHECK_THROWS_AS(lod_from_offsets_op::run(Cpu{}, x, LoDTensor<std::int32_t>({1, 4})), LodError);
    CHECK_THROWS_AS(lod_from_offsets_op::run(Cpu{}, x, LoDTensor<std::int32_t>(Tensor<std::int32_t>::zeros({0}))), LodError);
}

}  // namespace test_lod_reset
