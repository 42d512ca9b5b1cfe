// tests/sparse/row_plan.cpp: the sort of rows, compared with std::stable_sort.
#include <rowan/sparse/row_plan.hpp>

#include "reference.hpp"
#include "refused.hpp"
#include "sanitizers.hpp"

#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/squared_norm.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace test_row_plan {

using inputs::Rows;
using rowan::Cpu, rowan::RowPlan, rowan::SelectedRows;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// What a stable sort gives.
struct Sorted {
    Rows positions, unique, offsets;

    Sorted(Rows const& rows = {}) : positions(rows.size()) {
        std::iota(positions.begin(), positions.end(), 0);
        auto const row_at = [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; };
        std::ranges::stable_sort(positions, {}, row_at);
        for (std::size_t i = 0; i < positions.size(); ++i) {
            if (i != 0 && row_at(positions[i]) == unique.back()) continue;
            unique.push_back(row_at(positions[i]));
            offsets.push_back(static_cast<std::int64_t>(i));
        }
        offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
};

bool is_plan_of(RowPlan<> const& plan, Sorted const& want, std::int64_t height) {
    return std::ranges::equal(plan.rows(), want.unique) && std::ranges::equal(plan.offsets(), want.offsets) &&
           std::ranges::equal(plan.positions(), want.positions) && plan.size() == want.positions.size() && plan.height() == height;
}

// Uniform rows, few different rows, or all near one end.
Rows random_rows(std::int64_t height, std::size_t n, std::uint64_t seed) {
    inputs::Random random(seed);
    std::int64_t const range = seed % 3 == 0 ? height : std::min<std::int64_t>(height, seed % 3 == 1 ? 7 : 1 << 20);
    Rows rows(n);
    for (auto& row : rows) row = seed % 2 == 0 ? random.below(range) : height - 1 - random.below(range);
    return rows;
}

}  // namespace

TEST_CASE("a plan lists rows ascending, and the lookups of each in input order", "[row_plan]") {
    RowPlan const plan({4, 1, 4, 0}, 6);
    CHECK(std::ranges::equal(plan.rows(), Rows{0, 1, 4}));
    CHECK(std::ranges::equal(plan.offsets(), Rows{0, 1, 2, 4}));
    CHECK(std::ranges::equal(plan.positions(), Rows{3, 1, 0, 2}));
    CHECK((plan.size() == 4 && plan.height() == 6));
}

TEST_CASE("a plan is a stable sort, for all heights, lengths and numbers of threads", "[row_plan]") {
    std::uint64_t seed = 0;
    std::int64_t const one = 1;
    for (std::int64_t height : {one, one + 1, one + 2, one << 7, (one << 7) + 1, one << 11, (one << 11) + 1, one << 22, (one << 31) - 1,
                                one << 31, (one << 32) + 1, one << 50, (one << 62) - 1, one << 62, (one << 62) + 1, most}) {
        for (std::size_t n : std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 63, 64, 65, 1023, 1024, 1025, 8191, 8192, 8193, 16385}) {
            Rows const rows = random_rows(height, n, ++seed);
            Sorted const want(rows);
            int const threads = static_cast<int>(seed % 4) + 1;
            CAPTURE(height, n, threads);
            CHECK(is_plan_of(RowPlan(Cpu{threads}, rows, height), want, height));
        }
    }
}

