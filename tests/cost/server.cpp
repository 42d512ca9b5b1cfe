// tests/cost/server.cpp: a program that only loads a model and runs it.
#include <rowan/io/model.hpp>

int main(int, char** arguments) {
    auto const model = rowan::load_model(arguments[1]);
    auto const answers = rowan::infer(model.predict, {{"x", rowan::Tensor<float>{{1, 2, 3}}}}, model.parameters);
    return answers.value()(0, 0) > 0;
}
