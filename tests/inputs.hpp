// tests/inputs.hpp: gradients and tables that detect small errors.
#pragma once

#include <rapidcheck.h>
#include <rowan/sparse/selected_rows.hpp>

#include "catch.hpp"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace inputs {

using rowan::dtype, rowan::SelectedRows, rowan::Tensor;
using Shape = Tensor<float>::shape_type;
using Rows = std::vector<std::int64_t>;

template <class T>
T narrow(double x) {
    return dtype<T>::narrow(static_cast<typename dtype<T>::sum>(x));
}

// A random generator: the distributions of <random> differ between libraries.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t bits() { return engine_(); }
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    double normal() {
        double const radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    // Numbers of all magnitudes, so that sums in another order have other bits.
    template <class T>
    T wild() {
        if constexpr (std::same_as<T, bool>) {
            return engine_() % 2 == 0;
        } else if constexpr (std::integral<T>) {
            return static_cast<T>(engine_());
        } else {
            double const size = std::exp((sizeof(T) == 2 ? 1 : 8) * normal());
            return narrow<T>(engine_() % 2 == 0 ? size : -size);
        }
    }

private:
    std::mt19937_64 engine_;
};

template <class T>
Tensor<T> wild(Shape const& shape, std::uint64_t seed) {
    Random random(seed);
    auto tensor = Tensor<T>::from_shape(shape);
    for (T& x : tensor) x = random.wild<T>();
    return tensor;
}

// A state of an optimizer: positive numbers, larger than their squares.
template <class T>
Tensor<T> state(Shape const& shape, std::uint64_t seed) {
    Random random(seed);
    auto tensor = Tensor<T>::from_shape(shape);
    for (T& x : tensor) x = narrow<T>(0.8 + 0.08 * random.uniform());
    return tensor;
}

// A gradient of n rows with duplicates; a few rows have most of them.
template <class T>
SelectedRows<T> gradient(std::int64_t height, std::size_t n, Shape const& row_shape, std::uint64_t seed) {
    Random random(seed);
    Rows rows(n);
    for (auto& row : rows) {
        row = random.below(height);
        if (random.below(3) != 0) row = random.below(3) != 0 ? height / 2 : height - 1;
    }
    Shape shape{n};
    shape.insert(shape.end(), row_shape.begin(), row_shape.end());
    return SelectedRows<T>(height, rows, wild<T>(shape, seed + 1));
}

// Calls f with gradients of sizes at the limits of registers, of blocks and, if `large`, of parallel loops.
template <class T, class F>
void for_sizes(F const& f, bool large = true) {
    auto const call = [&](std::int64_t height, std::size_t n, Shape const& shape) {
        auto const g = gradient<T>(height, n, shape, n + 1);
        CAPTURE(g.height(), n, g.row_size(), shape.size());
        f(g);
    };
    for (std::size_t width : std::vector<std::size_t>{0, 1, 2, 15, 16, 17, 63, 64, 65}) {
        for (std::size_t n : std::vector<std::size_t>{0, 1, 2, 63, 64, 65}) call(5, n, {width});
        call(1, 130, {width});
    }
    for (std::size_t n : std::vector<std::size_t>{4095, 4096, 4097}) {
        call(3, n, {1});
        call(1, n, {17});
    }
    for (Shape const& shape : {Shape{}, Shape{3, 2}, Shape{2, 1, 3}}) call(9, 70, shape);
    call(0, 0, {3});
    if (!large) return;
    call(50, 1'100, {256});   // more than 2^18 elements: several threads share the columns of wide rows
    call(1000, 30'000, {9});  // the middle row has most lookups: several threads sum it
}

// For properties: a small gradient whose values are multiples of 1/8, so that sums are exact in any order.
template <class T>
SelectedRows<T> arbitrary_gradient(std::int64_t height, std::size_t width) {
    auto const rows = *rc::gen::container<Rows>(rc::gen::inRange<std::int64_t>(0, height));
    auto value = Tensor<T>::from_shape({rows.size(), width});
    for (T& x : value) x = narrow<T>(*rc::gen::inRange(-40, 40) / (std::integral<T> ? 1.0 : 8.0));
    return SelectedRows<T>(height, rows, value);
}

}  // namespace inputs

namespace test {

/// Numbers in (-1, 1) with many digits.
inline inputs::Tensor<double> values(inputs::Tensor<double>::shape_type const& shape, std::uint64_t seed) {
    inputs::Random random(seed);
    auto t = inputs::Tensor<double>::from_shape(shape);
    for (double& x : t) x = (static_cast<double>(random.below(2'000'001)) - 1e6) / 1'000'003;
    return t;
}

}  // namespace test
