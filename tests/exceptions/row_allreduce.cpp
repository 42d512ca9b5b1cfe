// tests/exceptions/row_allreduce.cpp: the n-th allocation fails on one of several ranks, n = 1, 2, …, until all succeed.
#include <rowan/distributed/row_allreduce.hpp>

#include "catch.hpp"
#include "failing_new.hpp"
#include "parts.hpp"

#include <rowan/core/kept_memory.hpp>
#include <rowan/distributed/dense_allreduce.hpp>
#include <rowan/distributed/sharded_table.hpp>
#include <rowan/distributed/threads.hpp>
#include <rowan/distributed/together.hpp>
#include <rowan/distributed/train.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/operators.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test_failing_allreduce {

namespace {

using namespace rowan;

constexpr int ranks = 3, two = 2;
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

/// The errors of one failure: bad_alloc on one rank, and on all others a RemoteError that names it.
bool right_errors(std::vector<Outcome> const& all) {
    auto const first = std::ranges::find_if(all, [](Outcome const& o) { return o.threw && !o.remote; });
    if (first == all.end() || !first->says(std::string(failed))) return false;
    auto const text = "rank " + std::to_string(first - all.begin()) + ": " + first->text.data();
    return std::all_of(all.begin(), all.end(), [&](Outcome const& o) {
        return &o == &*first || (o.remote && o.says(text));
    });
}

/// Where all ranks wait for each other, asleep: std::barrier spins, which takes minutes beside other programs. It allocates
/// nothing.
class Meeting {
public:
    void arrive_and_wait() {
        std::unique_lock lock(mutex_);
        unsigned const phase = phase_;
        if (++arrived_ == ranks) {
            arrived_ = 0;
            ++phase_;
            all_.notify_all();
        } else {
            all_.wait(lock, [&] { return phase_ != phase; });
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable all_;
    int arrived_ = 0;
    unsigned phase_ = 0;
};

thread_local int this_rank = -1;  // of another thread than those of the ranks

/// Runs call(comm), which gives one number on all ranks, with the n-th allocation failing, or all from the n-th on, for
/// every `stride`-th n, of threads on which `counts` is true. After a failure, all ranks have thrown; and work goes on, or
/// the group has ended, as a second call shows on all ranks.
template <class Call>
void survives(Call const& call, std::size_t stride = 1, bool (*counts)() = nullptr, int per_node = two) {
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
        if (ever_after && counts != nullptr) break;
        for (std::size_t n = 1;; n += stride) {
            first.assign(ranks, {});
            second.assign(ranks, {});
            Meeting together;
            bool reached = false;
            std::ptrdiff_t const blocks = test::live_blocks();
            Threads::run(
                ranks,
                [&](Threads const& comm) {
                    auto& mine = first[static_cast<std::size_t>(comm.rank())];
                    auto& next = second[static_cast<std::size_t>(comm.rank())];
                    together.arrive_and_wait();
                    this_rank = comm.rank();
                    if (comm.rank() == 0) test::fail_allocation(n, ever_after, counts);
                    together.arrive_and_wait();
                    mine.of([&] { mine.good = call(comm) == want; });
                    together.arrive_and_wait();
                    if (comm.rank() == 0) {
                        reached = test::allocation_failed();
                        test::fail_allocation(0);
                    }
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
            if (std::ranges::none_of(first, threw)) {  // perhaps what failed was only to save time
                REQUIRE(std::ranges::all_of(first, [](Outcome const& o) { return o.good; }));
                if (!reached) break;
                continue;
            }
            REQUIRE(std::ranges::all_of(first, threw));
            bool const goes_on =
                std::ranges::all_of(second, [](Outcome const& o) { return !o.threw && o.good; });
            ++(goes_on ? went_on : ended);
            REQUIRE((goes_on || std::ranges::all_of(second, threw)));
            if (!ever_after) REQUIRE(right_errors(first));
            REQUIRE(n < 2000 * stride);
        }
    }
    CHECK((ended > 0 && (went_on > 0 || counts != nullptr)));
}

template <class Part>
std::uint64_t bits_of_all(std::vector<Part> const& all) {
    std::uint64_t h = 0;
    for (auto const& p : all) h = h * 31 + parts::bits(p);
    return h;
}

/// Trains on ranks, which `with` are, too, and returns a number for the bits of what is learned.
template <class C>
std::uint64_t trained(Threads const& comm, C const& with, bool sharded, bool overlap) {
    std::optional<Scope> scope;
    std::optional<layer::Var<float>> cost;
    std::vector<Feeds> batches;
    std::optional<TrainOptions> options;
    together(comm, [&] {
        ScopeGuard const guard(scope.emplace());
        auto const rows = layer::embedding(layer::data<std::int64_t>("ids", {UNK}),
                                           {.height = 9, .width = 2, .name = "table", .sharded = sharded});
        cost = layer::reduce_mean(layer::fc(rows, {.output_size = 1, .name = "fc"}));
        for (std::int64_t i = 0; i < 4; ++i) batches.push_back({{"ids", std::vector<std::int64_t>{i, i + 3}}});
        options = TrainOptions{.optimizer = layer::Adam{}, .comm = with, .parts = 3, .exec = {1}};
        options->overlap = overlap;
    });
    auto const learned = train(*cost, [&](std::int64_t) -> std::vector<Feeds> const& { return batches; }, *options);
    std::uint64_t bits = 0;
    together(comm, [&] { bits = parts::bits(learned.find("fc.w_0").share().elements().bytes); });
    return bits;
}

/// Threads, of which another thread of each rank goes on with exchanges, by a group of its own: the nodes are of one rank.
struct Helped : Threads {
    Helped(Threads const& ranks) : Threads(ranks) {}

    struct Complete : detail::Done {
        bool test() const { return true; }
    };
    Complete alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts,
                       std::span<std::byte> out, std::span<std::size_t const> out_counts) const {
        Threads::alltoallv(unit, in, counts, out, out_counts).wait();
        return {};
    }
    std::optional<Nodes<Helped>> nodes() const { return {}; }
    bool progress() const { return true; }
    /// The first is for that thread; the second is used by the rank's own thread, in one order on all ranks.
    Helped duplicate() const { return std::exchange(has_own_, true) ? *this : Helped(Threads::nodes()->across); }

private:
    mutable bool has_own_ = false;
};

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

TEST_CASE("out of memory on one rank: the operations of a ShardedTable throw on all", "[exceptions]") {
    auto const part = parts::make<float>(1, 12, 3, 30)[0];
    std::vector<std::int64_t> const ids{1, 29, 7, 1};
    survives([&](Threads const& comm) {
        ShardedTable<float, Cpu, Threads> table(comm, {30, 4, ranks}, 3, [](std::int64_t row, std::span<float> values) {
            std::ranges::fill(values, static_cast<float>(row));
        });
        typename ShardedTable<float, Cpu, Threads>::Lookup lookup;
        auto const rows = table.gather(Cpu{1}, ids, lookup);
        static_cast<void>(table.exchange(Cpu{1}, lookup, rows));
        for (auto const order : {SumOrder::parts, SumOrder::contributions})
            static_cast<void>(table.exchange(Cpu{1}, part, order));
        return parts::bits(rows);
    });
}

TEST_CASE("out of memory on one rank: train throws on all", "[exceptions]") {
    auto const [is_sharded, overlaps] = GENERATE(table<bool, bool>({{false, false}, {true, false}, {true, true}}));
    bool const sharded = is_sharded, overlap = overlaps;
    CAPTURE(sharded, overlap);
    survives([&](Threads const& comm) { return trained(comm, comm, sharded, overlap); }, 67);
}

TEST_CASE("out of memory on one rank: train throws there what its memory threw, whatever was on its way", "[exceptions]") {
    survives([](Threads const& comm) { return trained(comm, comm, true, true); }, 7, [] { return this_rank == 2; });
}

TEST_CASE("out of memory in the thread that goes on with exchanges: train throws there, and on all", "[exceptions]") {
    survives([](Threads const& comm) { return trained(comm, Helped(comm), true, true); }, 1, [] { return this_rank < 0; }, 1);
}

TEST_CASE("out of memory on one rank: together throws on all", "[exceptions]") {
    survives([&](Threads const& comm) {
        together(comm, [] { static_cast<void>(std::vector<int>(3)); });
        return std::uint64_t{7};
    });
}

}  // namespace test_failing_allreduce
