// tests/dtypes/own_types.hpp: custom element types, as a user would write them.
#pragma once

#include <rowan/core/dtype.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace test {

/// A product that no compiler fuses with a sum.
[[gnu::noinline]] inline double times(double a, double b) { return a * b; }

/// Q15.16 fixed point.
struct fixed {
    std::int32_t raw;
    friend bool operator==(fixed, fixed) = default;
};

/// A value and its derivative. Larger than 16 bytes, as is no type of rowan.
struct dual {
    double v = 0;
    double d = 0;
    double more = 0;

    dual() = default;
    explicit dual(double value) : v(value) {}
    dual(double value, double derivative) : v(value), d(derivative) {}
    explicit operator double() const { return v; }

    friend dual operator+(dual a, dual b) { return {a.v + b.v, a.d + b.d}; }
    friend dual operator-(dual a, dual b) { return {a.v - b.v, a.d - b.d}; }
    friend dual operator*(dual a, dual b) { return {times(a.v, b.v), times(a.v, b.d) + times(a.d, b.v)}; }
    friend dual operator/(dual a, dual b) { return {a.v / b.v, (times(a.d, b.v) - times(a.v, b.d)) / times(b.v, b.v)}; }
    friend dual sqrt(dual a) { return {std::sqrt(a.v), a.d / (2 * std::sqrt(a.v))}; }
    friend dual exp(dual a) { return {std::exp(a.v), times(a.d, std::exp(a.v))}; }
    friend dual log(dual a) { return {std::log(a.v), a.d / a.v}; }
    friend dual sin(dual a) { return {std::sin(a.v), times(a.d, std::cos(a.v))}; }
    friend dual cos(dual a) { return {std::cos(a.v), times(-a.d, std::sin(a.v))}; }
    friend dual floor(dual a) { return {std::floor(a.v), 0}; }
    friend dual pow(dual a, dual b) { return {std::pow(a.v, b.v), times(times(b.v, std::pow(a.v, b.v - 1)), a.d)}; }
    friend bool operator==(dual const&, dual const&) = default;
    friend bool operator<(dual a, dual b) { return a.v < b.v; }
    friend bool operator>(dual a, dual b) { return a.v > b.v; }
};

inline dual times(dual a, dual b) { return a * b; }

/// A float that counts its conversions.
struct counting {
    float x;
    friend bool operator==(counting, counting) = default;
    static inline std::atomic<std::size_t> widened = 0;
    static inline std::atomic<std::size_t> narrowed = 0;
};

}  // namespace test

template <>
struct rowan::dtype<test::fixed> {
    using sum = double;
    static constexpr std::string_view name = "q15.16";
    static constexpr std::int32_t wire = 1001;
    static sum widen(test::fixed x) { return x.raw / 65536.0; }
    static test::fixed narrow(sum x) { return {static_cast<std::int32_t>(std::nearbyint(std::clamp(x * 65536.0, -0x1p31, 0x1p31 - 1)))}; }
};

template <>
struct rowan::dtype<test::dual> {
    using sum = test::dual;
    static constexpr std::string_view name = "dual";
    static constexpr std::int32_t wire = 1002;
    static sum widen(test::dual x) { return x; }
    static test::dual narrow(sum x) { return x; }
};

template <>
struct rowan::dtype<test::counting> {
    using sum = float;
    static constexpr std::string_view name = "counting";
    static constexpr std::int32_t wire = 1003;
    static sum widen(test::counting x) {
        ++test::counting::widened;
        return x.x;
    }
    static test::counting narrow(sum x) {
        ++test::counting::narrowed;
        return {x};
    }
};
