// tests/fail/number.hpp: an element type with the members that dtype<T> requires, and no others.
#pragma once

#include <rowan/core/dtype.hpp>

struct number {
    double x = 0;
    number() = default;
    explicit number(double value) : x(value) {}
    friend number operator+(number a, number b) { return number(a.x + b.x); }
    friend number operator-(number a, number b) { return number(a.x - b.x); }
    friend number operator*(number a, number b) { return number(a.x * b.x); }
    friend number operator/(number a, number b) { return number(a.x / b.x); }
    friend bool operator<(number a, number b) { return a.x < b.x; }
    friend bool operator>(number a, number b) { return a.x > b.x; }
};

template <>
struct rowan::dtype<number> {
    using sum = number;
    static constexpr std::string_view name = "number";
    static constexpr std::int32_t wire = 1000;
    static sum widen(number x) { return x; }
    static number narrow(sum x) { return x; }
};
