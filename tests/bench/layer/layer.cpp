// tests/bench/layer/layer.cpp: measures a batch with one long sentence against batches with the same number of words:
// (a) in sentences as long as the longest (same number of steps), (b) in as many sentences of equal length (fewer,
// wider steps). Ratio (a) shows the cost of uneven lengths, (b) also the fixed cost per step. Then the cost of a call for
// a net of a few microseconds. Prints lines of JSON.
//
//     rowan_bench_layer [--threads N] [--dim D] [--tiny]
//
// The last line of each block of batches is the number of words with padding.
#include <rowan/layer.hpp>
#include <rowan/train.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace layer = rowan::layer;
using rowan::Cpu, rowan::Feeds, rowan::Lod, rowan::LoDTensor, rowan::Tensor, rowan::UNK;
using clock_type = std::chrono::steady_clock;
using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t height = 53'080, classes = 45;  // of the WordNet glosses

std::int64_t words_of(Lengths const& lengths) { return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}); }

/// Lengths: `others` sentences of `length` words, with one of `longest` in the middle.
Lengths one_long(std::size_t others, std::int64_t length, std::int64_t longest) {
    Lengths lengths(others + 1, length);
    lengths[others / 2] = longest;
    return lengths;
}
/// Distributes the words over the sentences; their lengths differ by at most one.
Lengths equal(std::int64_t words, std::size_t sentences) {
    auto const n = static_cast<std::int64_t>(sentences);
    Lengths lengths(sentences, words / n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(words % n); ++i) ++lengths[i];
    return lengths;
}
/// Distributes the words over sentences of `longest`; the last one gets the remainder.
Lengths as_long(std::int64_t words, std::int64_t longest) {
    Lengths lengths(static_cast<std::size_t>(words / longest), longest);
    if (words % longest != 0) lengths.push_back(words % longest);
    return lengths;
}

struct Case {
    char const* name;
    Lengths lengths;
    Feeds feeds{};
    std::vector<double> train{}, infer{};  // ms

    Case(char const* case_name, Lengths its_lengths) : name(case_name), lengths(std::move(its_lengths)) {
        auto words = Tensor<std::int32_t>::from_shape({static_cast<std::size_t>(words_of(lengths))});
        auto label = Tensor<std::int32_t>::from_shape({lengths.size()});
        for (std::size_t i = 0; i < words.size(); ++i)
            words(i) = static_cast<std::int32_t>(((i + 1) * 0x9E3779B97F4A7C15U >> 33) % static_cast<std::uint64_t>(height));
        for (std::size_t i = 0; i < label.size(); ++i) label(i) = static_cast<std::int32_t>(i * 7 % classes);
        feeds = {{"words", LoDTensor<std::int32_t>(std::move(words), Lod::from_lengths({lengths}))}, {"label", std::move(label)}};
    }
    std::int64_t words() const { return words_of(lengths); }
    std::int64_t longest() const { return *std::max_element(lengths.begin(), lengths.end()); }
};

double least(std::vector<double> const& ms) { return *std::min_element(ms.begin(), ms.end()); }
double median(std::vector<double> ms) {
    std::ranges::sort(ms);
    return ms[ms.size() / 2];
}

