// tests/bench/keys/keys.cpp: times rows by keys, in turns with the hash maps of other libraries that are installed.
//
//     rowan_bench_keys [--threads N] [--tiny]
//
// 10 million keys; batches of 65,536 keys whose ranks have a log-uniform distribution; a table with 64 floats per row.
#include "../arguments.hpp"

#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/gather_keys.hpp>
#include <rowan/sparse/key_index.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
#include <boost/unordered/unordered_flat_map.hpp>
#endif
#if __has_include(<ankerl/unordered_dense.h>)
#include <ankerl/unordered_dense.h>
#endif

using bench::use;
using rowan::Cpu, rowan::KeyIndex, rowan::Tensor;

namespace {

using Key = std::int64_t;

struct Sizes {
    std::size_t keys = 10'000'000, batch = 65'536, sets = 32, width = 64;
};

Key key_at(std::size_t i) { return static_cast<Key>(rowan::detail::bits_at(7, i)); }

struct Case {
    std::string op, who;
    double keys;
    std::function<void(std::size_t)> run;
    double best = 1e300;
};

double seconds(std::function<void()> const& f) {
    auto const begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The cases of a map of another library.
template <class Map>
void add_map(std::vector<Case>& cases, std::string const& who, Sizes const& sizes, Cpu exec, Map& map,
             std::vector<std::vector<Key>> const& batches, Tensor<float> const& table, Tensor<float>& out) {
    for (std::size_t i = 0; i < sizes.keys; ++i) map.try_emplace(key_at(i), static_cast<std::int64_t>(i));
    auto const find = [&map, exec](std::vector<Key> const& keys) {
        auto rows = Tensor<std::int64_t>::from_shape({keys.size()});
        rowan::parallel_for(exec, keys.size(), 4096, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                auto const found = map.find(keys[i]);
                rows.data()[i] = found == map.end() ? -1 : found->second;
            }
        });
        return rows;
    };
    auto const batch = static_cast<double>(sizes.batch);
    cases.push_back({"find", who, batch, [&batches, find](std::size_t set) { use(find(batches[set])); }});
    cases.push_back({"find and gather", who, batch, [&, exec, find](std::size_t set) {
                         rowan::gather_into(exec, table, find(batches[set]), out);
                     }});
    cases.push_back({"insert", who, static_cast<double>(sizes.keys), [sizes](std::size_t) {
                         Map fresh;
                         for (std::size_t i = 0; i < sizes.keys; ++i)
                             fresh.try_emplace(key_at(i), static_cast<std::int64_t>(fresh.size()));
                         use(fresh);
                     }});
}

}  // namespace

int main(int argc, char** argv) {
    bench::Arguments const a(argc, argv);
    Sizes sizes;
    if (a.tiny) sizes = {.keys = 5'000, .batch = 1'000, .sets = 2, .width = 8};
    Cpu const exec = a.exec;
    std::vector<std::vector<Key>> batches(sizes.sets);
    for (std::size_t s = 0; s < sizes.sets; ++s) {
        for (std::size_t i = 0; i < sizes.batch; ++i) {
            double const u = rowan::detail::uniform_at(s, i);
            auto const rank = static_cast<std::size_t>(std::exp(u * std::log(static_cast<double>(sizes.keys)))) - 1;
            batches[s].push_back(key_at(rank * 7'919 % sizes.keys));
        }
    }
    auto table = Tensor<float>::full({sizes.keys, sizes.width}, 0.5F);
    auto out = Tensor<float>::zeros({sizes.batch, sizes.width});
    auto const batch = static_cast<double>(sizes.batch);
    std::vector<Case> cases;

    KeyIndex<Key> index;
    std::vector<Key> all(sizes.keys);
    for (std::size_t i = 0; i < sizes.keys; ++i) all[i] = key_at(i);
    index.find_or_insert(exec, all);
    cases.push_back({"find", "rowan", batch, [&](std::size_t s) { use(index.find(exec, batches[s])); }});
    cases.push_back({"find and gather", "rowan", batch,
                     [&](std::size_t s) { rowan::gather_into(exec, table, index, batches[s], out); }});
    cases.push_back({"insert", "rowan", static_cast<double>(sizes.keys), [&](std::size_t) {
                         KeyIndex<Key> fresh;
                         for (std::size_t i = 0; i < sizes.keys; i += sizes.batch)
                             fresh.find_or_insert(exec, std::span(all).subspan(i, std::min(sizes.batch, sizes.keys - i)));
                         use(fresh);
                     }});
    cases.push_back({"insert at once", "rowan", static_cast<double>(sizes.keys), [&](std::size_t) {
                         KeyIndex<Key> fresh;
                         fresh.reserve(sizes.keys);
                         fresh.find_or_insert(exec, all);
                         use(fresh);
                     }});
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
    boost::unordered_flat_map<Key, std::int64_t> boost_map;
    add_map(cases, "boost::unordered_flat_map", sizes, exec, boost_map, batches, table, out);
#endif
#if __has_include(<ankerl/unordered_dense.h>)
    ankerl::unordered_dense::map<Key, std::int64_t> ankerl_map;
    add_map(cases, "ankerl::unordered_dense", sizes, exec, ankerl_map, batches, table, out);
#endif
    for (std::size_t round = 0; round < (sizes.keys > 10'000 ? 3 : 1); ++round) {
        for (auto& c : cases) {
            if (c.keys > batch) {
                c.best = std::min(c.best, seconds([&] { c.run(0); }));
                continue;
            }
            double const time = seconds([&] {
                for (std::size_t s = 0; s < sizes.sets; ++s) c.run(s);
            });
            c.best = std::min(c.best, time / static_cast<double>(sizes.sets));
        }
    }
    for (auto const& c : cases)
        std::printf("{\"op\": \"%s\", \"who\": \"%s\", \"threads\": %d, \"ns_per_key\": %.2f}\n", c.op.c_str(),
                    c.who.c_str(), exec.threads, 1e9 * c.best / c.keys);
    auto const s = index.statistics();
    std::printf("{\"keys\": %zu, \"load\": %.3f, \"longest_probe\": %zu, \"bytes_per_key\": %.1f}\n", s.keys, s.load,
                s.longest_probe, static_cast<double>(s.bytes) / static_cast<double>(s.keys));
}