TEST_CASE("a plan sorted by several threads is a stable sort, for all heights and distributions", "[row_plan]") {
    std::uint64_t seed = 100;
    for (std::int64_t const height : {std::int64_t{2}, std::int64_t{257}, std::int64_t{4097}, std::int64_t{1} << 20, (std::int64_t{1} << 24) + 1,
                                      std::int64_t{1} << 36}) {
        for (std::size_t n : sanitizers::any ? std::vector<std::size_t>{32'768} : std::vector<std::size_t>{32'767, 32'768, 100'003}) {
            Rows const uniform = random_rows(height, n, ++seed);
            Rows popular = uniform;  // half of them small, as in a sorted vocabulary, or one row
            for (std::size_t i = 0; i < n; ++i) popular[i] = i % 2 == 0 ? popular[i] : i % 3 == 0 ? height / 2 : popular[i] % std::min<std::int64_t>(height, 300);
            Rows descending(n);
            for (std::size_t i = 0; i < n; ++i) descending[i] = static_cast<std::int64_t>(n - 1 - i) % height;
            for (Rows const* rows : std::vector<Rows const*>{&uniform, &popular, &descending}) {
                Sorted const want(*rows);
                for (int threads : {2, 3, 8}) {
                    CAPTURE(height, n, threads);
                    CHECK(is_plan_of(RowPlan(Cpu{threads}, *rows, height), want, height));
                }
            }
        }
    }
}

