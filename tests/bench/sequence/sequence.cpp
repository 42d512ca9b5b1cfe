// tests/bench/sequence/sequence.cpp: times unpack and pack of batches. Prints a line of JSON for each case.
//
//     rowan_bench_sequence [--threads N] [--width D] [--tiny]
#include "../arguments.hpp"

#include <rowan/core/parallel.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse/gather.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

using bench::use;
using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::StepMap, rowan::Tensor, rowan::TensorArray;

namespace {

// The same lengths as in the peers' programs: the high bits of a product. "skewed" has 10,000 sentences, one of them
// with 10,000 words.
std::vector<std::int64_t> lengths(std::string_view batch, bool tiny) {
    std::size_t const count = tiny ? 50 : batch == "long" ? 500 : batch == "skewed" ? 10'000 : 5'000;
    std::int64_t const most = tiny ? 5 : batch == "long" ? 250 : 24;
    std::vector<std::int64_t> list(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const random = (i + 1) * 0x9E3779B97F4A7C15U >> 40;
        list[i] = 1 + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(most));
    }
    if (batch == "skewed") list[count / 2] = tiny ? 50 : 10'000;
    return list;
}

struct Case {
    std::string op;
    double bytes;
    std::function<void(std::size_t set)> run;
    std::vector<double> ms{};
};

void measure(std::string const& batch, Cpu exec, std::size_t width, bool tiny) {
    constexpr std::size_t sets = 8;  // used in turns, so that the last-level cache cannot hold all rows
    Lod const lod = Lod::from_lengths({lengths(batch, tiny)});
    auto const n = static_cast<std::size_t>(lod.rows());
    std::vector<LoDTensor<float>> input;
    for (std::size_t k = 0; k < sets; ++k) {
        auto value = Tensor<float>::from_shape({n, width});
        for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = static_cast<float>((i + k) % 1000);
        input.emplace_back(std::move(value), lod);
    }
    auto const [steps, map] = TensorArray<float>::unpack(input[0]);
    std::vector<TensorArray<float>> unpacked, written;
    for (auto const& x : input) {
        auto const& its_steps = unpacked.emplace_back(TensorArray<float>::unpack(x, map));
        auto& slots = written.emplace_back();
        for (std::size_t t = 0; t < its_steps.size(); ++t) slots.write(t, its_steps.read(t));
    }
    Tensor<float> const boot = Tensor<float>::zeros({map.sequences(), width});
    auto const index = Tensor<std::int64_t>::from_shape({n});
    std::copy(map.elements().begin(), map.elements().end(), const_cast<std::int64_t*>(index.data()));
    Tensor<float> gathered = input[0].value();

    double const rows = 2.0 * static_cast<double>(n * width * sizeof(float));
    double const ids = 8.0 * static_cast<double>(n);
    std::vector<Case> cases;
    cases.push_back({"memcpy", rows, [&](std::size_t k) {
        std::size_t const share = (n * width + static_cast<std::size_t>(rowan::thread_count(exec)) - 1) / static_cast<std::size_t>(rowan::thread_count(exec));
        rowan::parallel_for(exec, n * width, share, [&](std::size_t begin, std::size_t end) {
            std::memcpy(gathered.data() + begin, input[k].value().data() + begin, (end - begin) * sizeof(float));
        });
        use(gathered);
    }});
    cases.push_back({"index_select", rows + ids, [&](std::size_t k) { use(rowan::gather(exec, input[k].value(), index)); }});
    cases.push_back({"unpack", rows + 2 * ids, [&](std::size_t k) { use(TensorArray<float>::unpack(exec, input[k])); }});
    cases.push_back({"unpack, input order", rows + 2 * ids,
                     [&](std::size_t k) { use(TensorArray<float>::unpack(exec, input[k], {.sort_by_length = false})); }});
    cases.push_back({"unpack, by a map", rows + ids, [&](std::size_t k) { use(TensorArray<float>::unpack(exec, input[k], map)); }});
    cases.push_back({"pack", rows + ids, [&](std::size_t k) { use(unpacked[k].pack(exec, 0, map)); }});
    cases.push_back({"pack, slots written in a loop", rows + ids, [&](std::size_t k) { use(written[k].pack(exec, 0, map)); }});
    cases.push_back({"read, shrink, write", 0, [&](std::size_t k) {  // only aliases: no row is copied
        TensorArray<float> outputs;
        Tensor<float> state = boot.share();
        for (std::size_t t = 0; t < map.steps(); ++t) {
            state = shrink(state, map, t);
            use(state);
            outputs.write(t, unpacked[k].read(t));
        }
        use(outputs);
    }});
    double padded = 0;
    if (batch != "skewed") {
        auto const longest = static_cast<double>(map.steps());
        padded = rows / 2 + static_cast<double>(map.sequences()) * longest * (static_cast<double>(width * sizeof(float)) + 1);
        cases.push_back({"to_padded", padded, [&](std::size_t k) { use(to_padded(exec, input[k])); }});
    }

    using clock = std::chrono::steady_clock;
    for (std::size_t turn = 0; turn < 3 * sets; ++turn) {
        for (Case& c : cases) {
            auto const start = clock::now();
            c.run(turn % sets);
            std::chrono::duration<double, std::milli> const ms = clock::now() - start;
            if (turn >= sets) c.ms.push_back(ms.count());
        }
    }
    double memcpy_gbs = 0;
    for (Case& c : cases) {
        std::ranges::sort(c.ms);
        double const gbs = c.bytes / c.ms.front() * 1e-6;
        double const ns = c.ms.front() * 1e6 / static_cast<double>(n);
        if (c.op == "memcpy") memcpy_gbs = gbs;
        std::printf("{\"peer\": \"rowan\", \"op\": \"%s\", \"batch\": \"%s\", \"rows\": %zu, \"width\": %zu, \"threads\": %d, "
                    "\"ms_min\": %.4f, \"ms_median\": %.4f, \"ns_per_token\": %.2f, \"gbs\": %.2f, \"of_memcpy\": %.3f}\n",
                    c.op.c_str(), batch.c_str(), n, width, exec.threads, c.ms.front(), c.ms[c.ms.size() / 2], ns, gbs, gbs / memcpy_gbs);
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    bench::Arguments const a(argc, argv);
    for (char const* batch : {"sentences", "long", "skewed"}) measure(batch, a.exec, a.width, a.tiny);
}
