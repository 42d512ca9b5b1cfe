// tests/sparse/sparse_large.cpp: tables of more than 4 GiB of addresses, of which only a few rows are ever touched.
#include "catch.hpp"
#include "process_memory.hpp"

#include <rowan/sparse.hpp>

#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace test_sparse_large {

namespace {

using rowan::Cpu, rowan::SelectedRows, rowan::Tensor;

/// Row 4 194 309 of 1024 bytes begins 5 rows after 4 GiB: with an offset of 32 bits it would be row 5.
constexpr std::int64_t far_row = 4'194'309;
constexpr std::int64_t near_row = 5;
constexpr std::size_t height = far_row + 11;

/// An uninitialized table of rows of 1024 bytes; empty if the system refuses to reserve it.
template <class T>
std::optional<Tensor<T>> large_table() {
    try {
        return Tensor<T>::from_shape({height, 1024 / sizeof(T)});
    } catch (std::bad_alloc const&) {
        WARN("skipped: no 4 GiB of addresses");
        return std::nullopt;
    }
}

template <class T>
void fill_row(Tensor<T>& table, std::int64_t row, T value) {
    for (T& x : table.row(static_cast<std::size_t>(row))) x = value;
}

template <class T>
bool row_is(Tensor<T> const& table, std::int64_t row, T value) {
    for (T const& x : table.row(static_cast<std::size_t>(row))) {
        if (x != value) return false;
    }
    return true;
}

}  // namespace

TEMPLATE_TEST_CASE("R6, R23: a row beyond 4 GiB is not another row (FBGEMM #5755, #3943)", "[large]", float, std::uint8_t) {
    std::size_t const before = process_memory::Memory().resident;
    auto table = large_table<TestType>();
    if (!table) return;
    std::size_t const width = table->row_size();
    fill_row(*table, near_row, TestType{1});
    fill_row(*table, far_row, TestType{2});

    for (int const threads : {1, 2}) {
        Cpu const exec{threads};
        auto const got = rowan::gather(exec, *table, {far_row, near_row});
        CHECK(row_is(got, 0, TestType{2}));
        CHECK(row_is(got, 1, TestType{1}));
    }
    CHECK(table->slice(far_row, height).row(0).data() - table->data() == far_row * static_cast<std::int64_t>(width));

    auto const ones = Tensor<TestType>::full({3, width}, TestType{1});
    rowan::scatter_add(*table, {far_row, near_row, far_row}, ones);
    CHECK(row_is(*table, far_row, TestType{4}));
    CHECK(row_is(*table, near_row, TestType{2}));

    SelectedRows<TestType> const g(height, {far_row, near_row, far_row}, ones);
    rowan::scatter_add(Cpu{2}, *table, g);
    CHECK(row_is(*table, far_row, TestType{6}));
    CHECK(row_is(*table, near_row, TestType{3}));
    CHECK(rowan::merge(g).rows()[1] == far_row);
    CHECK_THROWS_AS(rowan::gather(*table, {static_cast<std::int64_t>(height)}), rowan::IndexError);
    if (process_memory::measurable) CHECK(process_memory::Memory().resident - before < std::size_t{64} << 20);  // two rows, each possibly in a huge page, not the table
}

TEST_CASE("optimizers reach rows beyond 4 GiB", "[large]") {
    auto table = large_table<float>();
    if (!table) return;
    auto moment = Tensor<float>::from_shape({height});
    std::size_t const width = table->row_size();
    for (std::int64_t const row : {near_row, far_row}) {
        fill_row(*table, row, 4.0F);
        moment(row) = 0;
    }
    SelectedRows<float> const g(height, {far_row, near_row, far_row}, Tensor<float>::full({3, width}, 1));
    rowan::sgd(*table, g, 0.5);
    CHECK(row_is(*table, far_row, 3.0F));
    CHECK(row_is(*table, near_row, 3.5F));
    rowan::rowwise_adagrad(*table, moment, g, {.learning_rate = 1.0, .epsilon = 0.0});
    CHECK(row_is(*table, far_row, 2.0F));
    CHECK(row_is(*table, near_row, 2.5F));
    CHECK(moment(far_row) == 4);
    CHECK(moment(near_row) == 1);
}

TEST_CASE("heights have up to 63 bits where no dense tensor is needed", "[large]") {
    auto const tall = GENERATE(std::int64_t{1} << 32, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max());
    SelectedRows<float> const g(tall, {tall - 1, 3, tall / 2, 3}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}});
    CHECK(rowan::merge(g) == SelectedRows<float>(tall, {3, tall / 2, tall - 1}, {{10, 12}, {5, 6}, {1, 2}}));
    CHECK(rowan::add(g, g).rows().size() == 8);
    CHECK(rowan::retain(g, {tall - 1}).value() == Tensor<float>{{1, 2}});
    CHECK(rowan::squared_norm(g) == 100 + 144 + 25 + 36 + 1 + 4);
    auto const parts = rowan::split(g, {4, tall - 4});
    CHECK(parts[0] == SelectedRows<float>(4, {3, 3}, {{3, 4}, {7, 8}}));
    CHECK(parts[1] == SelectedRows<float>(tall - 4, {tall - 5, tall / 2 - 4}, {{1, 2}, {5, 6}}));
    CHECK(g.shape()[0] == static_cast<std::size_t>(tall));

    if (tall > std::int64_t{1} << 60) {
        CHECK_THROWS_AS(rowan::to_dense(g), rowan::ShapeError);
        std::vector<std::int64_t> const three{tall - 1, 0, tall - 2};  // too many bits for row and position in one word
        rowan::RowPlan<> const plan(three, tall);
        CHECK(std::vector<std::int64_t>(plan.rows().begin(), plan.rows().end()) == std::vector<std::int64_t>{0, tall - 2, tall - 1});
        CHECK(std::vector<std::int64_t>(plan.positions().begin(), plan.positions().end()) == std::vector<std::int64_t>{1, 2, 0});
    }
}

TEST_CASE("rows without width may be any number", "[large]") {
    std::size_t const tall = std::size_t{1} << 60;
    auto table = Tensor<float>::zeros({tall, 0});
    auto state = Tensor<float>::zeros({tall, 0});
    std::int64_t const last = static_cast<std::int64_t>(tall) - 1;
    SelectedRows<float> const g(last + 1, {last, 0, last}, Tensor<float>::zeros({3, 0}));
    CHECK(rowan::gather(table, {last}).shape() == Tensor<float>::shape_type{1, 0});
    rowan::scatter_add(table, g);
    rowan::adagrad(table, state, g);
    int calls = 0;
    rowan::update_rows(Cpu{1}, g, [&](auto sum, auto, auto) { calls += 1 + static_cast<int>(sum.size()); }, table, state);
    CHECK(calls == 2);
    CHECK(rowan::from_dense(table).rows().empty());
    CHECK_THROWS_AS(rowan::gather(table, {last + 1}), rowan::IndexError);
}

}  // namespace test_sparse_large
