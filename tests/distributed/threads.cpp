// tests/distributed/threads.cpp
#include <rowan/distributed/threads.hpp>

#include "catch.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace test_threads {

using namespace rowan;

namespace {

template <class V>
auto bytes(V& v) {
    return std::as_writable_bytes(std::span(v));
}

/// The text of the first error of f on `ranks` ranks.
template <class F>
std::string error_of(int ranks, F const& f) {
    try {
        Threads::run(ranks, f, std::chrono::milliseconds(200));
    } catch (Error const& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("ranks that are threads sum, gather and exchange what each brings", "[distributed]") {
    for (int const n : {1, 2, 3, 8}) {
        Threads::run(n, [n](Threads const& comm) {
            auto const size = static_cast<std::size_t>(n), me = static_cast<std::size_t>(comm.rank());
            std::array<std::int64_t, 2> words{comm.rank(), std::int64_t{1} << 62};
            comm.sum(words);
            bool right = words == std::array<std::int64_t, 2>{
                                      n * (n - 1) / 2, static_cast<std::int64_t>(static_cast<std::uint64_t>(n) << 62)};

            std::vector<std::int32_t> all(size), own{comm.rank() * comm.rank()};
            comm.allgather(bytes(own), bytes(all));
            for (std::int32_t r = 0; r < n; ++r) right = right && all[static_cast<std::size_t>(r)] == r * r;

            std::vector<std::int32_t> to, from(size);  // 10 * sender + receiver
            for (std::int32_t r = 0; r < n; ++r) to.push_back(10 * comm.rank() + r);
            comm.alltoall(bytes(to), bytes(from));
            for (std::int32_t r = 0; r < n; ++r)
                right = right && from[static_cast<std::size_t>(r)] == 10 * r + comm.rank();

            std::vector<std::size_t> send(size), receive(size, me),
                gathered(size);  // rank s sends r numbers s to rank r
            for (std::size_t r = 0; r < size; ++r) send[r] = gathered[r] = r;
            std::vector<std::int32_t> out(size * (size - 1) / 2, comm.rank()), in(size * me), shares(out.size()),
                share(me, comm.rank());
            comm.alltoallv(4, bytes(out), send, bytes(in), receive).wait();
            for (std::size_t i = 0; i < in.size(); ++i) right = right && in[i] == static_cast<std::int32_t>(i / me);
            comm.allgatherv(4, bytes(share), bytes(shares), gathered).wait();
            std::size_t at = 0;
            for (std::int32_t r = 0; r < n; ++r) {
                for (std::int32_t k = 0; k < r; ++k) right = right && shares[at++] == r;
            }
            comm.barrier();
            if (!right) throw Error("wrong");
        });
    }
}

TEST_CASE("ranks know their nodes, of which the last has what remains", "[distributed]") {
    std::atomic<int> right{0};
    Threads::run(
        5,
        [&](Threads const& comm) {
            auto const nodes = comm.nodes();
            std::array<std::int64_t, 1> ranks{comm.rank()}, places{comm.rank()};
            nodes->node.sum(ranks);
            nodes->across.sum(places);
            right += nodes->begins == std::vector{0, 2, 4, 5} && nodes->node.rank() == comm.rank() % 2 &&
                     nodes->across.rank() == comm.rank() / 2 && nodes->across.size() == 3 - comm.rank() % 2 &&
                     nodes->node.size() == (comm.rank() == 4 ? 1 : 2) &&
                     ranks[0] == std::array{1, 1, 5, 5, 4}[static_cast<std::size_t>(comm.rank())] &&
                     places[0] == (comm.rank() % 2 == 0 ? 6 : 4);
        },
        std::chrono::seconds(2), 2);
    CHECK(right == 5);
    Threads::run(
        2, [&](Threads const& comm) { right += comm.nodes() ? 0 : 1; }, std::chrono::seconds(2), 2);
    CHECK(right == 7);
    CHECK_THROWS_AS(Threads::run(
                        2, [](Threads const&) {}, std::chrono::seconds(2), -1),
                    ValueError);
}

TEST_CASE("an error of one rank ends those that wait within nodes and between them", "[distributed]") {
    auto const error_of = [](auto const& f) -> std::string {
        try {
            Threads::run(4, f, std::chrono::milliseconds(200), 2);
        } catch (Error const& e) {
            return e.what();
        }
        return "none";
    };
    std::atomic<int> remote{0};
    CHECK(error_of([&](Threads const& comm) {
              auto const nodes = *comm.nodes();
              if (comm.rank() == 3) throw Error("bad");
              try {
                  comm.rank() == 2 ? nodes.node.barrier() : nodes.across.barrier();
                  comm.barrier();
              } catch (RemoteError const& e) {
                  remote += std::string(e.what()) == "rank 3: bad";
                  throw;
              }
          }) == "bad");
    CHECK(remote == 3);
    CHECK(error_of([](Threads const& comm) {
              if (comm.rank() != 3) comm.nodes()->across.barrier();
          }) == "rank 3: has ended, where others call barrier");
    CHECK(error_of([](Threads const& comm) {  // who has ended is not missed in a group that it is not in
              if (comm.rank() == 3) return;
              if (comm.rank() != 1) comm.nodes()->across.barrier();
          }) == "none");
}

TEST_CASE("an error of one rank ends the others, and the caller gets it", "[distributed]") {
    int remote = 0;
    auto const f = [&](Threads const& comm) {
        if (comm.rank() == 1) throw IndexError("rows", 1, 9, 4);
        try {
            comm.barrier();
        } catch (RemoteError const& e) {
            if (e.rank() == 1 && std::string(e.what()) == "rank 1: rows[1] = 9 is not in [0, 4)") ++remote;
            throw;
        }
    };
    CHECK_THROWS_AS(Threads::run(2, f), IndexError);
    CHECK(remote == 1);
    CHECK(error_of(3, [](Threads const& comm) { comm.rank() == 2 ? comm.abort("no memory") : comm.barrier(); }) ==
          "no memory");
    CHECK_THROWS_AS(Threads::run(2, [](Threads const& comm) { comm.rank() == 0 ? throw 5 : comm.barrier(); }), int);
    CHECK_THROWS_AS(Threads::run(0, [](Threads const&) {}), ValueError);
}

TEST_CASE("ranks that call different operations, or do not come, are named", "[distributed]") {
    auto const differ = error_of(2, [](Threads const& comm) {
        std::array<std::int64_t, 1> word{};
        comm.rank() == 0 ? comm.barrier() : comm.sum(word);
    });
    CHECK((differ == "rank 1 calls sum where rank 0 calls barrier" ||
           differ == "rank 0 calls barrier where rank 1 calls sum"));
    CHECK(error_of(3, [](Threads const& comm) {
              if (comm.rank() != 1) comm.barrier();
          }) == "rank 1: has ended, where others call barrier");
    CHECK(error_of(2, [](Threads const& comm) {
              std::vector<std::size_t> const two{2, 2}, one{1, 1};
              std::vector<std::byte> in(4), out(4);
              static_cast<void>(comm.rank() == 0 ? comm.alltoallv(1, in, two, out, two)
                                                 : comm.alltoallv(1, std::span(in).first(2), one, out, two));
          }).find("disagree about the number of bytes") != std::string::npos);
}

}  // namespace test_threads
