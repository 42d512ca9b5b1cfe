// tests/bench/op/tensors.cpp: operators on large tensors, and their gradients. A line of JSON for each case;
// tests/bench/tensors.py runs the same cases with PyTorch.
#include "calls.hpp"

#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/dropout.hpp>
#include <rowan/op/elementwise/gelu.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/sigmoid.hpp>
#include <rowan/op/loss/cross_entropy.hpp>
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/matrix/matmul.hpp>
#include <rowan/op/norm/batch_norm.hpp>
#include <rowan/op/norm/layer_norm.hpp>
#include <rowan/op/norm/log_softmax.hpp>
#include <rowan/op/norm/softmax.hpp>
#include <rowan/op/recurrent/gru_unit.hpp>
#include <rowan/op/recurrent/lstm_unit.hpp>
#include <rowan/op/reduce/argmax.hpp>
#include <rowan/op/reduce/cumsum.hpp>
#include <rowan/op/reduce/reduce.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>
#include <rowan/op/reduce/top_k.hpp>
#include <rowan/op/sequence/sequence_attention.hpp>
#include <rowan/op/shape/transpose.hpp>
#include <rowan/op/table/embedding_bag.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using bench::filled, bench::numbers;
using rowan::Lod, rowan::LoDTensor, rowan::Tensor;

template <class V>
std::tuple<V> as_tuple(V value) {
    return {std::move(value)};
}
template <class... V>
std::tuple<V...> as_tuple(std::tuple<V...> values) {
    return values;
}

struct Bench {
    rowan::Cpu exec;
    bool tiny;
    std::size_t n = tiny ? 64 : 4096, batch = tiny ? 4 : 64, turns = tiny ? 1 : 30;
    Tensor<float> x = filled({n, 256}), row = filled({256}), column = filled({n, 1}), cube = filled({batch, 128, 256});

    template <class F>
    void measure(std::string const& op, F const& run) const {
        std::printf("{\"op\": \"%s\", \"ms_min\": %.6f}\n", op.c_str(), bench::least_ms(turns, 1, run));
        std::fflush(stdout);
    }

    /// Measures run(in...), and the gradients of its inputs. The gradient of a result is the result.
    template <class Op, class F, class... In>
    void with_gradient(std::string const& op, F const& run, rowan::attributes_of<Op> const& attributes,
                       In const&... in) const {
        measure(op, [&] { return run(in...); });
        auto const out = as_tuple(run(in...));
        measure(op + ", gradient", [&] { return rowan::gradients<Op>(exec, std::tie(in...), out, out, attributes); });
    }
};

void elements(Bench const& bench) {
    auto const& exec = bench.exec;
    auto const& x = bench.x;
    bench.measure("[4096, 256] + [256]", [&] { return rowan::add(exec, x, bench.row); });
    bench.with_gradient<rowan::mul_op>(
        "[4096, 256] * [4096, 1]", [&](auto const&... in) { return rowan::mul(exec, in...); }, {}, x, bench.column);
    auto const gelu = [&](auto const& in) { return rowan::gelu(exec, in); };
    bench.with_gradient<rowan::gelu_op>("gelu [4096, 256]", gelu, {}, x);
    bench.measure("gelu, by tanh [4096, 256]", [&] { return rowan::gelu(exec, x, {.approximate = true}); });
    auto const sigmoid = [&](auto const& in) { return rowan::sigmoid(exec, in); };
    bench.with_gradient<rowan::sigmoid_op>("sigmoid [4096, 256]", sigmoid, {}, x);
    bench.measure("dropout [4096, 256]", [&] { return rowan::dropout(exec, x, 0.5, 1); });
    auto const [kept, mask] = rowan::dropout(exec, x, 0.5, 1);
    bench.measure("dropout [4096, 256], gradient", [&] { return rowan::dropout_grad(exec, mask, kept, 0.5); });
}

void reductions(Bench const& bench) {
    auto const& exec = bench.exec;
    auto const& x = bench.x;
    bench.measure("reduce_sum [4096, 256], axis 0", [&] { return rowan::reduce_sum(exec, x, {.axes = {0}}); });
    bench.measure("reduce_sum [4096, 256], axis 1", [&] { return rowan::reduce_sum(exec, x, {.axes = {1}}); });
    bench.measure("reduce_mean [4096, 256], axis 0", [&] { return rowan::reduce_mean(exec, x, {.axes = {0}}); });
    bench.measure("reduce_mean [4096, 256], axis 1", [&] { return rowan::reduce_mean(exec, x, {.axes = {1}}); });
    bench.measure("reduce_sum [64, 128, 256], axis 1",
                  [&] { return rowan::reduce_sum(exec, bench.cube, {.axes = {1}}); });
    auto const greatest = [&](auto const& in) { return rowan::reduce_max(exec, in, {.axes = {1}}); };
    bench.with_gradient<rowan::reduce_max_op>("reduce_max [4096, 256], axis 1", greatest, {.axes = {1}}, x);
    bench.measure("argmax [4096, 256], axis 1", [&] { return rowan::argmax(exec, x, {.axis = 1}); });
    auto const five = [&](auto const& in) { return rowan::top_k(exec, in, {.k = 5}); };
    bench.with_gradient<rowan::top_k_op>("top_k [4096, 256], k 5", five, {.k = 5}, x);
    auto const running = [&](auto const& in) { return rowan::cumsum(exec, in, {.axis = 1}); };
    bench.with_gradient<rowan::cumsum_op>("cumsum [4096, 256], axis 1", running, {.axis = 1}, x);
}

