// A net of a custom element type: a posit of 8 bits, with numbers from 1/4096 to 4096, dense around 1 (1/16 apart).
// Sums are computed in float; parameters and gradients need a quarter of float's memory. The net learns:
//     film good   1    film bad   -1    film not good   -1    film not bad   1        asked: book not bad ?
//     book good   1    book bad   -1    book not good   -1                                   play not bad ?
//     play good   1    play bad   -1    play not good   -1
#include <rowan/io/model.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/rowan.hpp>

#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

struct posit8 {
    std::int8_t code;  // codes are in the order of the numbers; 0 is zero, -128 is not a number
};

template <>
struct rowan::dtype<posit8> {
    using sum = float;
    static constexpr std::string_view name = "posit8";
    static constexpr std::int32_t wire = 1000;
    static sum number(int code) {  // of 1 to 127: a run of equal bits and its end tell the power of 4, a bit one of 2, then the fraction
        auto const bits = static_cast<std::uint8_t>(code << 1);
        int const run = bits >= 128 ? std::countl_one(bits) : std::countl_zero(bits);
        auto const rest = static_cast<std::uint8_t>(bits << (run + 1));
        return std::ldexp(1 + static_cast<sum>(rest & 127) / 128, 2 * (bits >= 128 ? run - 1 : -run) + (rest >> 7));
    }
    static sum widen(posit8 x) { return x.code > 0 ? number(x.code) : x.code == 0 ? 0 : x.code == -128 ? NAN : -number(-x.code); }
    static posit8 narrow(sum x) {  // to a neighbour, the nearer the likelier, so that small steps are not lost; the dice are bits of x
        if (x == 0 || std::isnan(x)) return {static_cast<std::int8_t>(x == 0 ? 0 : -128)};
        int code = 1;
        while (code < 127 && number(code + 1) <= std::abs(x)) ++code;
        sum const dice = static_cast<sum>(std::bit_cast<std::uint32_t>(x) * 2654435761u >> 8) / (1 << 24);
        if (code < 127 && std::abs(x) - number(code) > dice * (number(code + 1) - number(code))) ++code;
        return {static_cast<std::int8_t>(x < 0 ? -code : code)};
    }
};

namespace layer = rowan::layer;
using rowan::LoDTensor, rowan::Tensor, rowan::UNK;
enum : std::int64_t { film, book, play, good, bad, no };

int main() {
    auto rows = layer::embedding_bag<posit8>(layer::data<std::int64_t>("words", {UNK}, 1), {.height = 6, .width = 8}, {rowan::Pooling::sum});
    auto predict = layer::fc(layer::tanh(layer::fc(rows, {.output_size = 16})), {.output_size = 1});
    auto cost = layer::mse(predict, layer::data<posit8>("liked", {UNK, 1}));

    auto sentences = LoDTensor<std::int64_t>::from_nested({{film, good}, {book, good}, {play, good}, {film, bad}, {book, bad},
        {play, bad}, {film, no, good}, {book, no, good}, {play, no, good}, {film, no, bad}});
    rowan::Feeds batch{{"words", sentences}, {"liked", Tensor<posit8>{{1}, {1}, {1}, {-1}, {-1}, {-1}, {-1}, {-1}, {-1}, {1}}}};
    layer::Optimizer const adagrad(layer::AdaGrad{.learning_rate = 0.1}, rowan::dtypes<posit8>{});
    auto parameters = rowan::train(cost, [&](std::int64_t) { return std::vector{batch}; }, {.optimizer = adagrad, .epochs = 300});
    rowan::save_model(predict, parameters, "09_own_dtype.rowan");
    rowan::Feeds asked{{"words", LoDTensor<std::int64_t>::from_nested({{film, bad}, {book, no, bad}, {play, no, bad}})}};
    auto answers = rowan::infer(predict, asked, rowan::load_model(predict, "09_own_dtype.rowan"));
    for (auto x = answers.value().begin(); auto const* question : {"film bad", "book not bad", "play not bad"})
        std::printf("%s: %s\n", question, rowan::dtype<posit8>::widen(*x++) > 0 ? "liked" : "not liked");
}
