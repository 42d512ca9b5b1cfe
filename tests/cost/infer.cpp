// tests/cost/infer.cpp: a program that only runs a net built in code. It computes |x|.
//     x [n, 1]  --fc (1, -1)-->  [n, 2]  --relu-->  --fc (1, 1)-->  |x| [n, 1]
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/train/infer.hpp>

#include <utility>

namespace layer = rowan::layer;
using rowan::LoDTensor, rowan::Tensor;

int main() {
    auto const hidden =
        layer::relu(layer::fc(layer::data("x", {rowan::UNK, 1}), {.output_size = 2, .bias = false, .name = "first"}));
    auto const predict = layer::fc(hidden, {.output_size = 1, .bias = false, .name = "second"});
    rowan::Value first, second;
    first.set(LoDTensor<float>(Tensor<float>{{1, -1}}));
    second.set(LoDTensor<float>(Tensor<float>{{1}, {1}}));
    rowan::Parameters parameters;
    parameters.set("first.w_0", std::move(first));
    parameters.set("second.w_0", std::move(second));
    auto const answers = rowan::infer(predict, {{"x", Tensor<float>{{-3}, {0}, {4}}}}, parameters);
    return answers.value() == Tensor<float>{{3}, {0}, {4}} ? 0 : 1;
}