void matrices(Bench const& bench) {
    auto const& exec = bench.exec;
    auto const square = filled({bench.n, bench.n}), a = filled({bench.batch, 128, 64}),
               b = filled({bench.batch, 64, 128});
    bench.measure("transpose [4096, 4096]", [&] { return rowan::transpose(exec, square); });
    bench.measure("transpose [64, 128, 256], axes 1 and 2", [&] {
        return rowan::transpose(exec, bench.cube, {.perm = {0, 2, 1}});
    });
    bench.measure("matmul [64, 128, 64], [64, 64, 128]", [&] { return rowan::matmul(exec, a, b); });
}

void norms(Bench const& bench) {
    auto const& exec = bench.exec;
    auto const& x = bench.x;
    auto const softmax = [&](auto const& in) { return rowan::softmax(exec, in); };
    bench.with_gradient<rowan::softmax_op>("softmax [4096, 256]", softmax, {}, x);
    bench.measure("softmax [64, 128, 256], axis 1", [&] { return rowan::softmax(exec, bench.cube, {.axis = 1}); });
    auto const log_softmax = [&](auto const& in) { return rowan::log_softmax(exec, in); };
    bench.with_gradient<rowan::log_softmax_op>("log_softmax [4096, 256]", log_softmax, {}, x);
    auto const loss = [&](auto const&... in) { return rowan::cross_entropy(exec, in...); };
    bench.with_gradient<rowan::cross_entropy_op>("cross_entropy [4096, 256]", loss, {}, x, numbers(bench.n, 256));
    auto const layer_norm = [&](auto const&... in) { return rowan::layer_norm(exec, in...); };
    bench.with_gradient<rowan::layer_norm_op>("layer_norm [4096, 256]", layer_norm, {}, x, bench.row, bench.row);
    auto const mean = Tensor<float>::zeros({256}), variance = Tensor<float>::full({256}, 1.0f);
    bench.measure("batch_norm [4096, 256]",
                  [&] { return rowan::batch_norm(exec, x, bench.row, bench.row, mean, variance, {}, true); });
    bench.measure("batch_norm [4096, 256], gradient",
                  [&] { return rowan::batch_norm_grad(exec, x, bench.row, mean, variance, x, {}, true); });
}

void sequences(Bench const& bench) {
    auto const& exec = bench.exec;
    std::size_t const bags = bench.tiny ? 64 : 16'384, height = bench.tiny ? 1000 : 100'000;
    LoDTensor<std::int64_t> const ids(numbers(16 * bags, height),
                                      Lod::from_lengths({std::vector<std::int64_t>(bags, 16)}));
    auto const bag = [&](auto const&... in) { return rowan::embedding_bag(exec, in...); };
    bench.with_gradient<rowan::embedding_bag_op>("embedding_bag [100000, 64], 16384 bags of 16", bag, {},
                                                 filled({height, 64}), ids);
    auto const rows = [&] {
        auto lod = Lod::from_lengths({std::vector<std::int64_t>(bench.batch, 128)});
        return LoDTensor<float>(filled({bench.batch * 128, 64}), std::move(lod));
    };
    auto const attention = [&](auto const& q, auto const& k, auto const& v) {
        return rowan::sequence_attention(exec, q, k, v.value());
    };
    bench.with_gradient<rowan::sequence_attention_op>("sequence_attention [64, 128, 64]", attention, {}, rows(), rows(),
                                                      rows());
}

/// A step of a recurrent cell, with the products of its input x and of the states, which are as large, and the gradients of
/// both and of all weights.
template <class Op, class F, class... State>
void cell(Bench const& bench, std::string const& op, std::size_t gates, F const& unit, Tensor<float> const& x,
          State const&... states) {
    auto const& exec = bench.exec;
    std::size_t const size = x.shape(0), width = gates * size;
    auto const small = [](Tensor<float>::shape_type const& shape) {  // so that no gate is 0 or 1
        auto t = filled(shape);
        for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] /= 32;
        return t;
    };
    auto const x_weight = small({size, width}), weight = small({size, width}), x_bias = small({width}),
               bias = small({width});
    auto const product = [&] { return rowan::fc(exec, x, x_weight, x_bias); };
    auto const run = [&](auto const& from_x) { return unit(exec, from_x, states..., weight, bias); };
    bench.measure(op, [&] { return run(product()); });
    auto const from_x = product();
    auto const out = run(from_x);
    bench.measure(op + ", gradient", [&] {
        auto inner = rowan::gradients<Op>(exec, std::tie(from_x, states..., weight, bias), out, out);
        auto outer = rowan::gradients<rowan::fc_op>(exec, std::tie(x, x_weight, x_bias), std::tie(from_x),
                                                    std::tie(std::get<0>(inner)));
        return std::pair(std::move(inner), std::move(outer));
    });
}

void cells(Bench const& bench) {
    std::size_t const size = bench.tiny ? 16 : 256;
    auto const x = filled({size, size});
    auto const lstm = [](auto const&... in) { return rowan::lstm_unit(in...); };
    cell<rowan::lstm_unit_op>(bench, "LSTM cell [256, 256]", 4, lstm, x, x, x);
    auto const gru = [](auto const&... in) { return rowan::gru_unit(in...); };
    cell<rowan::gru_unit_op>(bench, "GRU cell [256, 256]", 3, gru, x, x);
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options const options(argc, argv);
    Bench const bench{options.exec, options.tiny};
    for (auto* const cases : {elements, reductions, matrices, norms, sequences, cells}) cases(bench);
}
