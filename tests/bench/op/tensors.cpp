// tests/bench/op/tensors.cpp: broadcasting, reductions, transposes, products of batches and functions of elements. A line
// of JSON for each case; tests/bench/tensors.py runs the same cases with PyTorch.
#include <rowan/op/elementwise/exp.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/pow.hpp>
#include <rowan/op/elementwise/relu.hpp>
#include <rowan/op/elementwise/rounding.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/elementwise/sin.hpp>
#include <rowan/op/elementwise/softplus.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/norm/log_softmax.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/reduce/reduce.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>
#include <rowan/op/norm/softmax.hpp>
#include <rowan/op/loss/cross_entropy.hpp>
#include <rowan/op/shape/transpose.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace {

using rowan::Tensor;
using Shape = Tensor<float>::shape_type;

Tensor<float> filled(Shape const& shape) {
    auto t = Tensor<float>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<float>(i * 7919 % 1000) / 250 - 2;
    return t;
}

/// The least time of several calls; the first one is not counted.
template <class F>
void measure(char const* op, std::size_t turns, F const& run) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t turn = 0; turn <= turns; ++turn) {
        auto const start = std::chrono::steady_clock::now();
        auto const result = run();
        std::chrono::duration<double, std::milli> const ms = std::chrono::steady_clock::now() - start;
        asm volatile("" : : "r"(&result) : "memory");
        if (turn != 0) least = std::min(least, ms.count());
    }
    std::printf("{\"op\": \"%s\", \"ms_min\": %.6f}\n", op, least);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    rowan::Cpu exec{.threads = 1};
    bool tiny = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        tiny = tiny || word == "--tiny";
        if (word == "--threads" && i + 1 < argc) exec.threads = std::atoi(argv[++i]);
    }
    std::size_t const n = tiny ? 64 : 4096, batch = tiny ? 4 : 64, turns = tiny ? 1 : 30;
    auto const x = filled({n, 256}), row = filled({256}), column = filled({n, 1}), square = filled({n, n}),
               cube = filled({batch, 128, 256}), a = filled({batch, 128, 64}), b = filled({batch, 64, 128});
    auto label = Tensor<std::int64_t>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) label(i) = static_cast<std::int64_t>(i * 7 % 256);
    measure("[4096, 256] + [256]", turns, [&] { return rowan::add(exec, x, row); });
    measure("[4096, 256] * [4096, 1]", turns, [&] { return rowan::mul(exec, x, column); });
    measure("reduce_sum [4096, 256], axis 0", turns, [&] { return rowan::reduce_sum(exec, x, {.axes = {0}}); });
    measure("reduce_sum [4096, 256], axis 1", turns, [&] { return rowan::reduce_sum(exec, x, {.axes = {1}}); });
    measure("reduce_mean [4096, 256], axis 0", turns, [&] { return rowan::reduce_mean(exec, x, {.axes = {0}}); });
    measure("reduce_mean [4096, 256], axis 1", turns, [&] { return rowan::reduce_mean(exec, x, {.axes = {1}}); });
    measure("reduce_sum [64, 128, 256], axis 1", turns, [&] { return rowan::reduce_sum(exec, cube, {.axes = {1}}); });
    measure("reduce_max [4096, 256], axis 1", turns, [&] { return rowan::reduce_max(exec, x, {.axes = {1}}); });
    measure("transpose [4096, 4096]", tiny ? 1 : 5, [&] { return rowan::transpose(exec, square); });
    measure("transpose [64, 128, 256], axes 1 and 2", turns,
            [&] { return rowan::transpose(exec, cube, {.perm = {0, 2, 1}}); });
    measure("matmul [64, 128, 64], [64, 64, 128]", turns, [&] { return rowan::matmul(exec, a, b); });
    measure("softmax [4096, 256]", turns, [&] { return rowan::softmax(exec, x); });
    measure("softmax [64, 128, 256], axis 1", turns, [&] { return rowan::softmax(exec, cube, {.axis = 1}); });
    measure("log_softmax [4096, 256]", turns, [&] { return rowan::log_softmax(exec, x); });
    measure("cross_entropy [4096, 256]", turns,
            [&] { return rowan::cross_entropy(exec, x, label); });
    measure("gelu [4096, 256]", turns, [&] { return rowan::gelu(exec, x); });
    measure("gelu, by tanh [4096, 256]", turns, [&] { return rowan::gelu(exec, x, {.approximate = true}); });
}
