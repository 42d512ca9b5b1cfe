// tests/sparse/from_dense.cpp: the rows that are not zero.
#include <rowan/sparse/from_dense.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <cstdint>
#include <limits>

namespace test_from_dense {

using inputs::Shape;
using rowan::Cpu, rowan::from_dense, rowan::SelectedRows, rowan::Tensor;

TEST_CASE("rows with a nonzero element are kept, merged", "[from_dense]") {
    Tensor<float> const dense{{0, 0}, {0, 3}, {0, 0}, {-1, 0}};
    SelectedRows<float> const want(4, {1, 3}, {{0, 3}, {-1, 0}});
    CHECK(from_dense(dense) == want);
    CHECK(from_dense(Cpu{.threads = 2}, dense) == want);
    CHECK(from_dense(dense).merged());
}

TEST_CASE("with a threshold, rows with no larger element are dropped", "[from_dense]") {
    Tensor<float> const dense{{0.5F, -0.5F}, {0, 0.75F}, {-2, 0}, {0.25F, 0}};
    CHECK(from_dense(dense, 0.5) == SelectedRows<float>(4, {1, 2}, {{0, 0.75F}, {-2, 0}}));
    CHECK(from_dense(dense, 2).rows().empty());
    Tensor<std::int32_t> const whole{{1}, {-2}, {2}, {0}};
    CHECK(from_dense(whole, 1.5) == SelectedRows<std::int32_t>(4, {1, 2}, {{-2}, {2}}));
}

TEST_CASE("NaN, infinities and denormals are not zero", "[from_dense]") {
    using limits = std::numeric_limits<float>;
    Tensor<float> const dense{limits::quiet_NaN(), -0.0F, limits::infinity(), limits::denorm_min(), 0};
    CHECK(std::ranges::equal(from_dense(dense).rows(), inputs::Rows{0, 2, 3}));
    CHECK(std::ranges::equal(from_dense(dense, 1e30).rows(), inputs::Rows{0, 2}));
}

TEST_CASE("heights and widths of 0 have no rows, and keep the shape", "[from_dense]") {
    CHECK(from_dense(Tensor<float>::from_shape({0, 3})).shape() == Shape{0, 3});
    CHECK(from_dense(Tensor<float>::from_shape({4, 0})).shape() == Shape{4, 0});
    CHECK(from_dense(Tensor<float>::zeros({4, 2, 3})).shape() == Shape{4, 2, 3});
}

TEMPLATE_TEST_CASE("to_dense(from_dense(t)) is t, of every element type", "[from_dense]", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool, rowan::bfloat16, rowan::float16) {
    for (Shape const& shape : {Shape{50}, Shape{20, 3}, Shape{7, 2, 3}, Shape{5, 1, 2, 2}}) {
        auto dense = inputs::wild<TestType>(shape, 1);
        for (std::size_t i = 0; i < shape[0]; i += 2) {
            for (TestType& x : dense.row(i)) x = TestType(0);
        }
        auto const g = from_dense(dense);
        CHECK((g.rows().size() <= shape[0] / 2 && reference::same(rowan::to_dense(g), dense)));
    }
}

TEST_CASE("from_dense refuses a threshold that is negative or not finite", "[from_dense][bad_input]") {
    Tensor<float> const dense{{1, 2}, {3, 4}};
    double const infinity = std::numeric_limits<double>::infinity();
    for (double const bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, -0.1})
        CHECK(test::refused<rowan::ValueError>([&](Cpu exec) { from_dense(exec, dense, bad); }, dense).field() == "threshold");
    CHECK_THROWS_WITH(from_dense(Tensor<float>::full({}, 1)), "dense rank is 0, expected at least 1");
    Tensor<std::int64_t> const numbers{{0}, {std::numeric_limits<std::int64_t>::max()}, {std::numeric_limits<std::int64_t>::min()}};
    CHECK(from_dense(numbers, 1e18).rows().size() == 2);
    CHECK(from_dense(numbers, 1e300).rows().empty());  // larger than any integer
    CHECK(from_dense(numbers, 0x1p63).rows().empty());
}

}  // namespace test_from_dense
