// tests/mpi/mpi.cpp
#include <rowan/distributed/mpi.hpp>

#include "catch.hpp"
#include "distributed/on_ranks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace test_mpi {

using namespace rowan;

namespace {

template <class V>
auto bytes(V& v) {
    return std::as_writable_bytes(std::span(v));
}

}  // namespace

TEST_CASE("MPI's ranks sum, gather and exchange what each brings", "[mpi]") {
    for (int const most : {1, 2, 3, 4}) {
        auto const right = test::on_ranks(most, [](Mpi const& comm) {
            int const n = comm.size();
            auto const size = static_cast<std::size_t>(n), me = static_cast<std::size_t>(comm.rank());
            std::array<std::int64_t, 2> words{comm.rank(), std::int64_t{1} << 62};
            comm.sum(words);
            bool good = words[0] == n * (n - 1) / 2 &&
                        words[1] == static_cast<std::int64_t>(static_cast<std::uint64_t>(n) << 62);

            std::vector<std::int32_t> all(size), own{comm.rank() * comm.rank()};
            comm.allgather(bytes(own), bytes(all));
            for (std::int32_t r = 0; r < n; ++r) good = good && all[static_cast<std::size_t>(r)] == r * r;

            std::vector<std::int32_t> to, from(size);  // 10 * sender + receiver
            for (std::int32_t r = 0; r < n; ++r) to.push_back(10 * comm.rank() + r);
            comm.alltoall(bytes(to), bytes(from));
            for (std::int32_t r = 0; r < n; ++r)
                good = good && from[static_cast<std::size_t>(r)] == 10 * r + comm.rank();

            std::vector<std::size_t> send(size), receive(size, me),
                gathered(size);  // rank s sends r numbers s to rank r
            for (std::size_t r = 0; r < size; ++r) send[r] = gathered[r] = r;
            std::vector<std::int32_t> out(size * (size - 1) / 2, comm.rank()), in(size * me), shares(out.size()),
                share(me, comm.rank());
            auto a = comm.alltoallv(4, bytes(out), send, bytes(in), receive);  // both are open at once
            auto b = comm.allgatherv(4, bytes(share), bytes(shares), gathered);
            b.wait();
            a.wait();
            for (std::size_t i = 0; i < in.size(); ++i) good = good && in[i] == static_cast<std::int32_t>(i / me);
            std::size_t at = 0;
            for (std::int32_t r = 0; r < n; ++r) {
                for (std::int32_t k = 0; k < r; ++k) good = good && shares[at++] == r;
            }
            comm.barrier();
            return static_cast<int>(good);
        });
        for (int const good : right) CHECK(good == 1);
    }
}

TEST_CASE("MPI's ranks of one machine are one node, unless they are told how many make one", "[mpi]") {
    auto const alone = test::on_ranks(4, [](Mpi const& comm) { return comm.nodes() ? 0 : 1; });
    for (int const one : alone) CHECK(one == 1);
    auto const right = test::on_ranks(
        3,
        [](Mpi const& comm) {
            if (comm.size() < 3) return 1;
            auto const nodes = *comm.nodes(), again = *Mpi(comm).nodes();
            std::array<std::int64_t, 2> words{comm.rank(), comm.rank()};
            nodes.node.sum(std::span(words).first(1));
            again.across.sum(std::span(words).last(1));
            return static_cast<int>(nodes.begins == std::vector{0, 2, 3} && nodes.node.rank() == comm.rank() % 2 &&
                                    nodes.across.rank() == comm.rank() / 2 && words[0] == (comm.rank() < 2 ? 1 : 2) &&
                                    words[1] == (comm.rank() == 1 ? 1 : 2) && !nodes.node.nodes());
        },
        2);
    for (int const good : right) CHECK(good == 1);
}

TEST_CASE("messages that are not waited for are complete when their result is destroyed", "[mpi]") {
    auto const right = test::on_ranks(2, [](Mpi const& comm) {
        std::vector<std::size_t> const counts(static_cast<std::size_t>(comm.size()), 1000);
        std::vector<std::int64_t> out(counts.size() * 1000, comm.rank()), in(out.size(), -1);
        { auto const dropped = comm.alltoallv(8, bytes(out), counts, bytes(in), counts); }
        bool good = true;
        for (std::size_t i = 0; i < in.size(); ++i) good = good && in[i] == static_cast<std::int64_t>(i / 1000);
        return static_cast<int>(good);
    });
    for (int const good : right) CHECK(good == 1);
}

}  // namespace test_mpi
