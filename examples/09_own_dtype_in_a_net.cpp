// A net of an element type of one's own: 16 bits hold a sign and a logarithm, so that all numbers have the same relative error, 1 in
// 3000, and parameters take half the memory of float. Sums are formed in float. What it learns, and what it is asked in the end:
//     film good   1    film bad   -1    film not good   -1    film not bad   1        book not bad   ?
//     book good   1    book bad   -1    book not good   -1                            play not bad   ?
//     play good   1    play bad   -1    play not good   -1
#include <rowan/io/model.hpp>
#include <rowan/rowan.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

struct log16 {
    std::int16_t code;  // 0 for zero, else ±(16384 + 1024 * log2 |x|): |x| from 2^-16 to 2^16
};

template <>
struct rowan::dtype<log16> {
    using sum = float;
    static constexpr std::string_view name = "log16";
    static constexpr std::int32_t wire = 1000;
    static sum widen(log16 x) {
        sum const size = std::exp2((static_cast<sum>(std::abs(x.code)) - 16384) / 1024);
        return x.code == 0 ? 0 : x.code < 0 ? -size : size;
    }
    static log16 narrow(sum x) {
        sum const code = std::clamp(std::nearbyint(16384 + 1024 * std::log2(std::abs(x))), 0.0f, 32767.0f);
        return {static_cast<std::int16_t>(x < 0 ? -code : code)};
    }
};

namespace layer = rowan::layer;
using rowan::LoDTensor, rowan::Tensor, rowan::UNK;
enum : std::int64_t { film, book, play, good, bad, no };

int main() {
    auto words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto rows = layer::embedding_bag<log16>(words, {.height = 6, .width = 8}, {rowan::Pool::sum});  // its gradient: SelectedRows<log16>
    auto predict = layer::fc(layer::tanh(layer::fc(rows, {.output_size = 16})), {.output_size = 1});
    auto cost = layer::mse(predict, layer::data<log16>("liked", {UNK, 1}));

    auto sentences = LoDTensor<std::int64_t>::from_nested({{film, good}, {book, good}, {play, good}, {film, bad}, {book, bad},
        {play, bad}, {film, no, good}, {book, no, good}, {play, no, good}, {film, no, bad}});
    std::vector<rowan::Feeds> batches{
        {{"words", sentences}, {"liked", Tensor<log16>{{1}, {1}, {1}, {-1}, {-1}, {-1}, {-1}, {-1}, {-1}, {1}}}}};
    auto parameters = rowan::train(cost, [&](std::int64_t) { return batches; }, {
        .optimizer = layer::Optimizer(layer::AdaGrad{.learning_rate = 0.1}, rowan::dtypes<log16>{}),
        .epochs = 300,
    });
    rowan::save_model(predict, parameters, "09_own_dtype.rowan");

    rowan::Feeds asked{{"words", LoDTensor<std::int64_t>::from_nested({{film, bad}, {book, no, bad}, {play, no, bad}})}};
    auto answers = rowan::infer(predict, asked, rowan::load_model(predict, "09_own_dtype.rowan"));
    for (std::size_t i = 0; i < 3; ++i) {
        float const x = rowan::dtype<log16>::widen(answers.value()(i, 0));
        std::printf("%s: %s\n", i == 0 ? "film bad" : i == 1 ? "book not bad" : "play not bad", x > 0 ? "liked" : "not liked");
    }
}
