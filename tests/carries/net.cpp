// tests/carries/net.cpp: trains and runs a net of three layers in a program that includes everything.
#include "without_iostream.hpp"

#include <rowan/rowan.hpp>

#include <cstdio>
#include <vector>

int main() {
    namespace layer = rowan::layer;
    auto const x = layer::data("x", {rowan::UNK, 3});
    auto const predict = layer::fc(layer::tanh(layer::fc(x, {.output_size = 4})), {.output_size = 1});
    auto const cost = layer::mse(predict, layer::data("y", {rowan::UNK, 1}));
    std::vector<rowan::Feeds> const batches{{{"x", rowan::Tensor<float>{{1, 2, 3}}}, {"y", rowan::Tensor<float>{{1}}}}};
    auto const parameters = rowan::train(cost, [&](std::int64_t) { return batches; },
                                         {.optimizer = layer::Optimizer(layer::Sgd{}, rowan::dtypes<float>{})});
    auto const y = rowan::infer(predict, batches[0], parameters);
    std::printf("%zu %g\n", parameters.size(), static_cast<double>(y.value()(0, 0)));
}
