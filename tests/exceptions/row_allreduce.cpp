// tests/exceptions/row_allreduce.cpp: the n-th allocation fails on one of several ranks, n = 1, 2, …, until all succeed.
#include <rowan/distributed/row_allreduce.hpp>

#include "catch.hpp"
#include "failing_new.hpp"
#include "parts.hpp"

#include <rowan/core/kept_memory.hpp>
#include <rowan/distributed/dense_allreduce.hpp>
#include <rowan/distributed/threads.hpp>
#include <rowan/distributed/together.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace test_failing_allreduce {

namespace {

using namespace rowan;

constexpr int ranks = 3, per_node = 2;
constexpr std::string_view failed = "std::bad_alloc";

/// What a call has done on a rank. Nothing here allocates.
struct Outcome {
    bool threw = false, remote = false, good = true;
    std::array<char, 100> text{};

    template <class F>
    void of(F const& f) {
        try {
            f();
        } catch (RemoteError const& e) {
            remote = true;
            keep(e.what());
        } catch (std::exception const& e) {
            keep(e.what());
        }
    }
    void keep(char const* what) {
        threw = true;
        std::snprintf(text.data(), text.size(), "%s", what);
    }
    bool says(std::string const& what) const { return what == text.data(); }
};

/// The errors of one failure: bad_alloc on one rank, and on all others a RemoteError that names it. A rank may have had
/// its result before another failed.
bool right_errors(std::vector<Outcome> const& all, bool results) {
    auto const first = std::ranges::find_if(all, [](Outcome const& o) { return o.threw && !o.remote; });
    if (first == all.end() || !first->says(std::string(failed))) return false;
    auto const text = "rank " + std::to_string(first - all.begin()) + ": " + first->text.data();
    return std::all_of(all.begin(), all.end(), [&](Outcome const& o) {
        return &o == &*first || (o.threw ? o.remote && o.says(text) : results && o.good);
    });
}

/// Runs call(comm), which gives one number on all ranks, with the n-th allocation failing, or all from the n-th on. After a
/// failure, either all ranks have thrown, and work goes on; or the group has ended, as a second call shows on all ranks.
template <class Call>
void survives(Call const& call) {
    limit_kept_memory(0);  // so that a freed block is not live
    std::uint64_t want = 0;
    Threads::run(
        ranks,
        [&](Threads const& comm) {
            auto const bits = call(comm);
            if (comm.rank() == 0) want = bits;
        },
        std::chrono::seconds(20), per_node);
    std::size_t ended = 0, went_on = 0;
    std::vector<Outcome> first, second;
    for (bool const ever_after : {false, true}) {
        for (std::size_t n = 1;; ++n) {
            first.assign(ranks, {});
            second.assign(ranks, {});
            std::barrier together(ranks);
            std::ptrdiff_t const blocks = test::live_blocks();
            Threads::run(
                ranks,
                [&](Threads const& comm) {
                    auto& mine = first[static_cast<std::size_t>(comm.rank())];
                    auto& next = second[static_cast<std::size_t>(comm.rank())];
                    together.arrive_and_wait();
                    if (comm.rank() == 0) test::fail_allocation(n, ever_after);
                    together.arrive_and_wait();
                    mine.of([&] { mine.good = call(comm) == want; });
                    together.arrive_and_wait();
                    if (comm.rank() == 0) test::fail_allocation(0);
                    together.arrive_and_wait();
                    next.of([&] { next.good = call(comm) == want; });
                    together.arrive_and_wait();  // none has ended before
                },
                std::chrono::seconds(2), per_node);
            std::ptrdiff_t const leaked = test::live_blocks() - blocks;
            CAPTURE(n, ever_after, first[0].text.data(), first[1].text.data(), first[2].text.data(),
                    second[0].text.data(), second[1].text.data(), second[2].text.data());
            REQUIRE(leaked == 0);
            auto const threw = [](Outcome const& o) { return o.threw; };
            if (std::ranges::none_of(first, threw)) break;
            auto const good = [](Outcome const& o) { return !o.threw && o.good; };
            bool const all = std::ranges::all_of(first, threw), goes_on = all && std::ranges::all_of(second, good);
            ++(goes_on ? went_on : ended);
            REQUIRE((goes_on || std::ranges::all_of(second, threw)));
            if (!ever_after) REQUIRE(right_errors(first, !goes_on));
            REQUIRE(n < 2000);
        }
        CHECK(std::ranges::all_of(first, [](Outcome const& o) { return o.good; }));
    }
    CHECK((went_on > 0 && ended > 0));
}

template <class Part>
std::uint64_t bits_of_all(std::vector<Part> const& all) {
    std::uint64_t h = 0;
    for (auto const& p : all) h = h * 31 + parts::bits(p);
    return h;
}

}  // namespace

TEST_CASE("out of memory on one rank: row_allreduce throws on all, and changes nothing", "[exceptions]") {
    std::size_t const each = GENERATE(1U, 2U);
    auto const all = parts::make<float>(ranks * each, 12, 3, 30);
    auto const before = bits_of_all(all);
    for (auto const order : {SumOrder::parts, SumOrder::contributions}) {
        if (each == 2 && order == SumOrder::contributions) continue;  // as with one part
        for (auto const route : {Route::gather, Route::owner, Route::node}) {
            CAPTURE(each, static_cast<int>(order), static_cast<int>(route));
            survives([&](Threads const& comm) {
                return parts::bits(
                    row_allreduce(Cpu{1}, comm, parts::of_rank(all, comm.rank(), ranks), {order, route}));
            });
        }
    }
    CHECK(bits_of_all(all) == before);
}

TEST_CASE("out of memory on one rank: dense_allreduce throws on all, and changes nothing", "[exceptions]") {
    std::size_t const each = GENERATE(1U, 2U);
    auto const all = parts::make_dense<float>(ranks * each, {2, 5});
    auto const before = bits_of_all(all);
    survives([&](Threads const& comm) {
        return parts::bits(dense_allreduce(Cpu{1}, comm, parts::of_rank(all, comm.rank(), ranks)));
    });
    CHECK(bits_of_all(all) == before);
}

TEST_CASE("out of memory on one rank: together throws on all", "[exceptions]") {
    survives([&](Threads const& comm) {
        together(comm, [] { static_cast<void>(std::vector<int>(3)); });
        return std::uint64_t{7};
    });
}

}  // namespace test_failing_allreduce
