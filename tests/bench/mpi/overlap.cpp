// tests/bench/mpi/overlap.cpp: steps of a click model with sharded tables, with options.overlap and without, in turns.
//
//     python3 tests/bench/mpi/hosts.py --hosts 2 --delay-ms 1 --rate-gbit 1 rowan_bench_mpi_overlap [--tables N] [--rows N]
//         [--width N] [--batch N] [--hidden N] [--steps N] [--rounds N]
//
// Each rank runs one part of a step, of so many examples; each names a row of log-uniform frequency in each table. Their
// rows, side by side, go through two layers. Prints milliseconds for a step (medians), and whether both learn the same
// bits.
#include <rowan/distributed/mpi.hpp>
#include <rowan/distributed/train.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/train/train.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace rowan;
using Clock = std::chrono::steady_clock;

struct Options {
    std::int64_t tables = 8, rows = 200'000, width = 32, batch = 512, hidden = 256, steps = 40, rounds = 5;
};

Options parse(int argc, char** argv) {
    Options o;
    std::vector<std::pair<std::string_view, std::int64_t*>> const names{
        {"--tables", &o.tables}, {"--rows", &o.rows},   {"--width", &o.width},  {"--batch", &o.batch},
        {"--hidden", &o.hidden}, {"--steps", &o.steps}, {"--rounds", &o.rounds}};
    for (int i = 1; i < argc; ++i) {
        auto const name = std::ranges::find(names, argv[i], &std::pair<std::string_view, std::int64_t*>::first);
        if (name == names.end() || ++i == argc) throw std::invalid_argument("names of numbers, as in the first lines of overlap.cpp");
        *name->second = std::stoll(argv[i]);
    }
    return o;
}

std::string id_name(std::int64_t table) { return std::string("ids_").append(std::to_string(table)); }

layer::Var<float> cost_of(Options const& o) {
    std::vector<layer::Var<float>> all;
    for (std::int64_t t = 0; t < o.tables; ++t)
        all.push_back(layer::embedding(layer::data<std::int64_t>(id_name(t), {UNK}),
                                       {.height = o.rows, .width = o.width, .sharded = true}));
    auto const rows = layer::relu(layer::fc(layer::concat(all, {.axis = 1}), {.output_size = o.hidden}));
    auto const error = layer::fc(layer::relu(layer::fc(rows, {.output_size = o.hidden / 2})), {.output_size = 1}) -
                       layer::data<float>("y", {UNK, 1});
    return layer::reduce_mean(error * error);
}

Feeds batch_of(Options const& o, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, std::log(static_cast<double>(o.rows)));
    Feeds feeds;
    for (std::int64_t t = 0; t < o.tables; ++t) {
        std::vector<std::int64_t> ids(static_cast<std::size_t>(o.batch));
        for (auto& id : ids) {
            auto const k = static_cast<std::uint64_t>(std::exp(uniform(random)));
            id = static_cast<std::int64_t>(k * 0x9E3779B1U % static_cast<std::uint64_t>(o.rows));
        }
        feeds.insert_or_assign(id_name(t), ids);
    }
    auto y = Tensor<float>::from_shape({static_cast<std::size_t>(o.batch), 1});
    for (float& v : y) v = static_cast<float>(random() % 2);
    feeds.insert_or_assign("y", std::move(y));
    return feeds;
}

std::uint64_t hash_of(Parameters const& p) {
    std::uint64_t h = 0;
    for (auto const& named : p) {
        auto const& value = named.second;
        auto tensor = value.spec().type == VarType::SELECTED_ROWS ? value.row_values() : value.share();
        for (auto const byte : tensor.elements().bytes) h = (h ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3U;
    }
    return h;
}

double median(std::vector<double> v) {
    std::ranges::sort(v);
    return v[v.size() / 2];
}

int compare(Mpi const& mpi, Options const& o) {
    std::vector<Feeds> batches;
    for (std::int64_t s = 0; s < o.steps; ++s) {
        for (int r = 0; r < mpi.size(); ++r)
            batches.push_back(r == mpi.rank() ? batch_of(o, static_cast<std::uint64_t>(s * mpi.size() + r)) : Feeds{});
    }
    std::vector<double> ms[2];
    std::uint64_t hashes[2] = {};
    for (std::int64_t round = 0; round < o.rounds; ++round) {
        for (bool const overlap : {false, true}) {
            Scope scope;
            ScopeGuard const guard(scope);
            auto last = Clock::now();
            auto const learned = train(
                cost_of(o), [&](std::int64_t) { return std::span<Feeds const>(batches); },
                {.optimizer = layer::AdaGrad{.learning_rate = 0.05F},
                 .comm = mpi,
                 .parts = mpi.size(),
                 .overlap = overlap,
                 .exec = {1},
                 .on_batch = [&](BatchReport const& r) {
                     auto const now = Clock::now();
                     if (r.batch > 1) ms[overlap].push_back(std::chrono::duration<double, std::milli>(now - last).count());
                     last = now;
                 }});
            hashes[overlap] = hash_of(learned);
        }
    }
    std::int64_t differ[1] = {hashes[0] == hashes[1] ? 0 : 1};
    mpi.sum(differ);
    if (mpi.rank() != 0) return differ[0] == 0 ? 0 : 1;
    std::printf("%d ranks: %.1f ms for a step, %.1f with overlap (%.2f); %s\n", mpi.size(), median(ms[0]), median(ms[1]),
                median(ms[1]) / median(ms[0]), differ[0] == 0 ? "the same bits" : "OTHER BITS");
    return differ[0] == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run_mpi(argc, argv, [&](Mpi const& mpi) {
        return compare(mpi, parse(argc, argv));
    });
}
