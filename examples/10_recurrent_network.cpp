// The recurrent networks of the design documents: a step is an expression of a memory and the step's input, nullptr.
//     movements of four accounts      the first net: the balance after each      the second: what is there at the end
//       +3 -1 +2                        3  2  4                                     4
//       -2                             -2                                          -2
//                                                                                   0
//       +1 +1                           1  2                                        2
#include <rowan/rowan.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace layer = rowan::layer;
using rowan::Feeds, rowan::LoDTensor, rowan::Tensor, rowan::UNK;

Feeds batch(std::vector<std::vector<float>> const& accounts) {
    auto const moves = LoDTensor<float>::from_nested(accounts);
    std::size_t const n = moves.value().size();
    auto x = moves.value().reshaped({n, 1}), balances = Tensor<float>::from_shape({n, 1}), ends = Tensor<float>::zeros({accounts.size(), 1});
    std::size_t row = 0;
    for (std::size_t a = 0; a < accounts.size(); ++a) {
        for (float const move : accounts[a]) balances(row++, 0) = ends(a, 0) += move;
    }
    return {{"x", LoDTensor<float>(x, moves.lod())}, {"balances", LoDTensor<float>(balances, moves.lod())}, {"ends", ends}};
}

std::vector<Feeds> batches(std::int64_t epoch) {
    std::minstd_rand random(static_cast<unsigned>(epoch + 1));  // the same numbers on every machine
    std::vector<Feeds> all;
    for (int b = 0; b < 50; ++b) {
        std::vector<std::vector<float>> accounts(16);
        for (auto& account : accounts) {
            account.resize(1 + random() % 6);
            for (float& move : account) move = static_cast<float>(random() % 2001) / 1000 - 1;
        }
        all.push_back(batch(accounts));
    }
    return all;
}

int main() {
    auto memory = layer::tensor();
    auto states = layer::rnn({.input = layer::fc(layer::data("x", {UNK, 1}, 1), {.output_size = 8}),
                              .step_net = layer::fc(layer::add_to(memory, nullptr), {.output_size = 8}),
                              .concat_output = true});
    auto balance = layer::fc(states, {.output_size = 1}), end = layer::fc(memory, {.output_size = 1});

    auto cost_1 = layer::mse(balance, layer::data("balances", {UNK, 1}, 1)), cost_2 = layer::mse(end, layer::data("ends", {UNK, 1}));
    rowan::TrainOptions const options{.optimizer = layer::Adam{.learning_rate = 0.01}, .epochs = 8};
    auto first = rowan::train(cost_1, batches, options), second = rowan::train(cost_2, batches, options);

    auto const asked = batch({{3, -1, 2}, {-2}, {}, {1, 1}});
    for (auto const& y : {rowan::infer(balance, asked, first), rowan::infer(end, asked, second)}) {
        for (float const v : y.value()) std::printf("%ld ", std::lround(v));
        std::printf("\n");
    }
}
