// tests/op/compare.cpp: comparisons and truth values.
#include <rowan/op/elementwise/compare.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace test_compare {

using rowan::bfloat16, rowan::Cpu, rowan::ShapeError, rowan::Tensor, rowan::tensor_spec, rowan::TypeError, rowan::UNK;

static_assert(rowan::less_op::infer(tensor_spec<float>({UNK, 3}, 1), tensor_spec<float>({4, UNK})) == tensor_spec<bool>({4, 3}, 1));
static_assert(rowan::any_op::infer(tensor_spec<bool>({UNK, 3}, 1)) == tensor_spec<bool>({1}));

TEST_CASE("comparisons compare values, and are false for NaN", "[op][golden]") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    Tensor<double> const x{1, 2, 3, nan, -0.0}, y{2, 2, 2, 1, 0.0};
    CHECK(rowan::less_op::run(Cpu{}, x, y) == Tensor<bool>{true, false, false, false, false});
    CHECK(rowan::less_equal_op::run(Cpu{}, x, y) == Tensor<bool>{true, true, false, false, true});
    CHECK(rowan::greater_op::run(Cpu{}, x, y) == Tensor<bool>{false, false, true, false, false});
    CHECK(rowan::greater_equal_op::run(Cpu{}, x, y) == Tensor<bool>{false, true, true, false, true});
    CHECK(rowan::equal_op::run(Cpu{}, x, y) == Tensor<bool>{false, true, false, false, true});
    Tensor<std::int64_t> const big{std::int64_t{1} << 62, -1}, bigger{(std::int64_t{1} << 62) + 1, -2};
    CHECK(rowan::less_op::run(Cpu{}, big, bigger) == Tensor<bool>{true, false});
    Tensor<bfloat16> const h{bfloat16(1.0F), bfloat16(2.0F)}, g{bfloat16(1.0F), bfloat16(3.0F)};
    CHECK(rowan::less_op::run(Cpu{}, h, g) == Tensor<bool>{false, true});
}

TEST_CASE("logical_and, logical_or, logical_not and any", "[op][golden]") {
    Tensor<bool> const x{true, true, false, false}, y{true, false, true, false};
    CHECK(rowan::logical_and_op::run(Cpu{}, x, y) == Tensor<bool>{true, false, false, false});
    CHECK(rowan::logical_or_op::run(Cpu{}, x, y) == Tensor<bool>{true, true, true, false});
    CHECK(rowan::logical_not_op::run(Cpu{}, x) == Tensor<bool>{false, false, true, true});
    CHECK(rowan::any_op::run(Cpu{}, x) == Tensor<bool>{true});
    CHECK(rowan::any_op::run(Cpu{}, Tensor<bool>{false, false}) == Tensor<bool>{false});
    CHECK(rowan::any_op::run(Cpu{}, Tensor<bool>::from_shape({0})) == Tensor<bool>{false});
}

TEST_CASE("isfinite, isnan and isinf hold as in NumPy", "[op][golden]") {
    auto const check = []<class T>(T) {
        using limits = std::numeric_limits<T>;
        Tensor<T> const x{0, -limits::max(), limits::denorm_min(), limits::infinity(), -limits::infinity(), limits::quiet_NaN()};
        CHECK(rowan::isfinite(x) == Tensor<bool>{true, true, true, false, false, false});
        CHECK(rowan::isnan(x) == Tensor<bool>{false, false, false, false, false, true});
        CHECK(rowan::isinf(x) == Tensor<bool>{false, false, false, true, true, false});
    };
    check(float{});
    check(double{});
    Tensor<rowan::float16> const half{rowan::float16(65504.F), rowan::float16(1e6F), rowan::float16(NAN)};
    CHECK(rowan::isfinite(half) == Tensor<bool>{true, false, false});
    CHECK(rowan::isinf(half) == Tensor<bool>{false, true, false});
    Tensor<std::int64_t> const whole{INT64_MIN, INT64_MAX};
    CHECK(rowan::isfinite(whole) == Tensor<bool>{true, true});
    CHECK((rowan::isnan(whole) == Tensor<bool>{false, false} && rowan::isinf(whole) == Tensor<bool>{false, false}));
    CHECK(rowan::isnan(Tensor<float>::from_shape({3, 0})).shape() == Tensor<bool>::shape_type{3, 0});
    CHECK(rowan::isnan_op::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<bool>({UNK, 3}, 1));
}

TEST_CASE("comparisons broadcast", "[op]") {
    Tensor<float> const column{{1}, {3}}, row{2, 3, 4};
    CHECK((rowan::less_op::run(Cpu{}, column, row) == Tensor<bool>{{true, true, true}, {false, false, true}}));
    CHECK((rowan::less_equal_op::run(Cpu{}, row, column) == Tensor<bool>{{false, false, false}, {true, true, false}}));
    CHECK((rowan::equal_op::run(Cpu{}, row, Tensor<float>{3}) == Tensor<bool>{false, true, false}));
    static_assert(rowan::less_op::infer(rowan::tensor_spec<float>({rowan::UNK, 3}, 1), rowan::tensor_spec<float>({3})) == rowan::tensor_spec<bool>({rowan::UNK, 3}, 1));
}

TEST_CASE("comparisons refuse shapes and element types that differ", "[op][bad]") {
    Tensor<float> const x{1, 2}, y{{1, 2, 3}};
    CHECK_THROWS_AS(rowan::equal_op::infer(tensor_spec<float>({2}), tensor_spec<double>({2})), TypeError);
    CHECK_THROWS_AS(rowan::any_op::infer(tensor_spec<float>({2})), TypeError);
}

}  // namespace test_compare
