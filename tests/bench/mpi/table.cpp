// tests/bench/mpi/table.cpp: a step of a table of which each rank has some rows, gather, gradients and AdaGrad, in turns
// with the same step of a whole table on one and two threads of rank 0, as the other ranks sleep.
//
//     mpirun -np 2 rowan_bench_mpi_table [--rows N] [--width N] [--lookups N] [--rounds N] [--per-node N]
//
// --per-node ranks are taken for a node, 0 for those of a machine: with 1, rows travel to each rank of another node.
// Each rank looks up so many ids of log-uniform frequency; the whole table has those of one rank.
// Prints milliseconds (medians), lookups of all ranks beside those of the whole table on one thread, and the share of
// time in MPI.
#include <rowan/distributed/mpi.hpp>
#include <rowan/distributed/sharded_table.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/gather.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace rowan;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Mpi, with the time in it.
class Timed {
    template <class Open>
    struct Waiting {
        void wait() {
            auto const begin = Clock::now();
            open.wait();
            *ms += ms_since(begin);
        }
        Open open;
        std::shared_ptr<double> ms;
    };
    template <class F>
    auto timed(F const& f) const {
        auto const begin = Clock::now();
        if constexpr (std::is_void_v<decltype(f())>) {
            f();
            *ms += ms_since(begin);
        } else {
            auto open = f();
            *ms += ms_since(begin);
            return Waiting<decltype(open)>{std::move(open), ms};
        }
    }

public:
    explicit Timed(Mpi const& mpi, std::shared_ptr<double> time = std::make_shared<double>(0))
        : ms(std::move(time)), mpi_(mpi) {}
    std::optional<Nodes<Timed>> nodes() const {
        auto all = mpi_.nodes();
        if (!all) return {};
        return Nodes<Timed>{Timed(all->node, ms), Timed(all->across, ms), std::move(all->begins)};
    }
    int rank() const { return mpi_.rank(); }
    int size() const { return mpi_.size(); }
    void sum(std::span<std::int64_t> words) const {
        timed([&] { mpi_.sum(words); });
    }
    void allgather(std::span<std::byte const> in, std::span<std::byte> out) const {
        timed([&] { mpi_.allgather(in, out); });
    }
    void alltoall(std::span<std::byte const> in, std::span<std::byte> out) const {
        timed([&] { mpi_.alltoall(in, out); });
    }
    auto alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts,
                   std::span<std::byte> out, std::span<std::size_t const> out_counts) const {
        return timed([&] { return mpi_.alltoallv(unit, in, counts, out, out_counts); });
    }
    auto allgatherv(std::size_t unit, std::span<std::byte const> in, std::span<std::byte> out,
                    std::span<std::size_t const> counts) const {
        return timed([&] { return mpi_.allgatherv(unit, in, out, counts); });
    }
    void barrier() const { mpi_.barrier(); }
    void abort(std::string_view text) const { mpi_.abort(text); }

    std::shared_ptr<double> ms;

private:
    Mpi mpi_;
};

struct Options {
    std::int64_t rows = std::int64_t{1} << 24;  // of 64 floats: 4 GiB
    std::size_t width = 64, lookups = std::size_t{1} << 16, rounds = 21, per_node = 0;
};

Options parse(int argc, char** argv) {
    Options o;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (++i == argc) throw std::invalid_argument(std::string(word).append(": a number is missing"));
        auto const n = std::stoull(argv[i]);
        if (n == 0 && word != "--per-node") throw std::invalid_argument(std::string(word).append(": 0, expected at least 1"));
        if (word == "--rows") {
            o.rows = static_cast<std::int64_t>(n);
        } else if (word == "--width") {
            o.width = n;
        } else if (word == "--lookups") {
            o.lookups = n;
        } else if (word == "--rounds") {
            o.rounds = n;
        } else if (word == "--per-node") {
            o.per_node = n;
        } else {
            throw std::invalid_argument(std::string(word).append(": unknown"));
        }
    }
    return o;
}

