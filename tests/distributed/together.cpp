// tests/distributed/together.cpp
#include <rowan/distributed/together.hpp>

#include "catch.hpp"
#include "on_ranks.hpp"

#include <rowan/distributed/self.hpp>
#include <rowan/distributed/threads.hpp>

#include <atomic>
#include <string>

namespace test_together {

using namespace rowan;

TEMPLATE_TEST_CASE("what throws on one rank throws on all, and work goes on", "[distributed]", test::Ranks,
                   test::Many) {
    for (int const n : {1, 2, 5}) {
        std::atomic<int> own{0}, remote{0}, after{0};
        Threads::run(n, [&](TestType const& comm) {
            try {
                together(comm, [&] {
                    if (comm.rank() == n - 1) throw IndexError("rows", 1, 9, 4);
                });
            } catch (IndexError const&) {
                ++own;
            } catch (RemoteError const& e) {
                if (e.rank() == n - 1 &&
                    std::string(e.what()) == "rank " + std::to_string(n - 1) + ": rows[1] = 9 is not in [0, 4)")
                    ++remote;
            }
            together(comm, [&] { ++after; });
        });
        CHECK(own == 1);
        CHECK(remote == n - 1);
        CHECK(after == n);
    }
}

TEMPLATE_TEST_CASE("several ranks that throw: each gets its own error, the others that of the first", "[distributed]",
                   test::Ranks, test::Many) {
    std::atomic<int> right{0};
    Threads::run(4, [&](TestType const& comm) {
        try {
            together(comm, [&] {
                if (comm.rank() % 2 == 1) throw Error(std::string(600, 'x').append(std::to_string(comm.rank())));
            });
        } catch (RemoteError const& e) {
            right +=
                comm.rank() % 2 == 0 && e.rank() == 1 && std::string(e.what()) == "rank 1: " + std::string(511, 'x');
        } catch (Error const& e) {
            right += std::string(e.what()).back() == static_cast<char>('0' + comm.rank());
        }
    });
    CHECK(right == 4);
}

TEST_CASE("one rank alone has its own errors", "[distributed]") {
    CHECK_THROWS_AS(together(Self{}, [] { throw ValueError("x", 1, "2"); }), ValueError);
    int calls = 0;
    together(Self{}, [&] { ++calls; });
    CHECK(calls == 1);
}

}  // namespace test_together
