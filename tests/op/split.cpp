// tests/op/split.cpp: a tensor divided along an axis.
#include <rowan/op/shape/split.hpp>

#include "any_threads.hpp"
#include "refused.hpp"

#include <rowan/op/gradients.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace test_split {

using rowan::bfloat16, rowan::Cpu, rowan::SelectedRows, rowan::ShapeError, rowan::split, rowan::split_op, rowan::Tensor,
    rowan::tensor_spec, rowan::UNK, rowan::ValueError, rowan::VarSpec;

namespace {

static_assert(split_op::infer(tensor_spec<float>({UNK, 5}, 1), {{2, 3}, 1})[1] == tensor_spec<float>({UNK, 3}, 1));
static_assert(split_op::infer(tensor_spec<float>({UNK, 5}, 1), {{2, 3}, 0})[0] == tensor_spec<float>({2, 5}));
static_assert(split_op::infer(tensor_spec<float>({UNK, 5}, 1), {{2, 3}, -1}).size() == 2);
constexpr std::array<VarSpec, 2> two{tensor_spec<float>({UNK, 2}), tensor_spec<float>({4, 3})};
static_assert(split_op::infer_backward(two, {{2, 3}, 1}) == tensor_spec<float>({4, 5}));

using List = std::vector<Tensor<float>>;

}  // namespace

TEST_CASE("split cuts a tensor into sections", "[op][golden]") {
    Tensor<float> const x{{1, 2, 3}, {4, 5, 6}};
    CHECK((split(x, {1, 2}, 1) == List{{{1}, {4}}, {{2, 3}, {5, 6}}}));
    CHECK((split(x, {1, 1}) == List{{{1, 2, 3}}, {{4, 5, 6}}}));
    CHECK((split(x, std::vector<std::int64_t>{3}, -1) == List{x}));
    CHECK((split(Tensor<std::int32_t>{1, 2, 3}, {2, 1})[1] == Tensor<std::int32_t>{3}));
    CHECK(split(Tensor<bfloat16>{bfloat16(1.F), bfloat16(2.F)}, {1, 1})[1](0) == 2);
    SelectedRows<float> const g(3, {2}, Tensor<float>{1});
    CHECK(split(g, {1, 2})[1].rows()[0] == 1);
}

TEST_CASE("split inverts concat along every axis, and its gradient is concat", "[op]") {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        for (auto const& sections : std::vector<std::vector<std::int64_t>>{{4}, {1, 3}, {0, 4, 0}, {2, 0, 1, 1}}) {
            for (std::size_t const other : std::vector<std::size_t>{0, 1, 3}) {
                Tensor<double>::shape_type shape{other, other, other};
                shape[axis] = 4;
                auto const x = inputs::wild<double>(shape, 7);
                auto const a = static_cast<std::int64_t>(axis);
                auto const parts = split(x, sections, a);
                REQUIRE(parts.size() == sections.size());
                for (std::size_t k = 0; k < parts.size(); ++k) CHECK(parts[k].shape(axis) == static_cast<std::size_t>(sections[k]));
                CHECK(reference::same(rowan::concat(parts, a), x));
                auto const [grad] = rowan::gradients<split_op>(Cpu{}, std::tie(x), std::tie(parts), std::tie(parts), {sections, a});
                CHECK(reference::same(grad, x));
            }
        }
    }
    auto const none = split(Tensor<double>::zeros({0, 3}), {0, 0});
    CHECK((none.size() == 2 && none[1].shape() == Tensor<double>::shape_type{0, 3}));
    CHECK(split(Tensor<double>::zeros({0, 3}), std::vector<std::int64_t>{}).empty());
}

TEST_CASE("split of a Tensor has the same bits on any number of threads", "[op]") {
    auto const x = inputs::wild<float>({300, 134, 7}, 2);
    REQUIRE(x.size() > rowan::detail::serial_below);
    test::check_any_threads([&](Cpu exec) { return split(exec, x, {100, 0, 33, 1}, 1); });
    CHECK(reference::same(rowan::concat(split(Cpu{8}, x, {100, 0, 33, 1}, 1), 1), x));
}

TEST_CASE("split of a Tensor throws for sections that do not match", "[op][bad]") {
    Tensor<float> const x{{1, 2, 3}};
    CHECK(test::refusal<ShapeError>([&](Cpu e) { split(e, x, {1, 3}, 1); }, x) == "sections[1] is 3, expected at most 2, what is left of the axis");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { split(e, x, {2, -1}, 1); }, x) == "sections[1] is -1, expected 0 or more");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { split(e, x, Tensor<std::int64_t>{{1, 2}}, 1); }, x) == "sections rank is 2, expected 1");
    CHECK(test::refusal<rowan::IndexError>([&](Cpu e) { split(e, x, {1}, 2); }, x) == "axis = 2 is not in [-2, 2)");
    CHECK(test::refusal<ShapeError>([] { split_op::infer(tensor_spec<float>({UNK, 5}), {{2, 4}, 1}); }) ==
          "sections[1] is 4, expected at most 3, what is left of the axis");
    CHECK(test::refusal<rowan::IndexError>([] { split_op::infer(tensor_spec<float>({}), {{2, 4}, 0}); }) == "axis = 0 is not in [0, 0)");
    constexpr std::int64_t half = std::int64_t{1} << 62;
    CHECK(test::refusal<ShapeError>([] { split_op::infer(tensor_spec<float>({UNK, UNK}), {{half, half}, 1}); }) ==
          "sections[1] is 4611686018427387904, expected at most 4611686018427387903, what is left of the axis");
}

}  // namespace test_split
