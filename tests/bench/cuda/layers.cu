// tests/bench/cuda/layers.cu: times softmax, norms, attention and recurrent cells on a GPU, forward and backward.
#include "clock.hpp"

namespace bench {

void layers(Gpu const& exec, Report const& report, bool tiny) {
    std::size_t const sets = 3, scale = tiny ? 64 : 1;
    Clock clock(exec, sets);
    for (std::size_t const width : {std::size_t{64}, std::size_t{1000}}) {
        std::size_t const n = 65'536 / scale;
        auto const at = std::to_string(n) + " rows of " + std::to_string(width);
        auto const x = numbers(exec, {n, width}, -4, 4);
        auto const g = numbers(exec, {n, width}, -1, 1);
        auto const w = numbers(exec, {width}, 0.5f, 1.5f), b = numbers(exec, {width}, -1, 1);
        double const bytes = static_cast<double>(x.size() * sizeof(float));
        auto const y = rowan::softmax(exec, x);
        report("softmax", at, clock([&](std::size_t) { rowan::softmax(exec, x); }), 2 * bytes);
        report("softmax_grad", at, clock([&](std::size_t) { rowan::softmax_grad(exec, y, g); }), 3 * bytes);
        report("layer_norm", at, clock([&](std::size_t) { rowan::layer_norm(exec, x, w, b); }), 2 * bytes);
        report("sigmoid", at, clock([&](std::size_t) { rowan::sigmoid(exec, x); }), 2 * bytes);
    }
    for (std::size_t const n : {256 / scale, 8192 / scale}) {
        std::size_t const size = 512 / scale;
        auto const at = std::to_string(n) + " rows of " + std::to_string(size);
        auto const h = numbers(exec, {n, size}, -1, 1), c = numbers(exec, {n, size}, -1, 1);
        auto const x3 = numbers(exec, {n, 3 * size}, -1, 1), w3 = numbers(exec, {size, 3 * size}, -0.05f, 0.05f), b3 = numbers(exec, {3 * size}, -1, 1);
        auto const x4 = numbers(exec, {n, 4 * size}, -1, 1), w4 = numbers(exec, {size, 4 * size}, -0.05f, 0.05f), b4 = numbers(exec, {4 * size}, -1, 1);
        report("GRU cell", at, clock([&](std::size_t) { rowan::gru_unit(exec, x3, h, w3, b3); }));
        report("LSTM cell", at, clock([&](std::size_t) { rowan::lstm_unit(exec, x4, h, c, w4, b4); }));
    }
    for (std::int64_t const length : {32, 256}) {
        std::size_t const sequences = 64 * 256 / static_cast<std::size_t>(length) / scale + 1, width = 512;
        auto const lod = rowan::Lod::from_lengths({std::vector<std::int64_t>(sequences, length)});
        auto const rows = static_cast<std::size_t>(lod.rows());
        auto const at = std::to_string(sequences) + " sequences of " + std::to_string(length);
        rowan::LoDTensor<float, Gpu> const q(numbers(exec, {rows, width}, -1, 1), lod), k(numbers(exec, {rows, width}, -1, 1), lod);
        auto const v = numbers(exec, {rows, width}, -1, 1), g = numbers(exec, {rows, width}, -1, 1);
        rowan::SequenceAttentionOptions const options{.heads = 8, .scale = 0.125};
        report("attention", at, clock([&](std::size_t) { rowan::sequence_attention(exec, q, k, v, options); }));
        report("attention_grad", at, clock([&](std::size_t) { rowan::sequence_attention_grad(exec, q, k, v, g, options); }));
    }
}

}  // namespace bench