/// Measures batches of equal size in turns; the first one has the long sentence.
void measure(std::vector<Case> cases, Cpu exec, std::int64_t dim, std::size_t turns) {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    auto const rows = layer::embedding(layer::data<std::int32_t>("words", {UNK}, 1), {.height = height, .width = dim, .name = "table"});
    auto const states = layer::rnn_with_last(rows, dim, [&](auto row, auto before) {
        auto const now = layer::gru_unit(row, before, {.size = dim});
        return layer::Step{now, now};
    });
    auto const scores = layer::fc(states.last, {.output_size = classes});
    auto const cost = layer::cross_entropy(scores, layer::data<std::int32_t>("label", {UNK}));

    std::vector<Feeds> batches;
    for (std::size_t turn = 0; turn <= turns; ++turn) {
        for (Case const& c : cases) batches.push_back(c.feeds);
    }
    auto start = clock_type::now();
    auto const ms_since = [](clock_type::time_point begin) { return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count(); };
    auto const parameters = rowan::train(cost, [&](std::int64_t) -> std::vector<Feeds> const& {
        start = clock_type::now();
        return batches;
    }, {
        .optimizer = layer::Adam{.learning_rate = 2e-3},
        .optimizers = {{"table", layer::AdaGrad{.learning_rate = 0.1}}},
        .exec = exec,
        .on_batch = [&](rowan::BatchReport const& r) {
            auto const at = static_cast<std::size_t>(r.batch);
            if (at >= cases.size()) cases[at % cases.size()].train.push_back(ms_since(start));  // the first turn warms up
            start = clock_type::now();
        },
    });
    rowan::Predictor const predictor(scores, parameters);
    for (std::size_t turn = 0; turn <= turns; ++turn) {
        for (Case& c : cases) {
            auto const begin = clock_type::now();
            auto const y = predictor(c.feeds, exec);
            if (turn > 0) c.infer.push_back(ms_since(begin));
        }
    }
    for (Case const& c : cases) {
        auto const n = static_cast<double>(c.words());
        std::printf("{\"peer\": \"rowan\", \"batch\": \"%s\", \"sentences\": %zu, \"words\": %lld, \"steps\": %lld, \"dim\": %lld, \"threads\": %d, "
                    "\"train_ms_min\": %.3f, \"train_ms_median\": %.3f, \"train_us_per_word\": %.3f, \"infer_ms_min\": %.3f, \"infer_us_per_word\": %.3f}\n",
                    c.name, c.lengths.size(), static_cast<long long>(c.words()), static_cast<long long>(c.longest()),
                    static_cast<long long>(dim), exec.threads, least(c.train), median(c.train), 1e3 * least(c.train) / n, least(c.infer),
                    1e3 * least(c.infer) / n);
    }
    Case const& first = cases.front();
    for (std::size_t k = 1; k < cases.size(); ++k) {
        std::printf("%s, against %s: training %.2f times, inference %.2f times\n", first.name, cases[k].name,
                    least(first.train) / least(cases[k].train), least(first.infer) / least(cases[k].infer));
    }
    auto const padded = static_cast<double>(first.longest()) * static_cast<double>(first.lengths.size());
    std::printf("%s, with padding: %.1f times the words\n\n", first.name, padded / static_cast<double>(first.words()));
    std::fflush(stdout);
}

/// The least time of a call in µs.
template <class F>
double us_of(bool tiny, F const& call) {
    int const calls = tiny ? 2 : 2'000;
    double best = 1e9;
    for (int round = 0; round < 7; ++round) {
        auto const begin = clock_type::now();
        for (int i = 0; i < calls; ++i) call();
        best = std::min(best, std::chrono::duration<double, std::micro>(clock_type::now() - begin).count() / calls);
    }
    return best;
}

/// Embedding, mean and fc of two sentences: a call of each way to run a net, on one thread.
void small_net(bool tiny) {
    rowan::Scope scope;
    rowan::ScopeGuard const guard(scope);
    Cpu const exec{1};
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    auto const scores = layer::fc(layer::sequence_pool(layer::embedding(words, {.height = 100, .width = 16})), {.output_size = 2});
    rowan::Trainer trainer(layer::cross_entropy(scores, layer::data<std::int64_t>("label", {UNK})), {.exec = exec});
    Feeds const feeds{{"words", LoDTensor<std::int64_t>::from_nested({{1, 2, 4}, {4}})}, {"label", Tensor<std::int64_t>{1, 0}}};
    auto const parameters = trainer.parameters();
    rowan::Predictor const predictor(scores, parameters);
    std::printf("{\"peer\": \"rowan\", \"net\": \"small\", \"train_us\": %.2f, \"predictor_us\": %.2f, \"infer_us\": %.2f}\n",
                us_of(tiny, [&] { trainer.step(feeds); }), us_of(tiny, [&] { predictor(feeds, exec); }),
                us_of(tiny, [&] { rowan::infer(scores, feeds, parameters, exec); }));
}

}  // namespace

int main(int argc, char** argv) {
    Cpu exec{1};
    std::int64_t dim = 64;
    bool tiny = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (word == "--threads" && i + 1 < argc) exec.threads = std::atoi(argv[++i]);
        if (word == "--dim" && i + 1 < argc) dim = std::atoi(argv[++i]);
        if (word == "--tiny") tiny = true;
    }
    struct Shape {
        std::size_t others;
        std::int64_t length, longest;
        std::size_t turns;
    };
    std::vector<Shape> const shapes = tiny ? std::vector<Shape>{{3, 2, 9, 1}}
                                           : std::vector<Shape>{{63, 12, 120, 40}, {639, 12, 120, 12}, {63, 12, 10'000, 3}};
    for (Shape const& s : shapes) {
        auto const longer = one_long(s.others, s.length, s.longest);
        std::int64_t const words = words_of(longer);
        std::string const name = std::to_string(s.others + 1) + " sentences, one of " + std::to_string(s.longest) + " words";
        measure({{name.c_str(), longer},
                 {"equal sentences as long as that one", as_long(words, s.longest)},
                 {"as many equal sentences", equal(words, s.others + 1)}},
                exec, dim, s.turns);
    }
    small_net(tiny);
}
