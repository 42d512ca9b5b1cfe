// The plain network of the operator page, trained and run.
//     x [n, 3]  --fc-->  tanh  --fc-->  predict [n, 1]    cost = mean of (predict - y)²,  y = product of 2 columns of x
#include <rowan/layer.hpp>
#include <rowan/train.hpp>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace layer = rowan::layer;
using rowan::Feeds, rowan::Tensor, rowan::UNK;

std::vector<Feeds> batches(std::int64_t epoch) {
    std::minstd_rand random(static_cast<unsigned>(epoch + 1));  // the same numbers on every machine
    std::vector<Feeds> all;
    for (int b = 0; b < 100; ++b) {
        auto x = Tensor<float>::from_shape({32, 3}), y = Tensor<float>::from_shape({32, 1});
        for (float& e : x) e = static_cast<float>(random() % 2001) / 1000 - 1;
        for (std::size_t i = 0; i < 32; ++i) y(i, 0) = x(i, 0) * x(i, 2);
        all.push_back({{"x", x}, {"y", y}});
    }
    return all;
}

int main() {
    auto x = layer::data("x", {UNK, 3});
    auto predict = layer::fc(layer::tanh(layer::fc(x, {.output_size = 24})), {.output_size = 1});
    auto cost = layer::mse(predict, layer::data("y", {UNK, 1}));

    double first = 0, last = 0;
    auto parameters = rowan::train(cost, batches, {
        .optimizer = layer::Adam{.learning_rate = 0.01},
        .epochs = 20,
        .on_batch = [&](rowan::BatchReport r) { (r.epoch == 0 && r.batch == 0 ? first : last) = r.cost; },
    });
    std::printf("%zu tensors trained in %lld steps, the cost fell by more than %s\n", parameters.size(),
                static_cast<long long>(parameters.steps), last < first / 50 ? "50 times" : "nothing to speak of");

    auto y = rowan::infer(predict, {{"x", Tensor<float>{{0.5f, 0.1f, 0.8f}, {-0.5f, 0.3f, 0.8f}}}}, parameters);
    for (float v : y.value()) std::printf("%.1f\n", static_cast<double>(v));
}
