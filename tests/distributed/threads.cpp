// tests/distributed/threads.cpp
#include <rowan/distributed/detail/long_wait.hpp>
#include <rowan/distributed/threads.hpp>

#include <unistd.h>

#include "catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
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

/// What the process prints to standard error while f runs.
template <class F>
std::string errors_of(F const& f) {
    std::FILE* const file = std::tmpfile();
    int const before = ::dup(2);
    ::dup2(::fileno(file), 2);
    f();
    std::fflush(stderr);
    ::dup2(before, 2);
    ::close(before);
    std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
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

TEST_CASE("ranks that wait throw where their patience ends, and name who has not come to what", "[distributed][errors]") {
    std::atomic<int> ended{0};
    std::array<std::string, 3> texts;
    auto const run = [&](int late, auto const& waits) {
        ended = 0;
        Threads::run(3, [&](Threads const& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            comm.expect("step 17's fetch", std::chrono::milliseconds(100));
            if (comm.rank() >= late) {
                while (ended < late) std::this_thread::yield();
            }
            try {
                waits(comm);
            } catch (RemoteError const& e) {
                texts[me] = e.what();
                if (e.rank() != late) texts[me] = "another rank";
            }
            ++ended;
            try {
                comm.nodes();
                comm.barrier();
                texts[me] = "the group goes on";
            } catch (RemoteError const&) {
            }
        });
    };
    auto const barrier = [](Threads const& comm) { comm.barrier(); };
    run(2, barrier);
    for (auto const& text : texts) {  // also there
        CHECK(text.starts_with("rank 2 has not come to step 17's fetch for 1"));
        CHECK(text.ends_with(" ms"));
    }
    run(1, barrier);
    for (auto const& text : texts) CHECK(text.starts_with("ranks 1 and 2 have not come to step 17's fetch for 1"));
    CHECK(error_of(3, [](Threads const& comm) {  // that of run, and the name of the call
              if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
              comm.barrier();
          }).starts_with("rank 0 has not come to barrier for 2"));
    CHECK(error_of(2, [](Threads const& comm) {  // another group
              if (comm.rank() == 0) comm.barrier();
              if (comm.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(500));
          }).starts_with("rank 1 has not come to barrier"));
}

TEST_CASE("of ranks that wait long one says each time for whom, and in what they wait", "[distributed]") {
    auto const before = detail::report_waits_after.exchange(50);
    auto const said = errors_of([] {
        Threads::run(
            4,
            [](Threads const& comm) {
                if (comm.rank() == 3) std::this_thread::sleep_for(std::chrono::milliseconds(230));
                if (comm.rank() == 1) {
                    comm.expect("step 17's gradients", {});
                    comm.nodes()->across.barrier();
                } else if (comm.rank() == 3) {
                    comm.nodes()->across.barrier();
                } else {
                    comm.expect("step 17's fetch", {});
                }
                comm.barrier();
            },
            std::chrono::seconds(20), 2);
    });
    detail::report_waits_after = before;
    auto const line = said.substr(0, said.find('\n'));
    CHECK(line.starts_with("rowan: rank 3 has not come to step 17's fetch for "));
    CHECK(line.ends_with(" ms; ranks 0 and 2 wait in step 17's fetch; rank 1 waits in step 17's gradients"));
    auto const lines = std::ranges::count(said, '\n');
    CHECK(lines >= 2);
    CHECK(lines <= 5);
}

TEST_CASE("texts of late ranks name runs of them, and of many the first", "[distributed]") {
    auto const text = [](std::vector<int> const& late) { return detail::late_text(late, "it", std::chrono::seconds(60)); };
    CHECK(text({2}) == "rank 2 has not come to it for 60 s");
    CHECK(text({0, 1, 4, 5, 6, 9}) == "ranks 0, 1, 4 to 6 and 9 have not come to it for 60 s");
    CHECK(text({}) == "all ranks wait in it for 60 s");
    std::vector<int> odd;
    for (int r = 1; r < 100; r += 2) odd.push_back(r);
    CHECK(text(odd) == "ranks 1, 3, 5, 7, 9, 11, 13, 15 and 42 more have not come to it for 60 s");
}

}  // namespace test_threads