TEST_CASE("many rows of a large height, whose row and position do not fit in one word", "[row_plan]") {
    for (std::int64_t height : {std::int64_t{1} << 46, std::int64_t{1} << 47, std::int64_t{1} << 48, most}) {
        Rows const rows = random_rows(height, 100'000, 6);
        Sorted const want(rows);
        for (int threads : {1, 2, 3}) CHECK(is_plan_of(RowPlan(Cpu{threads}, rows, height), want, height));
    }
}

TEST_CASE("lookups of a single row keep their order", "[row_plan]") {
    for (std::int64_t row : {std::int64_t{0}, std::int64_t{76}, most - 1}) {
        Rows const rows(50'000, row);
        std::int64_t const height = row == most - 1 ? most : 77;
        Sorted const want(rows);
        for (int threads : {1, 4, 16}) CHECK(is_plan_of(RowPlan(Cpu{threads}, rows, height), want, height));
    }
}

TEST_CASE("rows that are sorted or descending", "[row_plan]") {
    Rows rows(10'000);
    std::iota(rows.begin(), rows.end(), 0);
    CHECK(is_plan_of(RowPlan(rows, 10'000), rows, 10'000));
    std::ranges::reverse(rows);
    CHECK(is_plan_of(RowPlan(rows, 10'000), rows, 10'000));
}

TEST_CASE("int32 rows give the plan of the same int64 rows", "[row_plan]") {
    Rows const rows = random_rows(1000, 9000, 6);
    std::vector<std::int32_t> const narrow(rows.begin(), rows.end());
    CHECK(is_plan_of(RowPlan(narrow, 1000), rows, 1000));
}

TEST_CASE("a gradient's plan equals that of its rows, merged or not", "[row_plan]") {
    for (Rows const& rows : {Rows{}, Rows{3}, Rows{1, 4, 7}, Rows{7, 4, 1}, Rows{4, 4, 4}}) {
        SelectedRows<float> const g(9, rows, rowan::Tensor<float>::zeros({rows.size(), 2}));
        CHECK(is_plan_of(RowPlan(g), rows, 9));
        CHECK(is_plan_of(RowPlan(Cpu{2}, g), rows, 9));
    }
}

TEST_CASE("an empty plan has one offset", "[row_plan]") {
    CHECK(is_plan_of(RowPlan<>(), {}, 0));
    CHECK(is_plan_of(RowPlan({}, 0), {}, 0));
    CHECK(is_plan_of(RowPlan({}, most), {}, most));
}

TEST_CASE("plans are values: copied deep, empty when moved from", "[row_plan]") {
    Rows const rows{4, 1, 4, 0};
    RowPlan plan(rows, 6);
    RowPlan copy = plan;
    CHECK((is_plan_of(copy, rows, 6) && copy.rows().data() != plan.rows().data()));
    RowPlan const moved = std::move(plan);
    CHECK((is_plan_of(moved, rows, 6) && is_plan_of(plan, {}, 0)));
    plan = copy;
    CHECK(is_plan_of(plan, rows, 6));
    plan = RowPlan({1}, 2);
    CHECK(is_plan_of(plan, Rows{1}, 2));
    plan.swap(copy);
    CHECK((is_plan_of(plan, rows, 6) && is_plan_of(copy, Rows{1}, 2)));
}

TEST_CASE("loops over the parts of a gradient and of a plan that a function returns", "[row_plan]") {
    auto const made = [] { return rowan::SelectedRows<float>(5, {1, 3, 1}, {{1}, {2}, {3}}); };
    std::vector<std::int64_t> numbers;
    for (float const x : merge(made()).value()) numbers.push_back(static_cast<std::int64_t>(x));
    for (std::int64_t const r : merge(made()).rows()) numbers.push_back(r);
    for (std::int64_t const r : RowPlan(made()).rows()) numbers.push_back(r);
    for (std::int64_t const o : RowPlan(made()).offsets()) numbers.push_back(o);
    for (std::int64_t const p : RowPlan(made()).positions()) numbers.push_back(p);
    for (std::int64_t const o : RowPlan<>().offsets()) numbers.push_back(o);
    CHECK(numbers == std::vector<std::int64_t>{4, 2, 1, 3, 1, 3, 0, 2, 3, 0, 2, 1, 0});
}

TEST_CASE("a plan throws for rows that are not one-dimensional and for an invalid height", "[row_plan][bad_input]") {
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { RowPlan<>(exec, {0}, -1); }) == "height is -1, expected in [0, 2^63 - 1]");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { RowPlan<>(exec, rowan::Tensor<std::int64_t>{{0, 1}, {2, 3}}, 4); }) == "rows rank is 2, expected 1");
}

TEST_CASE("the plan of bags gives the bits of a gradient with a row for each lookup", "[row_plan]") {
    auto const check = [](std::size_t bags, std::int64_t longest, std::int64_t height) {
        inputs::Random random(bags);
        Rows offsets{0}, rows, bag_of;
        for (std::size_t b = 0; b < bags; ++b) {
            for (std::int64_t n = random.below(longest + 1); n > 0; --n) {
                rows.push_back(random.below(3) == 0 ? height - 1 : random.below(height));
                bag_of.push_back(static_cast<std::int64_t>(b));
            }
            offsets.push_back(static_cast<std::int64_t>(rows.size()));
        }
        auto const value = inputs::wild<float>({bags, 17}, 5);
        SelectedRows<float> const expanded(height, rows, gather(value, bag_of));
        auto const want = merge(Cpu{1}, expanded);
        for (int const threads : {1, 2, 8}) {
            RowPlan const plan(Cpu{threads}, rows, offsets, height);
            CHECK(plan.size() == rows.size());
            CHECK(plan.value_rows() == bags);
            CHECK(reference::same(merge(Cpu{threads}, plan, value), want));
            CHECK(squared_norm(Cpu{threads}, plan, value) == squared_norm(Cpu{threads}, expanded));
        }
    };
    check(1, 4, 1);
    check(300, 5, 40);
    check(300, 5, most);
    check(20'000, 9, 100'000);
    CHECK(merge(RowPlan(Rows(), Rows{0, 0, 0}, 4), rowan::Tensor<float>::zeros({2, 3})).rows().empty());
}

TEST_CASE("a plan throws for bags that do not divide the rows", "[row_plan][bad_input]") {
    auto const refusal = [](Rows const& bags) {
        return test::refusal<rowan::Error>([&](Cpu exec) { RowPlan<>(exec, {1, 2}, bags, 4); });
    };
    CHECK(refusal({}) == "bags.size() is 0, expected 1 or more");
    CHECK(refusal({1, 2}) == "bags[0] = 1 is more than 0");
    CHECK(refusal({0, 2, 1, 2}) == "bags[2] = 1 is less than 2");
    CHECK(refusal({0, 3}) == "bags[1] = 3 is more than 2");
    CHECK(refusal({0, 1}) == "bags[1] = 1 is not the end, 2");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { merge(exec, RowPlan({1, 2}, Rows{0, 2}, 4), rowan::Tensor<float>::zeros({2, 3})); }) ==
          "value.shape(0) is 2, expected 1, the number of rows");
}

}  // namespace test_row_plan
