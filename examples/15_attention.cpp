// An encoder and a decoder with attention learn to sort: in each step the decoder looks at all numbers of its own sequence.
//     numbers   7 3 9     5    2 8 2 4      one level: sequences of different lengths, without padding
//     before    0 3 7     0    0 2 2 4      the number that the decoder wrote before, 0 at first
//     sorted    3 7 9     5    2 2 4 8      the number that it writes
#include <rowan/rowan.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <ranges>
#include <span>
#include <vector>

namespace layer = rowan::layer;
using rowan::Feeds, rowan::UNK;
using Sequences = std::vector<std::vector<std::int64_t>>;

Sequences sequences(std::int64_t seed) {
    std::minstd_rand random(static_cast<unsigned>(seed));  // the same numbers on every machine
    Sequences all(64);
    for (auto& s : all)
        for (s.resize(1 + random() % 8); auto& number : s) number = 1 + static_cast<std::int64_t>(random() % 20);
    return all;
}
rowan::LoDTensor<std::int64_t> ids(Sequences const& all) { return rowan::LoDTensor<std::int64_t>::from_nested(all); }

Feeds batch(Sequences const& numbers) {
    Sequences sorted = numbers, before(numbers.size(), {0});
    for (std::size_t s = 0; s < numbers.size(); ++s) {
        std::ranges::sort(sorted[s]);
        before[s].insert(before[s].end(), sorted[s].begin(), sorted[s].end() - 1);
    }
    return {{"numbers", ids(numbers)}, {"before", ids(before)}, {"sorted", ids(sorted)}};
}

int main() {
    auto const numbers = layer::data<std::int64_t>("numbers", {UNK}, 1), before = layer::data<std::int64_t>("before", {UNK}, 1);
    auto const encoded = layer::gru(layer::embedding(numbers, {.height = 21, .width = 32}), {.size = 32});
    auto const decoded = layer::gru(layer::embedding(before, {.height = 21, .width = 32}), {.size = 32});
    auto const found = layer::sequence_attention(layer::fc(decoded, {.output_size = 32}), encoded, encoded);  // a row for each of decoded
    auto const scores = layer::fc(layer::tanh(layer::fc(layer::concat({decoded, found}, {.axis = 1}), {.output_size = 64})), {.output_size = 21});
    auto const cost = layer::cross_entropy(scores, layer::data<std::int64_t>("sorted", {UNK}, 1));
    auto const batches = [](std::int64_t epoch) {
        return std::views::iota(100 * epoch + 1, 100 * epoch + 101) | std::views::transform([](auto seed) { return batch(sequences(seed)); });
    };
    rowan::Predictor const predict(scores, rowan::train(cost, batches, {.optimizer = layer::Adam{.learning_rate = 0.005}, .epochs = 10}));

    int right = 0;
    for (auto const& asked : sequences(999)) {
        Sequences answer{{0}};
        while (answer[0].size() <= asked.size()) {  // the most probable number is next
            auto const rows = predict({{"numbers", ids({asked})}, {"before", ids(answer)}}).value();
            std::span const last = std::span(rows.data(), rows.size()).last(21);
            answer[0].push_back(std::ranges::max_element(last) - last.begin());
        }
        right += std::ranges::is_sorted(answer[0]) && std::ranges::is_permutation(asked, answer[0] | std::views::drop(1));
    }
    std::printf("of 64 new sequences, %s are sorted without a mistake\n", right >= 60 ? "at least 60" : "too few");
}
