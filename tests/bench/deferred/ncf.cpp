// tests/bench/deferred/ncf.cpp: a net of user and item tables, trained with lazy, dense and deferred Adam on the same made-up ratings. Lines of
// JSON: the loss on held-out ratings every so many steps, and the mean time of a step.
#include <rowan/train/deferred.hpp>

#include "arguments.hpp"

#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/trainer.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace rowan;

constexpr std::int64_t users = 100'000, items = 40'000, width = 32;

/// Ratings: whether a user likes an item, by the product of two hidden vectors of 4 numbers.
class Ratings {
public:
    Feeds next(std::size_t n) {
        std::vector<std::int64_t> user(n), item(n);
        auto label = Tensor<float>::from_shape({n, 1});
        for (std::size_t i = 0; i < n; ++i) {
            user[i] = often(users);
            item[i] = often(items);
            double product = 0;
            for (std::uint64_t k = 0; k < 4; ++k) product += hidden(user[i], k) * hidden(items + users - item[i], k);
            label(i, 0) = uniform_(random_) < 1 / (1 + std::exp(-3 * product)) ? 1.0F : 0.0F;
        }
        return {{"user", user}, {"item", item}, {"label", label}};
    }

private:
    std::int64_t often(std::int64_t n) {  // log-uniform: few are frequent
        return std::min(n - 1, static_cast<std::int64_t>(std::exp(uniform_(random_) * std::log(static_cast<double>(n) + 1)) - 1));
    }
    static double hidden(std::int64_t row, std::uint64_t k) {
        std::mt19937_64 random(static_cast<std::uint64_t>(row) * 4 + k);
        return static_cast<double>(random() >> 11) * 0x1p-52 - 1;
    }

    std::mt19937_64 random_{1};
    std::uniform_real_distribution<> uniform_;
};

void run(char const* how, layer::Optimizer const& optimizer, bench::Arguments const& arguments) {
    Scope scope;
    ScopeGuard const guard(scope);
    auto const table = [](char const* name, std::int64_t height) {
        return layer::embedding(layer::data<std::int64_t>(name, {UNK}), {.height = height, .width = width, .name = std::string(name) + "s"});
    };
    auto const both = layer::concat({table("user", users), table("item", items)}, {.axis = 1});
    auto const hidden = layer::relu(layer::fc(both, {.output_size = 32, .name = "hidden"}));
    auto const score = layer::fc(hidden, {.output_size = 1, .name = "score"});
    auto const cost = layer::reduce_mean(layer::binary_cross_entropy_with_logits(score, layer::data<float>("label", {UNK, 1})));
    Ratings ratings;
    Feeds const held_out = ratings.next(arguments.tiny ? 64 : 16384);
    Trainer trainer(cost, {.optimizer = optimizer, .exec = arguments.exec});
    int const steps = arguments.tiny ? 4 : 6000, every = arguments.tiny ? 2 : 200;
    double ms = 0;
    for (int step = 1; step <= steps; ++step) {
        Feeds const batch = ratings.next(512);
        auto const start = std::chrono::steady_clock::now();
        trainer.step(batch);
        ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        if (step % every != 0) continue;
        float const loss = infer(cost, held_out, trainer.parameters(), arguments.exec).value()(0);
        std::uint32_t bits;
        std::memcpy(&bits, &loss, sizeof bits);
        std::printf("{\"how\": \"%s\", \"step\": %d, \"loss\": %.6f, \"bits\": %u, \"ms\": %.3f}\n", how, step, static_cast<double>(loss), bits, ms / step);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::Arguments const arguments(argc, argv);
    layer::Adam const lazy{.learning_rate = 0.002};
    layer::Adam const dense{.learning_rate = 0.002, .lazy = false};
    run("lazy", {lazy, dtypes<float>{}}, arguments);
    run("dense", {dense, dtypes<float>{}}, arguments);
    run("deferred", {layer::Deferred{lazy}, dtypes<float>{}}, arguments);
}
