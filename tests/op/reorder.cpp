// tests/op/reorder.cpp
#include <rowan/op/sequence/reorder.hpp>

#include "check_gradients.hpp"
#include "refused.hpp"

#include <rowan/sequence/reorder.hpp>

#include <cstdint>

namespace test_op_reorder {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::reorder_op, rowan::StepMap, rowan::Tensor, rowan::tensor_spec, rowan::UNK;

namespace {

constexpr auto words = tensor_spec<std::int64_t>({UNK}, 2);
static_assert(reorder_op::infer(tensor_spec<float>({4, 2}), words) == tensor_spec<float>({4, 2}));
static_assert(reorder_op::infer(tensor_spec<float>({UNK, 2}, 1), words, {.level = 0}) == tensor_spec<float>({UNK, 2}, 1));

LoDTensor<std::uint8_t> with(Lod lod) {
    auto const rows = static_cast<std::size_t>(lod.rows());
    return {Tensor<std::uint8_t>::zeros({rows}), std::move(lod)};
}

}  // namespace

TEST_CASE("reorder_op sorts by the lengths of another batch, and restores the order", "[op][golden]") {
    auto const y = with(Lod::from_lengths({{2, 4, 1, 3}}));
    LoDTensor<float> const rows({0, 1, 2, 3}), texts({0, 1, 2, 3, 4, 5}, Lod::from_lengths({{1, 2, 0, 3}}));
    CHECK((reorder_op::run(Cpu{}, rows, y) == LoDTensor<float>({1, 3, 0, 2})));
    auto const sorted = reorder_op::run(Cpu{}, texts, y);
    CHECK((sorted == LoDTensor<float>({1, 2, 3, 4, 5, 0}, Lod{{0, 2, 5, 6, 6}})));
    CHECK(reorder_op::run(Cpu{}, sorted, y, {.restore = true}) == texts);
    auto const equal = with(Lod::from_lengths({{2, 2}, {1, 3, 0, 3}}));  // equal lengths stay in order
    CHECK((reorder_op::run(Cpu{}, rows, equal) == LoDTensor<float>({1, 3, 0, 2})));
    LoDTensor<float> const two({7, 8}), none(Tensor<float>::zeros({0, 3}));
    CHECK(reorder_op::run(Cpu{}, two, equal, {.level = 0}) == two);
    CHECK(reorder_op::run(Cpu{}, none, with(Lod{{0}})) == none);
}

TEST_CASE("reorder_op orders as a StepMap does", "[op]") {
    for (std::size_t n = 0; n < 70; n += 23) {
        inputs::Random random(n);
        std::vector<std::int64_t> lengths(n);
        for (auto& length : lengths) length = random.below(5);
        auto const y = with(Lod::from_lengths({lengths}));
        StepMap<> const map(y.lod(), 0);
        LoDTensor<double> const x(test::values({n, 2}, n), Lod());
        CHECK(reorder_op::run(Cpu{}, x, y) == reorder(x, map));
        CHECK(reorder_op::run(Cpu{}, x, y, {.restore = true}) == reorder_grad(x, map));
    }
}

TEST_CASE("reorder_op throws for inputs that do not match", "[op][bad]") {
    auto const x = tensor_spec<float>({UNK, 1}, 1);
    CHECK_THROWS_WITH(reorder_op::infer(x, tensor_spec<float>({UNK})), "reorder: y.lod().levels() is 0, expected at least 1");
    CHECK_THROWS_WITH(reorder_op::infer(x, words, {.level = 2}), "reorder: level = 2 is not in [0, 2)");
    CHECK_THROWS_WITH(reorder_op::infer(tensor_spec<float>({}), words), "reorder: x rank is 0, expected at least 1");
    LoDTensor<float> const rows({1, 2, 3}), longer({1, 2, 3, 4});
    auto const y = with(Lod{{0, 1, 2, 4}});
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { reorder_op::run(e, longer, y); }, longer) == "x.size() is 4, expected 3, the number of sequences of y");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { reorder_op::run(e, rows, rows); }, rows) == "y.lod().levels() is 0, expected at least 1");
    CHECK(test::refusal<rowan::IndexError>([&](Cpu e) { reorder_op::run(e, rows, y, {.level = 1}); }, rows) == "level = 1 is not in [0, 1)");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { rowan::reorder_op::backward(e, rows, y, longer); }, rows) == "out_grad.shape() is [4], expected [3]");
}

}  // namespace test_op_reorder
