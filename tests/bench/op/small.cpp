// tests/bench/op/small.cpp: calls with 1, 16 and 1,024 rows of 64 floats, whose fixed costs show. A line of JSON for each
// case; tests/bench/tensors.py --small runs the same cases with PyTorch.
#include "calls.hpp"

#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/clip.hpp>
#include <rowan/op/elementwise/exp.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/pow.hpp>
#include <rowan/op/elementwise/relu.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/op/loss/cross_entropy.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/norm/layer_norm.hpp>
#include <rowan/op/norm/log_softmax.hpp>
#include <rowan/op/norm/softmax.hpp>
#include <rowan/op/reduce/argmax.hpp>
#include <rowan/op/reduce/cumsum.hpp>
#include <rowan/op/reduce/reduce.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>
#include <rowan/op/reduce/top_k.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/shape/transpose.hpp>
#include <rowan/sparse/gather.hpp>

#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

using bench::filled, bench::numbers;

void measure(bench::Options const& options, std::size_t rows) {
    auto const& exec = options.exec;
    std::size_t const turns = options.tiny ? 1 : 20, calls = options.tiny ? 1 : rows == 1024 ? 30 : 1000;
    auto const one = [&](char const* op, auto const& run) {
        std::printf("{\"op\": \"%s\", \"rows\": %zu, \"ms_min\": %.7f}\n", op, rows,
                    bench::least_ms(turns, calls, run));
        std::fflush(stdout);
    };
    auto const x = filled({rows, 64}), y = filled({rows, 64}), w = filled({64}), b = filled({64}),
               square = filled({64, 64}), table = filled({10'000, 64});
    auto const positive = rowan::exp(x);
    auto const label = numbers(rows, 64), ids = numbers(rows, 10'000);
    std::vector<rowan::Tensor<float>> parts;
    for (int part = 0; part < 2; ++part) parts.push_back(filled({rows, 64}));
    one("add", [&] { return rowan::add(exec, x, y); });
    one("mul", [&] { return rowan::mul(exec, x, y); });
    one("exp", [&] { return rowan::exp(exec, x); });
    one("sqrt", [&] { return rowan::sqrt(exec, positive); });
    one("clip", [&] { return rowan::clip(exec, x, {.min = -1, .max = 1}); });
    one("sigmoid", [&] { return rowan::sigmoid(exec, x); });
    one("tanh", [&] { return rowan::tanh(exec, x); });
    one("relu", [&] { return rowan::relu(exec, x); });
    one("gelu", [&] { return rowan::gelu(exec, x); });
    one("softmax", [&] { return rowan::softmax(exec, x); });
    one("log_softmax", [&] { return rowan::log_softmax(exec, x); });
    one("layer_norm", [&] { return rowan::layer_norm(exec, x, w, b); });
    one("cross_entropy", [&] { return rowan::cross_entropy(exec, x, label); });
    one("reduce_sum, axis 1", [&] { return rowan::reduce_sum(exec, x, {.axes = {1}}); });
    one("reduce_max, axis 1", [&] { return rowan::reduce_max(exec, x, {.axes = {1}}); });
    one("argmax, axis 1", [&] { return rowan::argmax(exec, x, {.axis = 1}); });
    one("top_k, k 5", [&] { return rowan::top_k(exec, x, {.k = 5}); });
    one("cumsum, axis 1", [&] { return rowan::cumsum(exec, x, {.axis = 1}); });
    one("matmul, [64, 64]", [&] { return rowan::matmul(exec, x, square); });
    one("gather of [10000, 64]", [&] { return rowan::gather(exec, table, ids); });
    one("transpose", [&] { return rowan::transpose(exec, x); });
    one("concat of 2, axis 1", [&] { return rowan::concat(exec, parts, 1); });
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options const options(argc, argv);
    for (std::size_t const rows : {1, 16, 1024}) measure(options, rows);
}
