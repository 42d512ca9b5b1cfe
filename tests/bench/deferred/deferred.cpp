// tests/bench/deferred/deferred.cpp: steps on a few rows of a large table, lazy and deferred in turns, then dense ones. A line of JSON for each.
#include <rowan/sparse/deferred.hpp>

#include "arguments.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <tuple>
#include <vector>

namespace {

using namespace rowan;

bool tiny = false;
Cpu exec;

double milliseconds() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void print(char const* op, char const* how, double ms) {
    std::printf("{\"peer\": \"rowan\", \"op\": \"%s\", \"how\": \"%s\", \"threads\": %d, \"ms\": %.3f}\n", op, how, exec.threads, ms);
    std::fflush(stdout);
}

auto apply(AdamOptions const& o, auto const& grad, auto& p, auto& m, auto& v) { adam(exec, p, m, v, grad, o); }
auto apply(MomentumOptions const& o, auto const& grad, auto& p, auto& v) { momentum(exec, p, v, grad, o); }
auto apply(RmsPropOptions const& o, auto const& grad, auto& p, auto& s, auto& v) { rmsprop(exec, p, s, v, grad, o); }
auto apply(SgdOptions const& o, auto const& grad, auto& p) { sgd(exec, p, grad, o); }

/// The mean times of steps with a parameter and states, whose options are options(t).
template <std::size_t tensors, class OptionsOf>
void measure(char const* op, OptionsOf const& options) {
    std::size_t const height = tiny ? 1000 : 8'400'000, width = 64, lookups = tiny ? 16 : 8192, steps = tiny ? 20 : 1000;
    auto const rows = static_cast<std::int64_t>(height);
    std::array<Tensor<float>, tensors> lazy, deferred;
    for (auto* all : {&lazy, &deferred})
        for (std::size_t i = 0; i < tensors; ++i) (*all)[i] = Tensor<float>::full({height, width}, i == 0 ? 0.05F : 0.0F);
    for (std::size_t i = 0; i < lazy[0].size(); ++i) lazy[0].data()[i] = deferred[0].data()[i] = static_cast<float>(i % 11) * 0.013F - 0.06F;
    Deferred<decltype(options(1))> optimizer(rows);

    std::mt19937_64 random(1);
    std::uniform_real_distribution<> uniform;
    std::vector<std::int64_t> ids(lookups);
    auto value = Tensor<float>::from_shape({lookups, width});
    double lazy_ms = 0, deferred_ms = 0;
    int t = 0;
    while (t < static_cast<int>(steps)) {
        ++t;
        for (auto& id : ids) id = std::min(rows - 1, static_cast<std::int64_t>(std::exp(uniform(random) * std::log(static_cast<double>(height) + 1)) - 1));
        for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = static_cast<float>(uniform(random) - 0.5) * 0.01F;
        SelectedRows<float> const grad(rows, ids, value);
        double const start = milliseconds();
        std::apply([&](auto&... x) { apply(options(t), grad, x...); }, lazy);
        double const middle = milliseconds();
        std::apply([&](auto&... x) { optimizer.step(exec, grad, options(t), x...); }, deferred);
        lazy_ms += middle - start;
        deferred_ms += milliseconds() - middle;
    }
    print(op, "lazy", lazy_ms / static_cast<double>(steps));
    print(op, "deferred", deferred_ms / static_cast<double>(steps));
    double start = milliseconds();
    std::apply([&](auto&... x) { optimizer.flush(exec, x...); }, deferred);
    print(op, "flush", milliseconds() - start);
    deferred = {};
    auto const dense = Tensor<float>::full({height, width}, 0);
    for (int i = 0; i < 3; ++i) {
        start = milliseconds();
        std::apply([&](auto&... x) { apply(options(t), dense, x...); }, lazy);
        print(op, "dense", milliseconds() - start);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::Arguments const arguments(argc, argv);
    exec = arguments.exec;
    tiny = arguments.tiny;
    measure<3>("adam", [](int t) { return AdamOptions{.step = t}; });
    measure<3>("adamw", [](int t) { return AdamOptions{.step = t, .weight_decay = 0.01, .decoupled = true}; });
    measure<3>("rmsprop", [](int) { return RmsPropOptions{.momentum = 0.9}; });
    measure<2>("momentum", [](int) { return MomentumOptions{}; });
    measure<1>("sgd, L2", [](int) { return SgdOptions{.weight_decay = 0.01}; });
    measure<1>("sgd, decoupled decay", [](int) { return SgdOptions{.weight_decay = 0.01, .decoupled = true}; });
}
