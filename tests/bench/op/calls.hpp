// tests/bench/op/calls.hpp: the options and the timing of the programs that measure calls of operators.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/op/gradients.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace bench {

struct Options {
    rowan::Cpu exec{.threads = 1};
    bool tiny = false;  // only that everything runs

    Options(int argc, char** argv) {
        for (int i = 1; i < argc; ++i) {
            std::string_view const word = argv[i];
            tiny = tiny || word == "--tiny";
            if (word == "--threads" && i + 1 < argc) exec.threads = std::atoi(argv[++i]);
        }
    }
};

/// Numbers in [-2, 2).
inline rowan::Tensor<float> filled(rowan::Tensor<float>::shape_type const& shape) {
    auto t = rowan::Tensor<float>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<float>(i * 7919 % 1000) / 250 - 2;
    return t;
}

/// Numbers in [0, height).
inline rowan::Tensor<std::int64_t> numbers(std::size_t n, std::size_t height) {
    auto t = rowan::Tensor<std::int64_t>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) t(i) = static_cast<std::int64_t>(i * 7919 % height);
    return t;
}

/// The least milliseconds of a call in several turns of several calls; the first turn is not counted.
template <class F>
double least_ms(std::size_t turns, std::size_t calls, F const& run) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t turn = 0; turn <= turns; ++turn) {
        auto const start = std::chrono::steady_clock::now();
        for (std::size_t call = 0; call < calls; ++call) {
            auto const result = run();
            asm volatile("" : : "r"(&result) : "memory");
        }
        std::chrono::duration<double, std::milli> const ms = std::chrono::steady_clock::now() - start;
        if (turn != 0) least = std::min(least, ms.count() / static_cast<double>(calls));
    }
    return least;
}

}  // namespace bench
