// tests/sparse/merge.cpp: duplicates summed into one row, in blocks of 64.
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/add.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace test_merge {

using inputs::Rows, inputs::Shape;
using rowan::bfloat16, rowan::Cpu, rowan::merge, rowan::merge_into, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor;

TEST_CASE("rows become ascending and unique, and duplicates are summed", "[merge][golden]") {
    CHECK(merge(SelectedRows<float>(20, {0, 5, 5, 4, 19}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}})) ==
          SelectedRows<float>(20, {0, 4, 5, 19}, {{1, 2}, {7, 8}, {8, 10}, {9, 10}}));
    CHECK(merge(SelectedRows<float>(10, {7, 0, 7, 3}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}})) ==
          SelectedRows<float>(10, {0, 3, 7}, {{3, 4}, {7, 8}, {6, 8}}));
    auto const ones = Tensor<float>::full({5, 1}, 1);
    CHECK(merge(add(SelectedRows<float>(6, {5, 2, 5, 3, 5}, ones), SelectedRows<float>(6, {2, 5, 3, 5, 3}, ones))) ==
          SelectedRows<float>(6, {2, 3, 5}, {{2}, {3}, {5}}));
}

TEST_CASE("rows without duplicates are sorted too", "[merge][golden]") {
    CHECK(merge(SelectedRows<float>(10, {7, 0, 3}, {{1, 2}, {3, 4}, {5, 6}})) == SelectedRows<float>(10, {0, 3, 7}, {{3, 4}, {5, 6}, {1, 2}}));
}

TEST_CASE("values keep their rank", "[merge][golden]") {
    SelectedRows<float> const g(10, {7, 0, 7}, {{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}, {{8, 9}, {10, 11}}});
    CHECK(merge(g) == SelectedRows<float>(10, {0, 7}, {{{4, 5}, {6, 7}}, {{8, 10}, {12, 14}}}));
}

TEMPLATE_TEST_CASE("every element type has the bits of blocks of 64, with and without a plan", "[merge]", float, double, std::int32_t,
                   std::int64_t, std::uint8_t, bool, bfloat16, rowan::float16) {
    inputs::for_sizes<TestType>([](auto const& g) {
        auto const want = reference::merge(g);
        CHECK(reference::same(merge(g), want));
        CHECK(reference::same(merge(Cpu{.threads = 3}, g), want));
        CHECK(reference::same(merge(RowPlan(g), g.value()), want));
        CHECK(reference::same(merge(Cpu{.threads = 2}, RowPlan(g), g.value()), want));
        CHECK(want.merged());
        CHECK(reference::same(merge(want), want));
    });
}

TEST_CASE("a million duplicates of one row have the bits of blocks of 64", "[merge]") {
    for (std::size_t width : std::vector<std::size_t>{1, 2}) {
        SelectedRows<float> const g(3, Rows(1'000'000, 1), inputs::wild<float>({1'000'000, width}, 1));
        auto const want = reference::merge(g);
        for (int threads : {1, 2, 3}) CHECK(reference::same(merge(Cpu{threads}, g), want));
    }
}

