// tests/bench/deferred/deferred.cpp: steps on a few rows of a large table, lazy and deferred in turns, then dense ones; or, with --errors, the errors of
// closed forms. A line of JSON for each.
#include <rowan/sparse/deferred.hpp>

#include "arguments.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using namespace rowan;

bool tiny = false;
bool flushes = false;   // whether the time of a flush is measured, which takes minutes for L2 penalties
std::string_view only;  // the optimizer that is measured; empty: all
Cpu exec;

double milliseconds() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void print(char const* op, char const* how, double ms) {
    std::printf("{\"peer\": \"rowan\", \"op\": \"%s\", \"how\": \"%s\", \"threads\": %d, \"ms\": %.3f}\n", op, how, exec.threads, ms);
    std::fflush(stdout);
}

auto apply(AdamOptions const& o, auto const& grad, auto& p, auto& m, auto& v) { adam(exec, p, m, v, grad, o); }
auto apply(MomentumOptions const& o, auto const& grad, auto& p, auto& v) { momentum(exec, p, v, grad, o); }
auto apply(RmsPropOptions const& o, auto const& grad, auto& p, auto& s, auto& v) { rmsprop(exec, p, s, v, grad, o); }
auto apply(AdaGradOptions const& o, auto const& grad, auto& p, auto& sum) { adagrad(exec, p, sum, grad, o); }
auto apply(SgdOptions const& o, auto const& grad, auto& p) { sgd(exec, p, grad, o); }

/// The mean times of steps with a parameter and states, whose options are options(t): lazy ones and deferred ones in
/// turns, then dense ones.
template <std::size_t tensors, class OptionsOf>
void measure(char const* op, CatchUp catch_up, std::size_t height, OptionsOf const& options) {
    if (!only.empty() && only != op) return;
    std::size_t const width = 64, lookups = tiny ? 16 : 8192, steps = tiny ? 20 : 1000;
    auto const rows = static_cast<std::int64_t>(height);
    std::array<Tensor<float>, tensors> lazy, deferred;
    for (auto* all : {&lazy, &deferred})
        for (std::size_t i = 0; i < tensors; ++i) (*all)[i] = Tensor<float>::full({height, width}, i == 0 ? 0.05F : 0.0F);
    for (std::size_t i = 0; i < lazy[0].size(); ++i) lazy[0].data()[i] = deferred[0].data()[i] = static_cast<float>(i % 11) * 0.013F - 0.06F;
    Deferred<decltype(options(1))> optimizer(rows, {.catch_up = catch_up});
    bool const exact = catch_up == CatchUp::exact;

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
    print(op, exact ? "lazy" : "lazy, closed form", lazy_ms / static_cast<double>(steps));
    print(op, exact ? "deferred" : "closed form", deferred_ms / static_cast<double>(steps));
    double start = milliseconds();
    if (flushes) {
        std::apply([&](auto&... x) { optimizer.flush(exec, x...); }, deferred);
        print(op, exact ? "flush" : "flush, closed form", milliseconds() - start);
    }
    if (!exact) return;
    deferred = {};
    auto const dense = Tensor<float>::full({height, width}, 0);
    for (int i = 0; i < 3; ++i) {
        start = milliseconds();
        std::apply([&](auto&... x) { apply(options(t), dense, x...); }, lazy);
        print(op, "dense", milliseconds() - start);
    }
}

/// The errors of what Adam moves in steps with a gradient of 0 after a step, relative to the sum of these moves in doubles.
void print_errors(int step, int gap) {
    std::array const ratios{0.01, 1.0, 1e6};  // of √v to epsilon
    AdamOptions const o;
    double const m = 1e-4;
    auto p = Tensor<float>::zeros({1, ratios.size()}), mean = Tensor<float>::full({1, ratios.size()}, static_cast<float>(m)), square = p;
    for (std::size_t i = 0; i < ratios.size(); ++i) square(0, i) = static_cast<float>(std::pow(ratios[i] * o.epsilon, 2));
    auto const squares = square;
    Deferred<AdamOptions> optimizer(1, {.catch_up = CatchUp::closed_form});
    for (int t = step + 1; t <= step + gap; ++t) optimizer.step(exec, SelectedRows<float>(1, {}, Tensor<float>::zeros({0, ratios.size()})), {.step = t}, p, mean, square);
    optimizer.flush(exec, p, mean, square);
    auto const correction = [](double beta, int t) { return 1 - std::pow(beta, t); };
    for (std::size_t i = 0; i < ratios.size(); ++i) {
        double const v = squares(0, i), moments = m * o.beta1 * (1 - std::pow(o.beta1, gap)) / (1 - o.beta1);
        double dense = 0;
        for (int t = step + 1; t <= step + gap; ++t)
            dense += o.learning_rate * m * std::pow(o.beta1, t - step) / correction(o.beta1, t) /
                     (std::sqrt(v * std::pow(o.beta2, t - step) / correction(o.beta2, t)) + o.epsilon);
        // v and corrections of the first step, as HugeCTR; of the last one, as Caffe2, which has no corrections
        double const first = o.learning_rate * std::sqrt(correction(o.beta2, step)) / correction(o.beta1, step) * moments / (std::sqrt(v) + o.epsilon);
        int const end = step + gap;
        double const last = o.learning_rate * std::sqrt(correction(o.beta2, end)) / correction(o.beta1, end) * moments / (std::sqrt(v * std::pow(o.beta2, gap)) + o.epsilon);
        std::printf("{\"step\": %d, \"gap\": %d, \"ratio\": %g, \"rowan\": %.2e, \"HugeCTR\": %.2e, \"Caffe2\": %.2e}\n", step, gap, ratios[i],
                    -static_cast<double>(p(0, i)) / dense - 1, first / dense - 1, last / dense - 1);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::Arguments const arguments(argc, argv);
    exec = arguments.exec;
    tiny = arguments.tiny;
    std::size_t height = tiny ? 1000 : 8'400'000;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--flush") flushes = true;
        if (i + 1 == argc) continue;
        if (std::string_view(argv[i]) == "--height") height = static_cast<std::size_t>(std::atoi(argv[i + 1]));
        if (std::string_view(argv[i]) == "--op") only = argv[i + 1];
    }
    if (argc > 1 && std::string_view(argv[1]) == "--errors") {
        for (int const step : {1, 10, 1000, 100'000})
            for (int const gap : {1, 10, 100, 1000, 10'000}) print_errors(step, gap);
        return 0;
    }
    for (auto const how : {CatchUp::exact, CatchUp::closed_form}) {
        measure<3>("adam", how, height, [](int t) { return AdamOptions{.step = t}; });
        measure<3>("adamw", how, height, [](int t) { return AdamOptions{.step = t, .weight_decay = 0.01, .decoupled = true}; });
        measure<3>("rmsprop", how, height, [](int) { return RmsPropOptions{.momentum = 0.9}; });
        measure<2>("momentum", how, height, [](int) { return MomentumOptions{}; });
        measure<2>("adagrad, L2", how, height, [](int) { return AdaGradOptions{.weight_decay = 0.01}; });
        measure<2>("adagrad, decoupled decay", how, height, [](int) { return AdaGradOptions{.weight_decay = 0.01, .decoupled = true}; });
        measure<1>("sgd, L2", how, height, [](int) { return SgdOptions{.weight_decay = 0.01}; });
        measure<1>("sgd, decoupled decay", how, height, [](int) { return SgdOptions{.weight_decay = 0.01, .decoupled = true}; });
    }
}
