// tests/sparse/to_dense.cpp: the dense tensor of a SelectedRows.
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_to_dense {

using inputs::Shape;
using rowan::Cpu, rowan::SelectedRows, rowan::Tensor, rowan::to_dense;

TEST_CASE("absent rows are zero, duplicates are added", "[to_dense]") {
    SelectedRows<float> const g(6, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}});
    Tensor<float> const want{{0, 0}, {3, 4}, {0, 0}, {0, 0}, {6, 8}, {0, 0}};
    CHECK((to_dense(g) == want));
    CHECK((to_dense(Cpu{.threads = 2}, g) == want));
}

TEST_CASE("the shape is the gradient's, of any rank", "[to_dense]") {
    CHECK((to_dense(SelectedRows<float>(3, {1}, {5})) == Tensor<float>{0, 5, 0}));
    CHECK((to_dense(SelectedRows<float>(2, {1}, {{{1, 2}, {3, 4}}})) == Tensor<float>{{{0, 0}, {0, 0}}, {{1, 2}, {3, 4}}}));
    CHECK(to_dense(SelectedRows<float>(4, {}, Tensor<float>::from_shape({0, 3}))).shape() == Shape{4, 3});
    CHECK(to_dense(SelectedRows<float>()).shape() == Shape{0});
    CHECK(to_dense(SelectedRows<float>(4, {2, 2}, Tensor<float>::from_shape({2, 0}))).shape() == Shape{4, 0});
}

TEMPLATE_TEST_CASE("every element type has the bits of the merged rows added to zeros", "[to_dense]", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool, rowan::bfloat16, rowan::float16) {
    auto const check = [](auto const& g) {
        auto want = Tensor<TestType>::zeros(g.shape());
        auto const merged = reference::merge(g);
        reference::scatter_add(want, merged.rows(), merged.value());
        CHECK(reference::same(to_dense(g), want));
        CHECK(reference::same(to_dense(rowan::merge(g)), want));
        CHECK(reference::same(to_dense(Cpu{.threads = 3}, g), want));
    };
    inputs::for_sizes<TestType>(check);
    for (std::size_t const n : {64u, 65u, 300u})  // equal rows
        check(SelectedRows<TestType>(3, std::vector<std::int64_t>(n, 1), inputs::wild<TestType>({n, 2}, 1)));
}

TEST_CASE("a thousand gradients of 1 are 1000 in 16 bits", "[to_dense][golden]") {
    SelectedRows<rowan::bfloat16> const g(1, std::vector<std::int64_t>(1000), Tensor<rowan::bfloat16>::full({1000, 1}, rowan::bfloat16(1.0F)));
    CHECK(static_cast<float>(to_dense(g)(0, 0)) == 1000);
}

TEST_CASE("R3: to_dense throws if height times width overflows (CVE-2021-41195)", "[to_dense][bad_input]") {
    std::int64_t const segment = 1676240524292489355;
    SelectedRows<float> const g(segment + 1, {segment}, Tensor<float>::full({1, 10, 1}, 1));
    CHECK_THAT((test::refusal<rowan::ShapeError>([&](Cpu e) { to_dense(e, g); }, g)), Catch::Matchers::ContainsSubstring("[1676240524292489356, 10, 1]"));
    CHECK(rowan::merge(g) == g);
    CHECK(rowan::squared_norm(g) == 10);
}

}  // namespace test_to_dense