/// Ids of log-uniform frequency, spread over the table.
std::vector<std::int64_t> ids_of(Options const& o, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, std::log(static_cast<double>(o.rows)));
    std::vector<std::int64_t> ids(o.lookups);
    for (auto& id : ids) {
        auto const k =
            std::min(static_cast<std::uint64_t>(std::exp(uniform(random))), static_cast<std::uint64_t>(o.rows));
        id = static_cast<std::int64_t>(k * 0x9E3779B1U % static_cast<std::uint64_t>(o.rows));
    }
    return ids;
}

void first_values(std::int64_t row, std::span<float> values) {
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = static_cast<float>((static_cast<std::size_t>(row) + k) % 64) / 64;
}

/// The gradient of the sum of squares.
Tensor<float> gradient_of(Tensor<float>&& out) {
    for (float& x : out) x *= 2;
    return std::move(out);
}

/// A table that rank 0 has alone.
class Whole {
public:
    explicit Whole(Options const& o)
        : table_(Tensor<float>::from_shape({static_cast<std::size_t>(o.rows), o.width})),
          moment_(Tensor<float>::from_shape(table_.shape())) {
        for (std::int64_t i = 0; i < o.rows; ++i)
            first_values(i, {table_.data() + static_cast<std::size_t>(i) * o.width, o.width});
        std::ranges::fill(moment_, 0.0F);
    }
    double step(Cpu exec, std::vector<std::int64_t> const& ids) {
        auto begin = Clock::now();
        auto out = gather(exec, table_, ids);
        double ms = ms_since(begin);
        SelectedRows<float> const grad(table_.shape()[0], ids, gradient_of(std::move(out)));
        begin = Clock::now();
        adagrad(exec, table_, moment_, grad);
        return ms + ms_since(begin);
    }

private:
    Tensor<float> table_, moment_;
};

double median(std::vector<double> v) {
    std::ranges::sort(v);
    return v[v.size() / 2];
}

/// Runs f on rank 0, as the others sleep.
template <class F>
void alone(int rank, F const& f) {
    if (rank == 0) f();
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; done == 0;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void compare(Mpi const& mpi, Options const& o) {
    Timed const comm(Mpi(MPI_COMM_WORLD, static_cast<int>(o.per_node)));
    int const rank = mpi.rank();
    std::unique_ptr<Whole> whole;
    if (rank == 0) whole = std::make_unique<Whole>(o);
    ShardedTable<float, Cpu, Timed> table(comm, {.height = o.rows, .ranks = mpi.size()},
                                          static_cast<std::int64_t>(o.width), first_values);
    auto moment = Tensor<float>::from_shape(table.local().shape());
    std::ranges::fill(moment, 0.0F);
    ShardedTable<float, Cpu, Timed>::Lookup lookup;
    Cpu const exec{1};
    std::vector<double> one, two, all, in_mpi, gathers;
    for (std::size_t round = 0; round < o.rounds; ++round) {
        auto const ids = ids_of(o, round * static_cast<std::size_t>(mpi.size()) + static_cast<std::size_t>(rank));
        alone(rank, [&] {
            one.push_back(whole->step({1}, ids));
            two.push_back(whole->step({2}, ids_of(o, ~round)));
        });
        mpi.barrier();
        *comm.ms = 0;
        auto begin = Clock::now();
        auto out = table.gather(exec, ids, lookup);
        double ms = ms_since(begin);
        gathers.push_back(ms);
        auto const grad = gradient_of(std::move(out));
        mpi.barrier();
        begin = Clock::now();
        adagrad(exec, table.local(), moment, table.gradient(exec, lookup, grad));
        ms += ms_since(begin);
        all.push_back(ms);
        in_mpi.push_back(*comm.ms / ms);
    }
    if (rank != 0) return;
    double const ranks = mpi.size();
    std::printf("whole table: %.2f ms on one thread, %.2f on two (%.2fx)\n", median(one), median(two),
                median(one) / median(two));
    std::printf("%d ranks: %.2f ms (gather %.2f), %.2fx the lookups of the whole table on one thread; in MPI %.0f%%\n",
                mpi.size(), median(all), median(gathers), ranks * median(one) / median(all), 100 * median(in_mpi));
}

}  // namespace

int main(int argc, char** argv) {
    return run_mpi(argc, argv, [&](Mpi const& mpi) {
        compare(mpi, parse(argc, argv));
        return 0;
    });
}
