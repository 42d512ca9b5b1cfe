// tests/op/shrink.cpp
#include <rowan/op/sequence/shrink.hpp>

#include "refused.hpp"

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

TEST_CASE("shrink_op throws for inputs that do not match", "[op][bad]") {
    auto const x = tensor_spec<float>({UNK, 1}, 1);
    CHECK_THROWS_WITH(shrink_op::infer(x, tensor_spec<float>({UNK}), step), "shrink: y.lod().levels() is 0, expected at least 1");
    CHECK_THROWS_WITH(shrink_op::infer(x, words, step, {.level = 2}), "shrink: level = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(shrink_op::infer(x, words, tensor_spec<std::int64_t>({2})), "shrink: index.shape(0) is 2, expected 1");
    CHECK_THROWS_WITH(shrink_op::infer(x, words, tensor_spec<std::int64_t>({1, 1})), "shrink: index rank is 2, expected 1");
    CHECK_THROWS_WITH(shrink_op::infer(x, words, tensor_spec<std::int32_t>({1})), "shrink: index dtype is i32, expected i64");
    LoDTensor<float> const y({0, 1, 2}, Lod{{0, 1, 3}}), one({1}), three({1, 2, 3});
    auto const text = [&](LoDTensor<float> const& rows, LoDTensor<float> const& like, LoDTensor<std::int64_t> const& t, rowan::ShrinkOptions const& options = {}) {
        return test::refusal<rowan::Error>([&](Cpu e) { shrink_op::run(e, rows, like, t, options); }, rows);
    };
    CHECK(text(one, y, at(0)) == "x.size() is 1, expected in [2, 2], from the number of sequences of y with a step 0 to that of all");
    CHECK(text(three, y, at(1)) == "x.size() is 3, expected in [1, 2], from the number of sequences of y with a step 1 to that of all");
    CHECK(text(one, y, at(-1)) == "index = -1 is not in [0, 9223372036854775807)");
    CHECK(text(one, y, LoDTensor<std::int64_t>({0, 1})) == "index.size() is 2, expected 1");
    CHECK(text(one, one, at(0)) == "y.lod().levels() is 0, expected at least 1");
    CHECK(text(one, y, at(0), {.level = 1}) == "level = 1 is not in [0, 1)");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { rowan::shrink_op::backward(e, one, three); }, one) == "out_grad.shape(0) is 3, expected at most 1");
}

}  // namespace test_op_shrink
