// tests/sparse/bag_rows.cpp: the gradient of weighted bags without its rows, against the same with them.
#include <rowan/sparse/bag_rows.hpp>
#include <rowan/sparse/lane_rule.hpp>

#include "inputs.hpp"
#include "reference.hpp"
#include "refused.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace test_bag_rows {

using inputs::Rows;
using rowan::BagRows, rowan::Cpu, rowan::RowPlan, rowan::Tensor, rowan::update_rows;

namespace {

struct subtract {
    ROWAN_FORMULA void operator()(V const& g, V& p) const { p = p - g; }
};

auto const subtract_row = [](auto g, auto p) {
    for (std::size_t k = 0; k < g.size(); ++k) p[k] -= g[k];
};

/// Lookups in bags of 0 to `longest`; both updates of each number of threads have the bits of one with all rows.
template <class T>
void check(std::size_t bags, std::int64_t longest, std::int64_t height, std::size_t width) {
    CAPTURE(bags, longest, height, width);
    inputs::Random random(bags);
    Rows offsets{0}, rows, bag_of;
    for (std::size_t b = 0; b < bags; ++b) {
        for (std::int64_t n = random.below(longest + 1); n > 0; --n) {
            rows.push_back(random.below(height));
            bag_of.push_back(static_cast<std::int64_t>(b));
        }
        offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
    auto const value = inputs::wild<T>({bags, width}, 5), weight = inputs::wild<T>({rows.size()}, 6);
    auto expanded = Tensor<T>::from_shape({rows.size(), width});
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t c = 0; c < width; ++c)
            expanded(i, c) = weight(i) * value(static_cast<std::size_t>(bag_of[i]), c);
    RowPlan<> const plan(rows, height);
    auto const table = inputs::wild<T>({static_cast<std::size_t>(height), width}, 7);
    auto expected = table;
    update_rows(Cpu{1}, plan, expanded, subtract_row, expected);
    for (int const threads : {1, 2, 8}) {
        auto lanes = table, spans = table;
        BagRows<T> const grad(value, offsets, weight);
        update_rows(Cpu{threads}, plan, grad, rowan::LaneRule{subtract{}}, lanes);
        update_rows(Cpu{threads}, plan, grad, subtract_row, spans);
        CHECK(reference::same(lanes, expected));
        CHECK(reference::same(spans, expected));
    }
}

}  // namespace

TEST_CASE("an update by bags has the bits of one by all rows, for any number of threads", "[bag_rows]") {
    for (auto const width : std::vector<std::size_t>{1, 4, 7, 23, 100}) check<float>(40, 6, 9, width);
    check<double>(40, 6, 9, 21);
    check<float>(300, 40, 3, 100);  // heavy rows
    check<float>(3000, 5, 500, 100);
    check<float>(0, 1, 3, 4);
}

TEST_CASE("products of narrow numbers are not rounded before they are added", "[bag_rows]") {
    auto const x = rowan::bfloat16(1.0F + 0x1p-7F);
    auto table = Tensor<rowan::bfloat16>::zeros({1, 1});
    float sum = 0;
    BagRows const grad(Tensor<rowan::bfloat16>{{x}, {x}}, Rows{0, 1, 2}, Tensor<rowan::bfloat16>{x, x});
    update_rows(RowPlan<>({0, 0}, 1), grad, [&](auto g, auto) { sum = g[0]; }, table);
    CHECK(sum == 2.0F + 0x1p-5F + 0x1p-13F);
}

TEST_CASE("what does not fit is refused", "[bag_rows][bad_input]") {
    auto table = Tensor<float>::zeros({4, 2});
    auto const value = Tensor<float>::zeros({2, 2}), weight = Tensor<float>::zeros({3});
    auto const made = [&](Rows const& bags) {
        return test::refusal<rowan::Error>([&](Cpu) { BagRows(value, bags, weight); });
    };
    CHECK(made({0, 1}) == "bags[1] = 1 is not the end, 3");
    CHECK(made({0, 3}) == "value.shape(0) is 2, expected 1, the number of bags");
    CHECK(made({0, 2, 1}) == "bags[2] = 1 is less than 2");
    BagRows const grad(value, Rows{0, 1, 3}, weight);
    auto const update = [&](RowPlan<> const& plan, Tensor<float>& to) {
        return test::refusal<rowan::Error>([&](Cpu exec) { update_rows(exec, plan, grad, subtract_row, to); });
    };
    CHECK(update(RowPlan<>({1, 2}, 4), table) == "grad.size() is 3, expected 2, the rows of the plan");
    CHECK(update(RowPlan<>({1, 2, 0}, Rows{0, 2, 3}, 4), table) ==
          "grad.size() is 3, expected 2, the rows of the plan");
    auto shared = Tensor<float>::zeros({3, 1});
    BagRows const overlapping(Tensor<float>::zeros({2, 1}), Rows{0, 1, 3}, shared.reshaped({3}));
    auto const refused = test::refusal<rowan::Error>([&](Cpu exec) { update_rows(exec, RowPlan<>({1, 2, 0}, 3), overlapping, subtract_row, shared); });
    CHECK(refused.find("the weights") != std::string::npos);
    auto narrow = Tensor<float>::zeros({4, 1});
    CHECK(update(RowPlan<>({1, 2, 0}, 4), narrow).starts_with("param.shape()"));
}

}  // namespace test_bag_rows
