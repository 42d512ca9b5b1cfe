// A text classifier in twenty lines: sentences of different lengths, a table of which a batch changes some rows, a model file.
//     "not very good" -> 1 2 4   words [n], 1 level --embedding--> [n, 8] --GRU--> [n, 16] --last--> [b, 16] --fc--> logits [b, 2]
//     "good"          -> 4
#include <rowan/io.hpp>
#include <rowan/rowan.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

using namespace rowan;

int main() {
    // 1 = not, 2 = very, 3 = bad, 4 = good; label 1 = positive
    auto reviews = LoDTensor<std::int64_t>::from_nested({{4}, {3}, {1, 4}, {1, 3}, {2, 4}, {2, 3}, {1, 2, 4}, {1, 2, 3}});
    Feeds const batch{{"words", reviews}, {"label", Tensor<std::int64_t>{1, 0, 0, 1, 1, 0, 0, 1}}};

    auto words = layer::data<std::int64_t>("words", {UNK}, 1);  // sentences of any lengths, without padding
    auto states = layer::gru(layer::embedding(words, {.height = 5, .width = 8}), {.size = 16});
    auto logits = layer::fc(layer::sequence_pool(states, {.pool = Pooling::last}), {.output_size = 2});
    auto cost = layer::cross_entropy(logits, layer::data<std::int64_t>("label", {UNK}));

    auto parameters = train(cost, [&](std::int64_t) { return std::vector(100, batch); }, {.optimizer = layer::Adam{.learning_rate = 0.01}});
    save_model(layer::softmax(logits), parameters, "sentiment.rowan");

    Predictor const predict(load_model("sentiment.rowan"));  // another program needs this line and the next one
    auto answers = predict({{"words", LoDTensor<std::int64_t>::from_nested({{1, 2, 4}, {4}})}});
    std::printf("\"not very good\" is positive: %.1f\n\"good\" is positive: %.1f\n", answers.value()(0, 1), answers.value()(1, 1));
    std::remove("sentiment.rowan");
}
