// tests/sparse/squared_norm.cpp: the norm of the dense tensor of a gradient, summed in a fixed order.
#include <rowan/sparse/squared_norm.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace test_squared_norm {

using rowan::Cpu, rowan::SelectedRows, rowan::squared_norm, rowan::Tensor;

namespace {

template <class T>
reference::sum_t<T> slow_norm(SelectedRows<T> const& g) {
    using S = reference::sum_t<T>;
    std::vector<S> rows;
    for (auto const& [row, sum] : reference::sums(g)) {
        std::vector<S> squares;
        for (S const x : sum) squares.push_back(reference::product(x, x));
        rows.push_back(reference::row_sum(squares));
    }
    return rows.empty() ? S{} : reference::block_sum(rows);
}

}  // namespace

TEST_CASE("duplicates are summed before they are squared", "[squared_norm]") {
    CHECK(squared_norm(SelectedRows<float>(9, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}})) == 36 + 64 + 9 + 16);
    CHECK(squared_norm(SelectedRows<float>(9, {4, 4}, {{1}, {-1}})) == 0);
    CHECK(squared_norm(Cpu{.threads = 2}, SelectedRows<std::int32_t>(9, {4, 1}, {{100'000}, {3}})) == 10'000'000'009);
}

TEST_CASE("without rows or elements the norm is 0", "[squared_norm]") {
    CHECK(squared_norm(SelectedRows<float>()) == 0);
    CHECK(squared_norm(SelectedRows<float>(9, {}, Tensor<float>::from_shape({0, 2}))) == 0);
    CHECK(squared_norm(SelectedRows<float>(9, {1, 2}, Tensor<float>::from_shape({2, 0}))) == 0);
}

TEST_CASE("the norm is a number of the type of sums", "[squared_norm]") {
    CHECK(std::is_same_v<decltype(squared_norm(SelectedRows<rowan::bfloat16>())), float>);
    CHECK(std::is_same_v<decltype(squared_norm(SelectedRows<double>())), double>);
    CHECK(std::is_same_v<decltype(squared_norm(SelectedRows<std::uint8_t>())), std::int64_t>);
}

TEMPLATE_TEST_CASE("rows have 16 partial sums, and are summed in blocks of 64", "[squared_norm]", float, double, std::uint8_t,
                   rowan::bfloat16, rowan::float16) {
    inputs::for_sizes<TestType>([](auto const& g) {
        auto const want = slow_norm(g);
        CHECK(squared_norm(g) == want);
        CHECK(squared_norm(Cpu{.threads = 3}, g) == want);
    });
    auto const many = inputs::gradient<TestType>(5000, 40'000, {7}, 3);  // more than 64 * 64 rows
    CHECK(squared_norm(Cpu{.threads = 2}, many) == slow_norm(many));
    CHECK(squared_norm(rowan::RowPlan<>(many), many.value()) == slow_norm(many));
    CHECK_THROWS_AS(squared_norm(rowan::RowPlan<>(many), Tensor<TestType>::zeros({1, 7})), rowan::ShapeError);
}

TEST_CASE("the norm equals that of the dense tensor", "[squared_norm][property]") {
    CHECK(rc::check([] {
        auto const g = inputs::arbitrary_gradient<std::int64_t>(6, 3);
        auto const dense = rowan::to_dense(g);
        std::int64_t sum = 0;
        for (std::int64_t const x : dense) sum += x * x;
        RC_ASSERT(squared_norm(g) == sum);
    }));
}

}  // namespace test_squared_norm
