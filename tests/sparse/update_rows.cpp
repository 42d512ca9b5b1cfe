// tests/sparse/update_rows.cpp: a custom rule, applied once per row.
#include <rowan/sparse/update_rows.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace test_update_rows {

using inputs::Rows, inputs::Shape;
using rowan::bfloat16, rowan::Cpu, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor, rowan::update_rows;

namespace {

// p += g, and counts the updates of each row.
auto const add_and_count = [](auto g, auto p, auto count) {
    for (std::size_t k = 0; k < g.size(); ++k) p[k] = static_cast<std::remove_reference_t<decltype(p[k])>>(p[k] + g[k]);
    ++count[0];
};

}  // namespace

TEST_CASE("the rule gets the summed gradient and the rows of param and of states of any row shape", "[update_rows]") {
    SelectedRows<float> const g(4, {3, 1, 3}, {{1, 2}, {3, 4}, {5, 6}});
    auto param = Tensor<float>::zeros({4, 2});
    auto count = Tensor<std::int32_t>::zeros({4});
    auto wide = Tensor<double>::zeros({4, 2, 3});
    auto const rule = [](std::span<float const> sum, std::span<float> p, std::span<std::int32_t> n, std::span<double> w) {
        std::ranges::copy(sum, p.begin());
        n[0] += 1;
        w[5] = static_cast<double>(w.size() * 10 + n.size());
    };
    update_rows(g, rule, param, count, wide);
    CHECK((param == Tensor<float>{{0, 0}, {3, 4}, {0, 0}, {6, 8}}));
    CHECK((count == Tensor<std::int32_t>{0, 1, 0, 1}));
    CHECK((wide(3, 1, 2) == 61 && wide(1, 1, 2) == 61 && wide(0, 1, 2) == 0 && wide(3, 1, 1) == 0));
    update_rows(Cpu{.threads = 2}, g, rule, param, count, wide);
    update_rows(RowPlan(g), g.value(), rule, param, count, wide);
    update_rows(Cpu{.threads = 2}, RowPlan(g), g.value(), rule, param, count, wide);
    CHECK((count == Tensor<std::int32_t>{0, 4, 0, 4}));
}

TEST_CASE("a dense gradient names every row", "[update_rows]") {
    auto param = Tensor<float>::zeros({3, 2});
    auto count = Tensor<std::int32_t>::zeros({3});
    Tensor<float> const g{{1, 2}, {0, 0}, {3, 4}};
    update_rows(g, add_and_count, param, count);
    update_rows(Cpu{.threads = 2}, g, add_and_count, param, count);
    CHECK((param == Tensor<float>{{2, 4}, {0, 0}, {6, 8}}));
    CHECK((count == Tensor<std::int32_t>{2, 2, 2}));
}

TEST_CASE("every named row is touched once, at all sizes, by sparse and dense gradients", "[update_rows]") {
    inputs::for_sizes<float>([](auto const& g) {
        auto const sums = reference::sums(g);
        auto param = Tensor<float>::zeros(g.shape());
        auto count = Tensor<std::int64_t>::zeros({g.shape()[0]});
        update_rows(Cpu{.threads = 3}, g, add_and_count, param, count);
        bool right = true;
        for (std::int64_t row = 0; row < g.height(); ++row) {
            auto const at = static_cast<std::size_t>(row);
            right = right && count(at) == static_cast<std::int64_t>(sums.count(row));
            right = right && (count(at) == 0 || std::ranges::equal(param.row(at), sums.at(row)));
        }
        CHECK(right);
        auto dense_count = Tensor<std::int64_t>::zeros({g.rows().size()});
        auto dense_param = Tensor<float>::zeros(g.value().shape());
        update_rows(Cpu{.threads = 3}, g.value(), add_and_count, dense_param, dense_count);
        CHECK(std::ranges::all_of(dense_count, [](auto n) { return n == 1; }));
        CHECK((dense_param == g.value()));
    });
}

TEST_CASE("sums have the type of sums, also for a dense gradient", "[update_rows]") {
    Tensor<bfloat16> const value{{256}, {0.75F}, {0.75F}, {0.75F}};
    auto sums = Tensor<float>::zeros({1, 1});
    auto const copy = [](std::span<float const> g, std::span<float> p) { std::ranges::copy(g, p.begin()); };
    update_rows(SelectedRows<bfloat16>(1, {0, 0, 0, 0}, value), copy, sums);
    CHECK(sums(0, 0) == 258.25F);
    auto wide = Tensor<float>::zeros({4, 1});
    update_rows(value, copy, wide);
    CHECK((wide == Tensor<float>{{256}, {0.75F}, {0.75F}, {0.75F}}));
}

TEST_CASE("a row's sum has the bits of blocks of 64", "[update_rows]") {
    auto const g = inputs::gradient<float>(50, 40'000, {7}, 3);
    auto sums = Tensor<float>::zeros({50, 7});
    update_rows(Cpu{.threads = 2}, g, [](auto s, auto p) { std::ranges::copy(s, p.begin()); }, sums);
    for (auto const& [row, sum] : reference::sums(g)) CHECK(std::ranges::equal(sums.row(static_cast<std::size_t>(row)), sum));
}

TEST_CASE("rows without elements are updated, too", "[update_rows]") {
    auto param = Tensor<float>::from_shape({5, 0});
    auto count = Tensor<std::int32_t>::zeros({5});
    update_rows(SelectedRows<float>(5, {4, 2, 4}, Tensor<float>::from_shape({3, 0})), add_and_count, param, count);
    CHECK((count == Tensor<std::int32_t>{0, 0, 1, 0, 1}));
}

TEST_CASE("a gradient with no rows calls nothing", "[update_rows]") {
    auto param = Tensor<float>::zeros({5, 2});
    std::atomic<int> calls{0};
    auto const rule = [&](auto, auto) { ++calls; };
    update_rows(SelectedRows<float>(5, {}, Tensor<float>::from_shape({0, 2})), rule, param);
    auto none = Tensor<float>::from_shape({0, 2});
    update_rows(Tensor<float>::from_shape({0, 2}), rule, none);
    CHECK(calls == 0);
}

TEST_CASE("an exception of a rule reaches the caller once, from any thread", "[update_rows]") {
    auto const g = inputs::gradient<float>(1000, 40'000, {7}, 1);
    auto param = Tensor<float>::zeros({1000, 7});
    for (int threads : {1, 2, 4}) {
        int caught = 0;
        try {
            update_rows(Cpu{threads}, g, [](auto, auto) { throw std::runtime_error("rule"); }, param);
        } catch (std::runtime_error const&) {
            ++caught;
        }
        CHECK(caught == 1);
    }
}

TEST_CASE("update_rows refuses a state of another height, however its rows are shaped", "[update_rows][bad_input]") {
    auto const g = SelectedRows<float>(4, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}});
    auto param = test::ramp<float>({4, 2});
    auto counts = Tensor<std::int64_t>::zeros({4});
    auto short_counts = Tensor<std::int64_t>::zeros({3, 7});
    auto const rule = [](std::span<float const>, std::span<float>, std::span<std::int64_t> count) { count[0] += 1; };
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { update_rows(e, g, rule, param, short_counts); }, param, short_counts) ==
          "state 0.shape(0) is 3, expected 4");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu e) { update_rows(e, rowan::to_dense(g), rule, param, short_counts); }, param, short_counts) ==
          "state 0.shape(0) is 3, expected 4");
    update_rows(g, rule, param, counts);
    CHECK(counts == Tensor<std::int64_t>{1, 0, 1, 0});
}

}  // namespace test_update_rows
