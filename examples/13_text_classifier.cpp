// A text classifier: an embedding with a row-sparse gradient, a GRU over sentences of different lengths, a model file.
//     "not very good" -> 1 2 4   words [n], 1 level --embedding--> [n, 8] --GRU--> states [b, 16] --fc--> logits [b, 2]
//     "good"          -> 4
#include <rowan/io.hpp>
#include <rowan/rowan.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace layer = rowan::layer;
using rowan::Feeds, rowan::LoDTensor, rowan::Tensor, rowan::UNK;

// 1 = not, 2 = very, 3 = bad, 4 = good; label 1 = positive
Feeds const reviews{{"words", LoDTensor<std::int64_t>::from_nested({{4}, {3}, {1, 4}, {1, 3}, {2, 4}, {2, 3}, {1, 2, 4}, {1, 2, 3}})},
                    {"label", Tensor<std::int64_t>{1, 0, 0, 1, 1, 0, 0, 1}}};

int main() {
    auto words = layer::data<std::int64_t>("words", {UNK}, 1);  // 1 level: a batch of sentences
    auto rows = layer::embedding(words, {.height = 5, .width = 8});
    auto states = layer::rnn_with_last(rows, 16, [](auto x, auto state) {
        auto next = layer::gru_unit(x, state, {.size = 16});
        return layer::Step{next, next};  // the output of the step, the state of the next one
    });
    auto logits = layer::fc(states.last, {.output_size = 2});
    auto cost = layer::cross_entropy(logits, layer::data<std::int64_t>("label", {UNK}));

    auto parameters = rowan::train(cost, [](std::int64_t) { return std::vector(100, reviews); }, {.optimizer = layer::Adam{.learning_rate = 0.01}});
    rowan::save_model(layer::softmax(logits), parameters, "reviews.rowan");

    rowan::Predictor const predict(rowan::load_model("reviews.rowan"));  // another program needs this line and the next one
    auto answers = predict({{"words", LoDTensor<std::int64_t>::from_nested({{1, 2, 4}, {4}})}});
    std::printf("\"not very good\" is positive: %.1f\n\"good\" is positive: %.1f\n", answers.value()(0, 1), answers.value()(1, 1));
    std::remove("reviews.rowan");
}
