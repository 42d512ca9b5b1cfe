// A recurrent loop over three sentences of different lengths, without padding: longest first, so steps only shrink.
//
//     input     [1 2 3] [10] [4 5]      steps   0: 1 4 10      output of a row: half the one before it, plus the row
//     order     0 2 1                           1: 2 5
//                                               2: 3
#include <rowan/sequence.hpp>

#include <iostream>

using rowan::LoDTensor, rowan::Tensor, rowan::TensorArray;

Tensor<float> rnn_step(Tensor<float> const& input, Tensor<float> const& state) { return input + 0.5f * state; }

void print(char const* name, Tensor<float> const& rows) {
    std::cout << name;
    for (float x : rows) std::cout << ' ' << x;
    std::cout << '\n';
}

int main() {
    LoDTensor<float> sentences(Tensor<float>{{1}, {2}, {3}, {10}, {4}, {5}}, rowan::Lod::from_lengths({{3, 1, 2}}));
    Tensor<float> boot_state{{0}, {100}, {0}};  // one row per sentence

    auto [steps, map] = TensorArray<float>::unpack(sentences, {.level = 0, .sort_by_length = true});
    TensorArray<float> states, outputs;
    Tensor<float> state = reorder(boot_state, map);  // into the order of the steps
    for (std::size_t t = 0; t < steps.size(); ++t) {
        print("step", steps.read(t));
        state = rnn_step(steps.read(t), shrink(state, map, t));  // sentences that have ended leave
        states.write(t, state);
        outputs.write(t, state);
    }
    LoDTensor<float> result = outputs.pack(0, map);  // the sentences, in their own order

    for (std::size_t i = 0; i < result.size(); ++i) {
        auto const begin = static_cast<std::size_t>(result.lod()[0][i]), end = static_cast<std::size_t>(result.lod()[0][i + 1]);
        print("sentence", result.value().slice(begin, end));
    }
}
