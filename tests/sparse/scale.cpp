// tests/sparse/scale.cpp: a gradient times a number.
#include <rowan/sparse/scale.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"

#include <concepts>
#include <cstdint>
#include <limits>

namespace test_scale {

using rowan::Cpu, rowan::scale, rowan::SelectedRows, rowan::Tensor;

TEST_CASE("scale multiplies every element and leaves the rows", "[scale]") {
    SelectedRows<float> const g(9, {4, 1, 4}, {{1, 2}, {3, 4}, {5, 6}});
    CHECK(scale(g, 0.5) == SelectedRows<float>(9, {4, 1, 4}, {{0.5F, 1}, {1.5F, 2}, {2.5F, 3}}));
    CHECK(scale(Cpu{.threads = 2}, g, -1) == SelectedRows<float>(9, {4, 1, 4}, {{-1, -2}, {-3, -4}, {-5, -6}}));
    CHECK(g.value()(0, 0) == 1);
}

TEMPLATE_TEST_CASE("every element type is multiplied in its type of sums, and narrowed once", "[scale]", float, double, std::int32_t,
                   std::int64_t, std::uint8_t, bool, rowan::bfloat16, rowan::float16) {
    using S = reference::sum_t<TestType>;
    using Factor = std::conditional_t<std::integral<S>, std::int64_t, double>;
    auto const factor = static_cast<Factor>(std::integral<S> ? -3.0 : 0.1);
    inputs::for_sizes<TestType>([&](auto const& g) {
        auto value = g.value();
        for (TestType& x : value) {
            S const wide = rowan::dtype<TestType>::widen(x);
            if constexpr (std::integral<S>) {
                x = rowan::dtype<TestType>::narrow(static_cast<S>(static_cast<std::uint64_t>(wide) * static_cast<std::uint64_t>(factor)));
            } else {
                x = rowan::dtype<TestType>::narrow(wide * static_cast<S>(factor));
            }
        }
        SelectedRows<TestType> const want(g.height(), g.rows(), value);
        CHECK(reference::same(scale(g, factor), want));
        CHECK(reference::same(scale(Cpu{.threads = 3}, g, factor), want));
    });
}

TEST_CASE("an infinite or NaN factor follows IEEE arithmetic", "[scale]") {
    SelectedRows<float> const g(3, {0}, {{1, 0}});
    auto const infinite = scale(g, std::numeric_limits<double>::infinity());
    CHECK(infinite.value()(0, 0) == std::numeric_limits<float>::infinity());
    CHECK(infinite.value()(0, 1) != infinite.value()(0, 1));
}

TEST_CASE("scaling commutes with to_dense", "[scale][property]") {
    CHECK(rc::check([] {
        auto const g = inputs::arbitrary_gradient<float>(6, 2);
        RC_ASSERT(rowan::to_dense(scale(g, 2)) == Tensor<float>(rowan::to_dense(g) * 2));
        RC_ASSERT(scale(g, 1) == g);
    }));
}

}  // namespace test_scale