TEST_CASE("the first row, one in the middle and the last may be heavy at once", "[merge]") {
    Rows rows;
    for (std::int64_t row : {0, 1, 500, 501, 999}) rows.insert(rows.end(), row % 10 == 1 ? 3 : 20'000, row);
    std::ranges::shuffle(rows, std::mt19937(1));
    SelectedRows<float> const g(1000, rows, inputs::wild<float>({rows.size(), 5}, 1));
    auto const want = reference::merge(g);
    for (int threads : {1, 2, 3, 8}) CHECK(reference::same(merge(Cpu{threads}, g), want));
}

TEST_CASE("the order of 64 blocks is not the serial one", "[merge]") {
    // 2^24 + 1 is not a float: the serial sum loses the ones; in a separate block they are summed first.
    Tensor<float> value = Tensor<float>::full({128, 1}, 1);
    value(0, 0) = 0x1p24F;
    CHECK(merge(SelectedRows<float>(1, Rows(128, 0), value)).value()(0, 0) == 0x1p24F + 64);
}

TEST_CASE("sums are formed in the type of sums and narrowed once", "[merge]") {
    Tensor<bfloat16> const value{{256}, {0.75F}, {0.75F}, {0.75F}};  // 257 rounds to 256, 258.25 to 258
    CHECK(float(merge(SelectedRows<bfloat16>(1, {0, 0, 0, 0}, value)).value()(0, 0)) == 258);
    CHECK(merge(SelectedRows<std::uint8_t>(1, {0, 0}, {{200}, {100}})).value()(0, 0) == 44);
    CHECK(merge(SelectedRows<bool>(1, {0, 0}, {{true, false}, {true, false}})).value() == Tensor<bool>{{true, false}});
}

TEST_CASE("a single contribution keeps its bits, also a negative zero", "[merge]") {
    auto const payload = std::bit_cast<float>(0x7F800123U);  // a signaling NaN
    auto const g = merge(SelectedRows<float>(9, {4, 1, 4, 7}, {{-0.0F}, {-0.0F}, {-0.0F}, {payload}}));
    CHECK(std::bit_cast<std::uint32_t>(g.value()(0, 0)) == 0x80000000U);
    CHECK(std::bit_cast<std::uint32_t>(g.value()(1, 0)) == 0x80000000U);
    CHECK(std::bit_cast<std::uint32_t>(g.value()(2, 0)) == 0x7F800123U);
}

TEST_CASE("a gradient without rows keeps height and row shape", "[merge]") {
    auto const g = merge(SelectedRows<float>(8, {}, Tensor<float>::from_shape({0, 3, 2})));
    CHECK((g.height() == 8 && g.rows().empty() && g.shape() == Shape{8, 3, 2}));
    CHECK(merge(SelectedRows<float>()).height() == 0);
    CHECK(merge(SelectedRows<float>(8, {3, 3}, Tensor<float>::from_shape({2, 0}))).value().shape() == Shape{1, 0});
}

TEST_CASE("merge_into uses existing memory, also that of the value", "[merge]") {
    SelectedRows<float> const g(9, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}});
    auto const want = merge(g);
    SelectedRows<float> out = g;
    float const* const memory = out.value().data();
    merge_into(g, out);
    CHECK((out == want && out.merged() && out.value().data() == memory));
    merge_into(Cpu{.threads = 2}, RowPlan(g), g.value(), out);
    CHECK(out == want);
    SelectedRows<float> same = g;
    merge_into(same, same);
    CHECK(same == want);
    same = g;
    merge_into(RowPlan(g), same.value(), same);
    CHECK(same == want);
}

TEST_CASE("merge does not change the dense tensor of a gradient", "[merge][property]") {
    CHECK(rc::check([] {
        auto const a = inputs::arbitrary_gradient<float>(6, 2);
        auto const b = inputs::arbitrary_gradient<float>(6, 2);
        auto const merged = merge(a);
        RC_ASSERT(std::ranges::adjacent_find(merged.rows(), std::greater_equal<>{}) == merged.rows().end());
        RC_ASSERT(reference::same(rowan::to_dense(merged), rowan::to_dense(a)));
        RC_ASSERT(merge(rowan::add(a, b)) == merge(rowan::add(merged, merge(b))));
        RC_ASSERT(merge(rowan::add(a, b)) == merge(rowan::add(b, a)));
    }));
}

TEST_CASE("the order of unique rows does not matter", "[merge]") {
    Rows rows(500);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i * 7 % 500);
    SelectedRows<float> const g(500, rows, inputs::wild<float>({500, 3}, 1));
    auto const merged = merge(g);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(std::ranges::equal(merged.value().row(static_cast<std::size_t>(rows[i])), g.value().row(i)));
    }
}

TEST_CASE("a value of another number of rows than the plan's throws", "[merge][bad_input]") {
    SelectedRows<float> out(4, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}});
    RowPlan<> const plan(out);
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { merge(exec, plan, test::ramp<float>({2, 2})); }, plan) ==
          "value.shape(0) is 2, expected 3, the number of rows");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { merge_into(exec, plan, Tensor<float>::full({}, 1), out); }, plan, out) ==
          "value rank is 0, expected at least 1");
}

}  // namespace test_merge
