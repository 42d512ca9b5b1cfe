// tests/distributed/on_ranks.hpp: calls a function on several ranks: threads, or, with ROWAN_TEST_MPI, those of mpirun.
#pragma once

#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/together.hpp>
#ifdef ROWAN_TEST_MPI
#include <rowan/distributed/mpi.hpp>
#else
#include <rowan/distributed/threads.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace test {

#ifdef ROWAN_TEST_MPI
/// Mpi, of which 4 ranks agree as if they were many.
struct Ranks : rowan::Mpi {
    using Mpi::Mpi;
    Ranks(Mpi const& ranks) : Mpi(ranks) {}
    static constexpr int few_ranks = 3;
};
rowan::Mpi const& world();  // in tests/mpi/main.cpp

/// The first `ranks` ranks of mpirun, or all; null on the others.
inline std::vector<Ranks> first_ranks(int ranks, int per_node) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world().rank() < ranks ? 0 : MPI_UNDEFINED, world().rank(), &part);
    std::vector<Ranks> mine;
    if (part != MPI_COMM_NULL) {
        mine.emplace_back(part, per_node);
        MPI_Comm_free(&part);
    }
    return mine;
}
#else
using Ranks = rowan::Threads;
#endif

/// The path that rank 0 gives, on all ranks.
inline std::string shared_path(std::string const& own) {
    std::string name = own;
#ifdef ROWAN_TEST_MPI
    name.resize(200);
    std::vector<char> all(name.size() * static_cast<std::size_t>(world().size()));
    world().allgather(std::as_bytes(std::span(name)), std::as_writable_bytes(std::span(all)));
    name = all.data();
#endif
    return name;
}

/// Ranks that agree as if they were many.
struct Many : Ranks {
    Many(Ranks const& ranks) : Ranks(ranks) {}
    static constexpr int few_ranks = 0;
};

/// The sizes of groups that a test has; with MPI, all above the number of ranks are that number, once. `sizes` ascends.
inline std::vector<int> group_sizes(std::vector<int> sizes) {
#ifdef ROWAN_TEST_MPI
    for (int& n : sizes) n = std::min(n, world().size());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
#endif
    return sizes;
}

/// Calls f(comm) on `ranks` ranks, with MPI on as many as there are, and returns what it returns on each, on all. What it
/// throws on one leaves this call. Catch2's assertions are for one thread: f returns what is to be checked. `per_node` ranks
/// make a node, and what remains the last one; 0: one node.
template <class F>
auto on_ranks(int ranks, F const& f, int per_node = 0) {
    using R = std::invoke_result_t<F const&, Ranks const&>;
    static_assert(std::is_trivially_copyable_v<R> && !std::is_same_v<R, bool>, "std::vector<bool> has no elements");
    std::vector<R> all(static_cast<std::size_t>(ranks));
#ifdef ROWAN_TEST_MPI
    auto const mine = first_ranks(ranks, per_node);
    std::size_t const n = std::min<std::size_t>(all.size(), static_cast<std::size_t>(world().size()));
    all.resize(static_cast<std::size_t>(world().size()));
    R result{};
    rowan::together(world(), [&] {
        if (!mine.empty()) result = f(mine[0]);
    });
    world().allgather(std::as_bytes(std::span(&result, 1)), std::as_writable_bytes(std::span(all)));
    all.resize(n);
#else
    rowan::Threads::run(
        ranks, [&](Ranks const& comm) { all[static_cast<std::size_t>(comm.rank())] = f(comm); },
        std::chrono::seconds(20), per_node);
#endif
    return all;
}

}  // namespace test
