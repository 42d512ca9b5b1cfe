// tests/op/shrink.cpp
#include <rowan/op/sequence/shrink.hpp>

#include "catch.hpp"

#include <cstdint>
#include <limits>

namespace test_op_shrink {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::shrink_op, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

namespace {

constexpr auto words = tensor_spec<std::int64_t>({UNK}, 2), step = tensor_spec<std::int64_t>({1});
static_assert(shrink_op::infer(tensor_spec<float>({4, 2}, 1), words, step) == tensor_spec<float>({UNK, 2}, 1));

LoDTensor<std::int64_t> at(std::int64_t t) { return LoDTensor<std::int64_t>(Tensor<std::int64_t>{t}); }

}  // namespace

TEST_CASE("shrink_op keeps the sequences that have a step", "[op][golden]") {
    LoDTensor<std::int32_t> const y(Tensor<std::int32_t>::zeros({6}), Lod::from_lengths({{1, 2, 3}}));
    LoDTensor<float> const x({0, 1, 2, 3, 4, 5}, Lod{{0, 2, 5, 6}}), rows({0, 1, 2});
    CHECK(shrink_op::run(Cpu{}, x, y, at(0)) == x);
    CHECK((shrink_op::run(Cpu{}, x, y, at(1)) == LoDTensor<float>({0, 1, 2, 3, 4}, Lod{{0, 2, 5}})));
    CHECK((shrink_op::run(Cpu{}, x, y, at(2)) == LoDTensor<float>({0, 1}, Lod{{0, 2}})));
    CHECK((shrink_op::run(Cpu{}, x, y, at(3)) == LoDTensor<float>(Tensor<float>::zeros({0}), Lod{{0}})));
    CHECK((shrink_op::run(Cpu{}, rows, y, at(1)) == LoDTensor<float>({0, 1})));
    CHECK((shrink_op::run(Cpu{}, shrink_op::run(Cpu{}, rows, y, at(1)), y, at(2)) == LoDTensor<float>({0})));
    CHECK(shrink_op::run(Cpu{}, rows, y, at(std::numeric_limits<std::int64_t>::max())).size() == 0);
    LoDTensor<std::int32_t> const nested(Tensor<std::int32_t>::zeros({3}), Lod::from_lengths({{2, 0, 1}, {0, 3, 0}}));
    CHECK((shrink_op::run(Cpu{}, rows, nested, at(0), {.level = 0}) == LoDTensor<float>({0, 1})));
    CHECK((shrink_op::run(Cpu{}, rows, nested, at(0)) == LoDTensor<float>({0})));
    auto kept = shrink_op::run(Cpu{}, rows, y, at(2));
    kept.value()(0) = 9;
    CHECK(rows.value()(0) == 9);  // an alias
}

}  // namespace test_op_shrink
