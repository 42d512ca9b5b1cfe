// tests/bench/ranks/bookkeeping.cpp: what ranks do besides their nets, of many ranks in one process.
//
//     rowan_bench_ranks [--ranks N] [--tables N] [--rows N] [--width N] [--batch N] [--steps N] [--per-node N] [--tiny]
//
// A step of a job with sharded tables, without its net: each rank names `batch` rows of log-uniform frequency in each of the
// tables, which have `rows` rows. Prints, for each phase, the milliseconds of a rank's processor in a step, without those of
// the exchanges, and the bytes that a rank sends to others; means of all ranks. For numbers of ranks from an eighth of
// --ranks on, so that what grows faster than the rows shows.
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/threads.hpp>
#include <rowan/distributed/train.hpp>
#include <rowan/graph/detail/shard_rows.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/placement.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace rowan;

struct Options {
    std::int64_t ranks = 1024, tables = 26, rows = 65'536, width = 16, batch = 64, steps = 2, per_node = 0;
};

Options parse(int argc, char** argv) {
    Options o;
    std::vector<std::pair<std::string_view, std::int64_t*>> const names{
        {"--ranks", &o.ranks}, {"--tables", &o.tables}, {"--rows", &o.rows},         {"--width", &o.width},
        {"--batch", &o.batch}, {"--steps", &o.steps},   {"--per-node", &o.per_node}};
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--tiny") {
            o = {16, 3, 200, 2, 8, 1, 0};
            continue;
        }
        auto const name = std::ranges::find(names, argv[i], &std::pair<std::string_view, std::int64_t*>::first);
        if (name == names.end() || ++i == argc) throw std::invalid_argument("names of numbers, as in the first lines of bookkeeping.cpp");
        *name->second = std::stoll(argv[i]);
    }
    return o;
}

enum Phase { agreement, find, tell, rows, next, gradients, costs, phases };
constexpr std::array names{"agree", "find rows", "tell rows", "read and take rows", "tell next rows", "sum gradients", "costs of parts"};

double cpu_ms() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// What a rank has used.
struct Used {
    std::array<double, phases> ms{}, bytes{};
    double exchanges = 0;  // milliseconds
    std::size_t sent = 0;
};

/// Threads that measure their exchanges.
struct Measured : Threads {
    Measured(Threads const& ranks, Used* to) : Threads(ranks), used(to) {}
    std::optional<Nodes<Measured>> nodes() const {
        auto all = Threads::nodes();
        if (!all) return {};
        return Nodes<Measured>{{all->node, used}, {all->across, used}, std::move(all->begins)};
    }
    void sum(std::span<std::int64_t> words) const {
        exchange(words.size_bytes(), [&] { Threads::sum(words); });
    }
    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const {
        exchange(in.size() * others(), [&] { Threads::allgather(in, out); });
    }
    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const {
        exchange(in.size() / (others() + 1) * others(), [&] { Threads::alltoall(in, out); });
    }
    detail::Done alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts,
                           std::span<std::byte> out, std::span<std::size_t const> out_counts) const {
        std::size_t bytes = 0;
        for (std::size_t r = 0; r < counts.size(); ++r) bytes += static_cast<int>(r) == rank() ? 0 : counts[r] * unit;
        exchange(bytes, [&] { Threads::alltoallv(unit, in, counts, out, out_counts); });
        return {};
    }
    detail::Done allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                            std::span<std::size_t const> counts) const {
        exchange(in.size() * others(), [&] { Threads::allgatherv(unit, in, out, counts); });
        return {};
    }
    Used* used;

private:
    std::size_t others() const { return static_cast<std::size_t>(size()) - 1; }
    template <class F>
    void exchange(std::size_t bytes, F const& f) const {
        double const before = cpu_ms();
        f();
        used->exchanges += cpu_ms() - before;
        used->sent += bytes;
    }
};

