// A model file is complete: another program runs it without the code of the net. That program lists allowed operators.
//
//     x  0 0   0 1   1 0   1 1     x [n, 2] --fc--> tanh --fc--> sigmoid [n, 1]    saved as   program   five operators
//     y   0     1     1     0                                                                 variables w, b of each fc
#include <rowan/io/model.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/train.hpp>

#include <cstdio>
#include <iostream>
#include <vector>

namespace layer = rowan::layer;

rowan::Tensor<float> const questions{{0, 0}, {0, 1}, {1, 0}, {1, 1}};

void train_and_save(char const* path) {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const hidden = layer::tanh(layer::fc(layer::data("x", {rowan::UNK, 2}), {.output_size = 8}));
    auto const predict = layer::sigmoid(layer::fc(hidden, {.output_size = 1}));
    auto const cost = layer::mse(predict, layer::data("y", {rowan::UNK, 1}));
    rowan::Feeds const batch{{"x", questions}, {"y", rowan::Tensor<float>{{0}, {1}, {1}, {0}}}};
    auto const parameters = rowan::train(cost, [&](auto) { return std::vector{batch}; },
                                         {.optimizer = layer::Adam{.learning_rate = 0.05}, .epochs = 400});
    rowan::save_model(predict, parameters, path);
}

int main() {
    char const* const path = "xor.rowan";
    train_and_save(path);

    std::cout << *rowan::CheckpointFile(path).program() << '\n';  // the file's description

    using ops = rowan::registry<rowan::fc_op, rowan::tanh_op, rowan::sigmoid_op>;
    auto const model = rowan::load_model<ops>(path);
    auto const answers = rowan::infer(model.predict, {{"x", questions}}, model.parameters);
    for (std::size_t i = 0; i < 4; ++i) {
        std::cout << questions(i, 0) << " xor " << questions(i, 1) << " is " << (answers.value()(i, 0) > 0.5F) << '\n';
    }

    try {
        rowan::load_model<rowan::registry<rowan::fc_op, rowan::tanh_op>>(path);
    } catch (rowan::GraphError const& e) {
        std::cout << "refused: " << e.what() << '\n';
    }
    std::remove(path);
}
