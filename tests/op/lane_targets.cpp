// tests/op/lane_targets.cpp: the same bits with the registers of every processor.
#include "catch.hpp"
#include "op/register_bytes.hpp"

#include <rowan/op/elementwise/compare.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/pow.hpp>
#include <rowan/op/elementwise/sin.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/op/norm/layer_norm.hpp>
#include <rowan/op/norm/log_softmax.hpp>
#include <rowan/op/norm/softmax.hpp>
#include <rowan/op/reduce/reduce.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>
#include <rowan/sparse/lane_rule.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace test_lane_targets {

namespace {

using namespace rowan;

template <class T>
Tensor<T> numbers(std::size_t rows, std::size_t width) {
    auto x = Tensor<T>::from_shape({rows, width});
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(static_cast<double>(i * 2654435761U % 20011) / 1e4 - 1);
    return x;
}

/// A formula of a user, whose products are not marked as such.
struct decayed {
    ROWAN_FORMULA void operator()(V const& g, V& p, V& s) const {
        s = s * V(0.9F) + g * g;
        p = p - g * V(0.1F) / (lane::square_root(s) + V(1e-3F));
    }
};

struct descent {
    ROWAN_FORMULA void operator()(V const& g, V& p) const { p = p - V(0.1F) * g; }
};

/// Another one, which is a function of its own.
struct apart {
    template <class V>
    [[gnu::noinline]] void operator()(V const& g, V& p, V& s) const {
        s = lane::product(g, p) + lane::product(p, p);
        p = lane::choose(s > 0.0F, s, g);
    }
};

struct larger_of {
    ROWAN_FORMULA V operator()(V const& a, V const& b) const { return detail::larger(a, b); }
};
struct smaller_of {
    ROWAN_FORMULA V operator()(V const& a, V const& b) const { return detail::smaller(a, b); }
};

}  // namespace

TEMPLATE_TEST_CASE("the larger and the smaller number are those of comparisons, also of NaN and zeros", "[op]", float, double) {
    using T = TestType;
    using limits = std::numeric_limits<T>;
    std::vector<T> const some{0, -T(0), 1, -1, limits::infinity(), -limits::infinity(), limits::quiet_NaN(), -limits::quiet_NaN(),
                              limits::denorm_min(), -limits::max()};
    std::size_t const n = some.size() * some.size();
    auto a = Tensor<T>::from_shape({n}), b = Tensor<T>::from_shape({n}), greater = Tensor<T>::from_shape({n}), less = Tensor<T>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) {
        a(i) = some[i / some.size()];
        b(i) = some[i % some.size()];
        greater(i) = b(i) < a(i) ? a(i) : b(i);
        less(i) = a(i) < b(i) ? a(i) : b(i);
    }
    test::check_any_registers([&] {
        auto x = Tensor<T>::from_shape({n}), y = Tensor<T>::from_shape({n});
        detail::zip_lanes<T>(larger_of{}, n, x.data(), a.data(), b.data());
        detail::zip_lanes<T>(smaller_of{}, n, y.data(), a.data(), b.data());
        CHECK(std::memcmp(x.data(), greater.data(), n * sizeof(T)) == 0);
        CHECK(std::memcmp(y.data(), less.data(), n * sizeof(T)) == 0);
        return std::vector{x, y};
    });
}

TEST_CASE("formulas have the same bits with registers of any size", "[op]") {
    auto const check = []<class T>(std::size_t rows, std::size_t width) {
        auto const x = numbers<T>(rows, width), large = mul(x, Tensor<T>{{T(3e6)}}), column = numbers<T>(rows, 1);
        test::check_any_registers([&] {
            return std::vector{tanh(x), gelu(x), gelu(x, {.approximate = true}), sin(x), sin(large), pow(large, {.exponent = 3.3})};
        });
        test::check_any_registers([&] {
            auto const wide = mul(x, Tensor<T>{{T(14)}});
            return std::vector{gelu(wide), gelu(large), gelu_op::backward(Cpu{}, wide, x), gelu_op::backward(Cpu{}, large, x)};
        });
        test::check_any_registers([&] { return std::vector{equal_op::run(Cpu{1}, x, column), less_op::run(Cpu{1}, x, column), less_op::run(Cpu{1}, x, x)}; });
        test::check_any_registers([&] {
            return std::vector{mul(x, column), softmax(x), softmax(x, {.axis = 0}), log_softmax(x), reduce_sum(x, {.axes = {0}}),
                               reduce_sum(x, {.axes = {1}})};
        });
        if (width != 0) {
            test::check_any_registers([&] {
                return std::vector{reduce_max(x, {.axes = {0}}), reduce_min(x, {.axes = {1}}), reduce_prod(x, {.axes = {1}}), reduce_prod(x), reduce_sum(x)};
            });
        }
        if (width != 0) test::check_any_registers([&] { return layer_norm(x); });
    };
    for (std::size_t const width : {0U, 1U, 3U, 16U, 17U, 40U, 67U, 256U}) {
        CAPTURE(width);
        check.operator()<float>(19, width);
        check.operator()<double>(19, width);
    }
}

TEST_CASE("formulas of users have the same bits with registers of any size", "[op]") {
    for (std::size_t const width : {1U, 20U, 64U, 101U}) {
        CAPTURE(width);
        SelectedRows<float> const grad(4, {2, 0, 2}, numbers<float>(3, width));
        test::check_any_registers([&] {
            auto table = numbers<float>(4, width), state = Tensor<float>::zeros({4, width});
            update_rows(grad, LaneRule{decayed{}}, table, state);
            update_rows(grad, LaneRule{apart{}}, table, state);
            return std::vector{table, state};
        });
    }
    // One row is in nine of ten places: several threads sum it together.
    std::vector<std::int64_t> rows(20000);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i % 10 == 0 ? static_cast<std::int64_t>(i / 10) : 7;
    SelectedRows<float> const grad(2000, rows, numbers<float>(rows.size(), 16));
    test::check_any_threads([&](Cpu exec) {
        auto table = numbers<float>(2000, 16);
        update_rows(exec, grad, LaneRule{descent{}}, table);
        return std::vector{table};
    });
}

TEST_CASE("gelu keeps the sign of 0", "[op]") {
    for (double const zero : {0.0, -0.0}) {
        CHECK(std::signbit(gelu(Tensor<double>{zero})(0)) == std::signbit(zero));
        CHECK(std::signbit(gelu(Tensor<float>{static_cast<float>(zero)})(0)) == std::signbit(zero));
    }
}

}  // namespace test_lane_targets