/// One rank of the job.
class Rank {
public:
    Rank(Options const& o, Measured const& comm) : o_(o), used_(*comm.used), ranks_(detail::RanksOf<Measured>::make(comm)), random_(static_cast<std::uint64_t>(comm.rank())) {
        ranks_->begin(true);
        auto const mine = detail::rows_of_rank(Placement{}.on(o.rows, comm.size()), comm.rank());
        for (std::int64_t t = 0; t < o.tables; ++t)
            tables_.emplace_back().set(SelectedRows<float>(o.rows, mine, Tensor<float>::zeros({mine.size(), static_cast<std::size_t>(o.width)})));
    }
    void step() {
        auto const named = rows_of_batch(), next_named = rows_of_batch();
        std::unique_ptr<detail::FetchedTables> fetched, ahead;
        std::vector<detail::Ranks::Words> words;
        std::vector<Value const*> own;
        for (auto const& t : tables_) own.push_back(&t);
        auto const before = [](std::size_t, Ids<> const&) {};
        measure(find, [&] { fetched = ranks_->fetch(Cpu{1}, asked(named)); });
        measure(agreement, [&] {
            words = ranks_->agree(detail::TrainCall::fetch, 0, [&](auto& w) { w = {1, fetched->most_of_one, fetched->of_others}; });
        });
        measure(tell, [&] { fetched->ask(words); });
        measure(rows, [&] {
            fetched->begin_rest(own, before);
            fetched->end_rest(own);
        });
        measure(next, [&] {
            ahead = ranks_->begin_fetch(Cpu{1}, asked(next_named), true, std::vector<bool>(tables_.size()), *fetched);
            ahead->reach();
        });
        measure(gradients, [&] { sum(*fetched, named); });
        measure(rows, [&] {
            ahead->begin_rest(own, before);
            ahead->end_rest(own);
        });
        measure(costs, [&] {
            detail::NumbersOfParts numbers;
            numbers.begin(*ranks_, {1, 1}, 2, ranks_->size());
            static_cast<void>(numbers.take());
        });
    }

private:
    std::vector<std::vector<std::int64_t>> rows_of_batch() {
        std::uniform_real_distribution<double> uniform(0, std::log(static_cast<double>(o_.rows)));
        std::vector<std::vector<std::int64_t>> all(tables_.size());
        for (auto& list : all) {
            for (std::int64_t i = 0; i < o_.batch; ++i) {
                auto const k = static_cast<std::uint64_t>(std::exp(uniform(random_)));
                list.push_back(static_cast<std::int64_t>(k * 0x9E3779B1U % static_cast<std::uint64_t>(o_.rows)));
            }
            std::ranges::sort(list);
            list.erase(std::unique(list.begin(), list.end()), list.end());
        }
        return all;
    }
    std::vector<detail::TableRows> asked(std::vector<std::vector<std::int64_t>> const& named) const {
        std::vector<detail::TableRows> all;
        for (std::size_t t = 0; t < tables_.size(); ++t) all.push_back({&tables_[t], Placement{}, named[t]});
        return all;
    }
    void sum(detail::FetchedTables& fetched, std::vector<std::vector<std::int64_t>> const& named) const {
        std::vector<detail::FetchedTables::Gradient> all;
        for (std::size_t t = 0; t < tables_.size(); ++t) {
            detail::RowPieces node;
            node.row_bytes = static_cast<std::size_t>(o_.width) * sizeof(float);
            node.resize(named[t].size());
            std::ranges::copy(named[t], node.rows.begin());
            std::ranges::fill(node.bytes, std::byte{});
            all.push_back({t, true, detail::element_sums<float>(), std::move(node)});
        }
        fetched.begin_sum(std::move(all));
        std::vector<std::int64_t> keys;
        for (int r = 0; r < ranks_->size(); ++r) keys.push_back(r);
        static_cast<void>(fetched.end_sum(Cpu{1}, keys));
    }
    template <class F>
    void measure(Phase phase, F const& f) {
        double const ms = cpu_ms(), exchanges = used_.exchanges;
        std::size_t const sent = used_.sent;
        f();
        auto const p = static_cast<std::size_t>(phase);
        used_.ms[p] += cpu_ms() - ms - (used_.exchanges - exchanges);
        used_.bytes[p] += static_cast<double>(used_.sent - sent);
    }

    Options const& o_;
    Used& used_;
    std::shared_ptr<detail::Ranks const> ranks_;
    std::mt19937_64 random_;
    std::vector<Value> tables_;
};

/// The means of all ranks in a step.
Used run(Options const& o, int ranks) {
    Used all;
    std::mutex mutex;
    Threads::run(
        ranks,
        [&](Threads const& comm) {
            Used mine;
            Rank rank(o, Measured(comm, &mine));
            rank.step();  // memory is there from now on
            mine = {};
            for (std::int64_t s = 0; s < o.steps; ++s) rank.step();
            std::scoped_lock const lock(mutex);
            for (std::size_t p = 0; p < phases; ++p) {
                all.ms[p] += mine.ms[p] / static_cast<double>(o.steps * ranks);
                all.bytes[p] += mine.bytes[p] / static_cast<double>(o.steps * ranks);
            }
        },
        std::chrono::hours(1), static_cast<int>(o.per_node));
    return all;
}

void compare(Options const& o) {
    std::printf("%lld tables, of which each rank names at most %lld rows\n%-6s", static_cast<long long>(o.tables), static_cast<long long>(o.batch), "ranks");
    for (auto const* name : names) std::printf(" %20s", name);
    std::printf(" %20s\n", "all");
    for (std::int64_t n = std::max<std::int64_t>(2, o.ranks / 8); n <= o.ranks; n *= 2) {
        auto const used = run(o, static_cast<int>(n));
        std::printf("%-6lld", static_cast<long long>(n));
        double ms = 0, bytes = 0;
        auto const print = [](double one_ms, double one_bytes) { std::printf(" %8.3f ms %6.1f KB", one_ms, one_bytes / 1000); };
        for (std::size_t p = 0; p < phases; ++p) {
            print(used.ms[p], used.bytes[p]);
            ms += used.ms[p];
            bytes += used.bytes[p];
        }
        print(ms, bytes);
        std::printf("\n");
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) { compare(parse(argc, argv)); }
