// tests/bench/io/checkpoint.cpp: times reading, loading, mapping and verifying a table in a checkpoint. The file is in
// the system's cache. Cases run in turns; each prints a line of JSON. "into" reuses memory, other cases allocate it.
//
//     rowan_bench_io [--file PATH] [--mib N] [--turns N] [--tiny]
#include <rowan/io/checkpoint_chain.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

using namespace rowan;

namespace {

template <class T>
void use(T const& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

struct Case {
    std::string op, peer;  // the case to compare with
    std::function<void()> run;
    std::vector<double> ms{};
};

}  // namespace

int main(int argc, char** argv) try {
    std::string path = "rowan_bench_io.rowan";
    std::size_t mib = 2048, turns = 7;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (word == "--file" && i + 1 < argc) path = argv[++i];
        if (word == "--mib" && i + 1 < argc) mib = static_cast<std::size_t>(std::atoi(argv[++i]));
        if (word == "--turns" && i + 1 < argc) turns = static_cast<std::size_t>(std::atoi(argv[++i]));
        if (word == "--tiny") mib = turns = 1;
    }
    auto table = Tensor<float>::from_shape({(mib << 20) / 256, 64});
    for (std::size_t i = 0; i < table.size(); ++i) table.data()[i] = static_cast<float>((i + 1) * 0x9E3779B97F4A7C15U >> 40);
    Checkpoint checkpoint;
    checkpoint.add("table", table);
    {
        auto const start = std::chrono::steady_clock::now();
        save_checkpoint(checkpoint, path);
        std::chrono::duration<double, std::milli> const ms = std::chrono::steady_clock::now() - start;
        std::printf("{\"peer\": \"rowan\", \"op\": \"save\", \"mib\": %zu, \"ms\": %.3f}\n", mib, ms.count());
    }
    auto const all = std::as_writable_bytes(std::span(table.data(), table.size()));
    auto const plain = [&](std::span<std::byte> to) {
        detail::InputFile(path).read(64, to);  // without the header and the descriptors
    };
    std::vector<Case> cases;
    cases.push_back({"plain read", "plain read", [&] {
        auto t = Tensor<float>::from_shape(table.shape());
        plain(std::as_writable_bytes(std::span(t.data(), t.size())));
        use(t);
    }});
    cases.push_back({"load, 1 thread", "plain read", [&] { use(CheckpointFile(Cpu{1}, path).load<Tensor<float>>("table")); }});
    cases.push_back({"load, 2 threads", "plain read", [&] { use(CheckpointFile(Cpu{2}, path).load<Tensor<float>>("table")); }});
    cases.push_back({"plain read into", "plain read into", [&] { plain(all); }});
    cases.push_back({"load into, 1 thread", "plain read into", [&] { CheckpointFile(Cpu{1}, path).load_into("table", all); }});
    cases.push_back({"load into, 2 threads", "plain read into", [&] { CheckpointFile(Cpu{2}, path).load_into("table", all); }});
    cases.push_back({"map", "", [&] { use(CheckpointFile(path).map<Tensor<float>>("table")); }});
    cases.push_back({"verify, 1 thread", "", [&] { CheckpointFile(Cpu{1}, path).verify(); }});
    cases.push_back({"verify, 2 threads", "", [&] { CheckpointFile(Cpu{2}, path).verify(); }});
    for (std::size_t turn = 0; turn <= turns; ++turn) {
        use(Tensor<float>::full(table.shape(), 1));  // the first to allocate pays for memory that the system reused
        for (Case& c : cases) {
            auto const start = std::chrono::steady_clock::now();
            c.run();
            std::chrono::duration<double, std::milli> const ms = std::chrono::steady_clock::now() - start;
            if (turn > 0) c.ms.push_back(ms.count());
        }
    }
    for (Case& c : cases) {
        std::ranges::sort(c.ms);
        double const ms = c.ms.front(), median = c.ms[c.ms.size() / 2];
        auto const peer = std::ranges::find(cases, c.peer, &Case::op);
        std::printf("{\"peer\": \"rowan\", \"op\": \"%s\", \"mib\": %zu, \"ms_min\": %.3f, \"ms_median\": %.3f, \"gbs\": %.2f", c.op.c_str(), mib, ms, median,
                    static_cast<double>(mib << 20) / ms * 1e-6);
        if (peer != cases.end()) std::printf(", \"speed_of_%s\": %.3f", c.peer == "plain read" ? "plain" : "plain_into", peer->ms.front() / ms);
        std::printf("}\n");
    }
    std::remove(path.c_str());
} catch (std::exception const& error) {
    std::fprintf(stderr, "rowan_bench_io: %s\n", error.what());
    return 2;
}
