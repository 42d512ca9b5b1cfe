// tests/sparse/sum_of_parts.cpp: parts summed as a binary tree over their numbers.
#include <rowan/sparse/sum_of_parts.hpp>

#include "../dtypes/own_types.hpp"
#include "parts.hpp"
#include "reference.hpp"

#include <limits>

namespace test_sum_of_parts {

using rowan::bfloat16, rowan::Cpu, rowan::merge, rowan::SelectedRows, rowan::ShapeError, rowan::sum_of_parts,
    rowan::Tensor;
using Parts = std::vector<SelectedRows<float>>;

TEST_CASE("rows of parts are summed, and stand in order", "[sparse][golden]") {
    Parts const parts{SelectedRows<float>(9, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}}),
                      SelectedRows<float>(9, {8}, {{7, 8}}), SelectedRows<float>(9, {1, 4}, {{10, 20}, {30, 40}})};
    CHECK(sum_of_parts(parts) == SelectedRows<float>(9, {1, 4, 8}, {{13, 24}, {36, 48}, {7, 8}}));
    CHECK(sum_of_parts(parts).merged());
}

TEST_CASE("parts are summed in pairs: the last ones are added before they vanish", "[sparse][golden]") {
    // 2^24 + 1 is not a float: the serial sum of 2^24 and ones is 2^24.
    auto const part = [](float x) { return SelectedRows<float>(1, {0}, {{x}}); };
    CHECK(sum_of_parts(Parts{part(0x1p24F), part(1), part(1), part(1)}).value()(0, 0) == 0x1p24F + 2);
    // A part without the row does not count: (2^24) + (1 + 1).
    SelectedRows<float> const none(1, {}, Tensor<float>::zeros({0, 1}));
    CHECK(sum_of_parts(Parts{part(0x1p24F), none, part(1), part(1)}).value()(0, 0) == 0x1p24F + 2);
    CHECK(sum_of_parts(Parts{part(0x1p24F), part(1), part(1), none}).value()(0, 0) == 0x1p24F);
}

template <class T>
void check(std::size_t n, std::size_t lookups, std::size_t width, std::int64_t height) {
    CAPTURE(n, lookups, width, height);
    auto const all = parts::make<T>(n, lookups, width, height);
    auto const want = parts::slow_sum(all);
    for (int const threads : {1, 2, 3}) CHECK(reference::same(sum_of_parts(Cpu{threads}, all), want));
}

TEST_CASE("any number of parts has the bits of a tree that is written as its definition", "[sparse]") {
    for (std::size_t const n : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 13U, 64U}) check<float>(n, 90, 3, 1000);
    check<float>(6, 0, 3, 1000);
    check<float>(6, 300, 0, 1000);
    check<float>(6, 300, 1, 1000);
    check<float>(6, 300, 64, 7);
    check<float>(6, 300, 5, std::numeric_limits<std::int64_t>::max());
    check<float>(9, 40'000, 16, 100'000);  // several threads
}

TEST_CASE("sums of parts are formed in the type of sums and narrowed once", "[sparse]") {
    check<bfloat16>(7, 90, 5, 1000);
    check<double>(7, 90, 5, 1000);
    check<std::int32_t>(7, 90, 5, 1000);
    auto own = parts::make<test::fixed>(5, 40, 3, 100);
    for (int i = 0; auto& p : own) {
        for (auto& x : p.value()) x.raw = ++i % 200 * 7'654'321;
    }
    CHECK(reference::same(sum_of_parts(own), parts::slow_sum(own)));
    std::vector<SelectedRows<test::dual>> dual;
    for (double const v : {1.0, 2.0, 3.0})
        dual.emplace_back(2, rowan::Ids<>{1}, Tensor<test::dual>::full({1, 2}, {v, 10 * v}));
    CHECK(sum_of_parts(dual).value()(0, 1) == test::dual{6, 60});
}

TEST_CASE("the tree is neither the serial sum of merged parts nor the merge of all", "[sparse]") {
    auto const all = parts::make<float>(8, 200, 4, 50);
    auto serial = all[0];
    for (std::size_t p = 1; p < all.size(); ++p) serial = merge(add(merge(serial), merge(all[p])));
    auto const sum = sum_of_parts(all);
    CHECK(std::ranges::equal(sum.rows(), serial.rows()));
    CHECK_FALSE(reference::same(sum, serial));
    CHECK_FALSE(reference::same(sum, merge(parts::joined(all))));
}

TEST_CASE("one part is merged, in memory of its own", "[sparse]") {
    SelectedRows<float> const g(5, {1, 3}, {{1, 2}, {3, 4}});
    auto sum = sum_of_parts(Parts{g});
    CHECK(sum == g);
    sum.value()(0, 0) = 9;
    CHECK(g.value()(0, 0) == 1);
}

TEST_CASE("rows keep their rank", "[sparse]") {
    Parts const parts{SelectedRows<float>(5, {1, 1}, {{{1, 2}}, {{3, 4}}}), SelectedRows<float>(5, {1}, {{{5, 6}}})};
    CHECK(sum_of_parts(parts) == SelectedRows<float>(5, {1}, {{{9, 12}}}));
}

TEST_CASE("parts that cannot be added", "[sparse][errors]") {
    auto const part = [](std::int64_t height, Tensor<float> value) { return SelectedRows<float>(height, {0}, value); };
    CHECK_THROWS_AS(sum_of_parts(Parts{}), ShapeError);
    CHECK_THROWS_WITH(sum_of_parts(Parts{}), Catch::Matchers::ContainsSubstring("parts"));
    CHECK_THROWS_AS(sum_of_parts(Parts{part(2, {{1, 2}}), part(3, {{1, 2}})}), ShapeError);
    CHECK_THROWS_AS(sum_of_parts(Parts{part(2, {{1, 2}}), part(2, {{1}})}), ShapeError);
    CHECK_THROWS_AS(sum_of_parts(Cpu{-1}, Parts{part(2, {{1}})}), rowan::ValueError);
    CHECK_THROWS_AS(sum_of_parts(std::vector<Tensor<float>>{}), ShapeError);
    CHECK_THROWS_AS(sum_of_parts(std::vector<Tensor<float>>{{{1, 2}}, {{1}, {2}}}), ShapeError);
}

TEST_CASE("dense parts have the bits of the same tree", "[sparse]") {
    for (std::size_t const n : {1U, 2U, 3U, 5U, 8U, 21U}) {
        for (std::size_t const size : {0U, 1U, 1023U, 1024U, 1025U, 300'000U}) {
            if (size > 2000 && n > 5) continue;
            auto const all = parts::make_dense<float>(n, {size});
            std::vector<SelectedRows<float>> rows;
            for (auto const& t : all) rows.emplace_back(1, rowan::Ids<>{0}, t.reshaped({1, size}));
            auto const want = parts::slow_sum(rows).value().reshaped({size});
            for (int const threads : {1, 2}) CHECK(reference::same(sum_of_parts(Cpu{threads}, all), want));
        }
    }
    auto const all = parts::make_dense<bfloat16>(3, {2, 3});
    auto const sum = sum_of_parts(all);
    for (std::size_t i = 0; i < 6; ++i) {
        auto const x = [&](std::size_t p) { return float(all[p].data()[i]); };
        CHECK(float(sum.data()[i]) == float(bfloat16((x(0) + x(1)) + x(2))));
    }
}

}  // namespace test_sum_of_parts
