// tests/bench/keys/bags.cpp: times the pooled rows of 26 tables, and their training. Prints a line of JSON for each case.
//
//     rowan_bench_bags [--threads N] [--width D] [--tiny]
#include "../arguments.hpp"

#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/embedding_bags.hpp>
#include <rowan/op/table/update_bags.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::RowPlan, rowan::Tensor;

namespace {

struct Case {
    std::string op;
    std::function<void(std::size_t set)> run;
    double ms = 1e300;
};

// The same ids as in the peers' program: their logarithms are uniform, and they are spread over the table.
std::vector<std::int64_t> draw(std::size_t set, std::size_t n, std::size_t height) {
    std::vector<std::int64_t> ids(n);
    for (std::size_t i = 0; i < n; ++i) {
        double const u = static_cast<double>((i + 1 + set * n) * 0x9E3779B97F4A7C15U >> 40) * 0x1p-24;
        auto const rank = static_cast<std::size_t>(std::exp(u * std::log(static_cast<double>(height)))) - 1;
        ids[i] = static_cast<std::int64_t>(rank * 7919 % height);
    }
    return ids;
}

void measure(Cpu exec, std::size_t width, std::size_t pooling, bool tiny) {
    std::size_t const count = tiny ? 3 : 26, batch = tiny ? 16 : 2048, height = tiny ? 100 : 200'000, sets = 4;
    std::vector<Tensor<float>> tables, row_moments, moments;
    for (std::size_t t = 0; t < count; ++t) {
        tables.push_back(Tensor<float>::full({height, width}, 0.01F));
        row_moments.push_back(Tensor<float>::zeros({height}));
        moments.push_back(Tensor<float>::zeros({height, width}));
    }
    std::span<Tensor<float> const> const all = tables;
    std::vector<LoDTensor<std::int64_t>> ids;
    std::vector<std::vector<LoDTensor<std::int64_t>>> of_table(sets);
    Lod const lod = Lod::from_lengths({std::vector(count * batch, static_cast<std::int64_t>(pooling))});
    Lod const one = Lod::from_lengths({std::vector(batch, static_cast<std::int64_t>(pooling))});
    for (std::size_t s = 0; s < sets; ++s) {
        auto const drawn = draw(s, count * batch * pooling, height);
        ids.emplace_back(Tensor<std::int64_t>(drawn), lod);
        for (std::size_t t = 0; t < count; ++t)
            of_table[s].emplace_back(Tensor<std::int64_t>(std::span(drawn).subspan(t * batch * pooling, batch * pooling)), one);
    }
    auto const grad = Tensor<float>::full({batch, count * width}, 1), part = Tensor<float>::full({batch, width}, 1);

    std::vector<Case> cases;
    cases.push_back({"forward", [&](std::size_t s) { rowan::embedding_bags(exec, all, ids[s]); }});
    cases.push_back({"forward, 26 calls", [&](std::size_t s) {
                         std::vector<LoDTensor<float>> out;
                         for (std::size_t t = 0; t < count; ++t) out.push_back(embedding_bag(exec, tables[t], of_table[s][t]));
                     }});
    cases.push_back({"rowwise_adagrad", [&](std::size_t s) {
                         rowan::update_bags(exec, all, ids[s], grad, [&](Cpu e, std::size_t t, RowPlan<> const& plan, auto const& g) {
                             rowwise_adagrad(e, plan, tables[t], row_moments[t], g);
                         });
                     }});
    cases.push_back({"rowwise_adagrad, 26 calls", [&](std::size_t s) {
                         for (std::size_t t = 0; t < count; ++t)
                             rowwise_adagrad(exec, tables[t], row_moments[t], embedding_bag_grad(exec, tables[t], of_table[s][t], part));
                     }});
    cases.push_back({"adagrad", [&](std::size_t s) {
                         rowan::update_bags(exec, all, ids[s], grad, [&](Cpu e, std::size_t t, RowPlan<> const& plan, auto const& g) {
                             adagrad(e, plan, tables[t], moments[t], g);
                         });
                     }});
    for (Case& c : cases) {  // all turns of a case one after the other, as the peers do
        for (std::size_t turn = 0; turn < (tiny ? 1 : 3) * sets; ++turn) {
            auto const start = std::chrono::steady_clock::now();
            c.run(turn % sets);
            std::chrono::duration<double, std::milli> const ms = std::chrono::steady_clock::now() - start;
            if (turn >= sets || tiny) c.ms = std::min(c.ms, ms.count());
        }
    }
    for (Case const& c : cases)
        std::printf("{\"peer\": \"rowan\", \"op\": \"%s\", \"width\": %zu, \"pooling\": %zu, \"threads\": %d, \"ms\": %.3f}\n",
                    c.op.c_str(), width, pooling, exec.threads, c.ms);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    bench::Arguments const a(argc, argv);
    for (std::size_t const pooling : {20U, 1U}) measure(a.exec, a.width, pooling, a.tiny);
}
