// tests/distributed/row_allreduce.cpp
#include <rowan/distributed/row_allreduce.hpp>

#include "../dtypes/own_types.hpp"
#include "on_ranks.hpp"
#include "parts.hpp"
#include "refused.hpp"

#include <rowan/distributed/detail/route_model.hpp>
#include <rowan/distributed/together.hpp>
#include <rowan/sparse/sum_of_parts.hpp>

#include <array>
#include <limits>
#include <string>

namespace test_row_allreduce {

using namespace rowan;
using parts::bits, parts::of_rank;

constexpr std::array routes{Route::automatic, Route::gather, Route::owner, Route::node};

/// Whether all ranks of groups of these sizes, in nodes of so many ranks, have the bits of sum_of_parts and of merge.
template <class T>
void check(std::vector<SelectedRows<T>> const& all, std::vector<int> const& sizes, int per_node = 0) {
    auto const want = bits(sum_of_parts(all)), want_merged = bits(merge(parts::joined(all)));
    for (int const n : test::group_sizes(sizes)) {
        for (Route const route : routes) {
            auto const right = test::on_ranks(
                n,
                [&](auto const& comm) {
                    auto const mine = of_rank(all, comm.rank(), comm.size());
                    auto const sum = row_allreduce(Cpu{1}, comm, mine, {SumOrder::parts, route});
                    auto const merged = row_allreduce(Cpu{1}, comm, mine, {SumOrder::contributions, route});
                    return (bits(sum) == want ? 1 : 0) + (bits(merged) == want_merged ? 2 : 0);
                },
                per_node);
            for (int const r : right) {
                CAPTURE(n, per_node, static_cast<int>(route), all.size(), all[0].rows().size(), all[0].row_size(),
                        all[0].height());
                CHECK(r == 3);
            }
        }
    }
}

/// Many contributions to one row, to be cut anywhere.
std::vector<SelectedRows<float>> heavy() {
    std::vector<SelectedRows<float>> all;
    for (std::size_t const n : {5000U, 1U, 130U, 64U, 9001U})
        all.emplace_back(3, inputs::Rows(n, 1), inputs::wild<float>({n, 1}, n));
    return all;
}

TEST_CASE("the bits of one process, for any number of ranks, by any route", "[distributed]") {
    auto const all = parts::make<float>(8, 700, 5, 1000);
    check(all, {1, 2, 3, 4, 5, 6, 7, 8});
    check(heavy(), {1, 2, 3, 5});
}

TEST_CASE("the bits of one process on several nodes, of as many ranks or not", "[distributed]") {
    auto const all = parts::make<float>(8, 700, 5, 1000);
    for (int const per_node : {1, 2, 3, 4}) {
        check(all, {2, 3, 4, 5, 6, 7, 8}, per_node);
        check(heavy(), {3, 4, 5}, per_node);
        for (std::size_t const n : {7U, 13U, 64U}) check(parts::make<float>(n, 60, 2, 40), {5, 7}, per_node);
    }
    check(parts::make<double>(5, 90, 3, 100), {4, 5}, 2);
    check(parts::make<bfloat16>(5, 90, 3, 100), {4, 5}, 2);
}

TEST_CASE("nodes whose ranks have no rows, rows without elements, great tables", "[distributed]") {
    check(parts::make<float>(5, 0, 3, 10), {4, 5}, 2);
    check(parts::make<float>(4, 50, 0, 10), {3, 4}, 2);
    check(parts::make<float>(5, 50, 2, std::numeric_limits<std::int64_t>::max()), {5}, 3);
    auto all = parts::make<float>(6, 0, 3, 10);
    all[5] = parts::make<float>(1, 2000, 3, 10)[0];
    check(all, {4, 5, 6}, 2);
}

TEST_CASE("the route is chosen by ranks, bytes and nodes", "[distributed]") {
    auto const route = [](std::size_t ranks, std::size_t nodes, std::size_t lookups) {
        std::size_t const bytes = ranks * lookups * 264;
        return detail::fastest_route({ranks, nodes, ranks / nodes, bytes, bytes, bytes, bytes / 4 * 3});
    };
    for (std::size_t const lookups : {0U, 100U, 1'000'000U}) CHECK(route(2, 1, lookups) == Route::gather);
    for (std::size_t const ranks : {4U, 64U, 4096U}) {
        CHECK(route(ranks, 1, 0) == Route::gather);
        CHECK(route(ranks, 1, 10'000) == Route::owner);
        CHECK(route(ranks, ranks, 10'000) == Route::owner);
    }
    CHECK(route(16, 2, 0) == Route::gather);
    CHECK(route(16, 2, 10'000) == Route::node);
    CHECK(route(64, 8, 0) == Route::node);
}

TEST_CASE("any number of parts", "[distributed]") {
    for (std::size_t const n : {3U, 5U, 13U, 64U}) check(parts::make<float>(n, 60, 2, 40), {2, 3});
}

TEST_CASE("ranks and parts without rows, rows without elements, great tables", "[distributed]") {
    check(parts::make<float>(4, 0, 3, 10), {1, 2, 4});
    check(parts::make<float>(4, 50, 0, 10), {1, 3});
    check(parts::make<float>(4, 50, 1, 10), {2, 3});
    check(parts::make<float>(4, 300, 64, 500), {2, 3});
    check(parts::make<float>(5, 50, 2, std::numeric_limits<std::int64_t>::max()), {1, 2, 4});
    auto all = parts::make<float>(4, 0, 3, 10);
    all[3] = parts::make<float>(1, 200, 3, 10)[0];
    check(all, {1, 2, 4});
}

TEST_CASE("double, bfloat16 and an own type travel as their sums", "[distributed]") {
    check(parts::make<double>(5, 90, 3, 100), {1, 3});
    check(parts::make<bfloat16>(5, 90, 3, 100), {1, 3});
    auto own = parts::make<test::dual>(5, 40, 3, 100);
    inputs::Random random(1);
    for (auto& p : own) {
        for (auto& x : p.value()) x = {random.wild<double>(), random.wild<double>()};
    }
    check(own, {1, 3});
}

TEST_CASE("sums that are added rank by rank differ", "[distributed]") {
    auto const all = parts::make<float>(8, 300, 4, 50);
    auto const by_rank = [&](std::size_t ranks) {
        std::vector<SelectedRows<float>> sums;
        for (std::size_t r = 0; r < ranks; ++r) {
            auto const mine = of_rank(all, static_cast<int>(r), static_cast<int>(ranks));
            sums.push_back(merge(parts::joined(std::vector(mine.begin(), mine.end()))));
        }
        return bits(merge(parts::joined(sums)));
    };
    CHECK(by_rank(2) != by_rank(3));
    CHECK(by_rank(3) != by_rank(4));
}

TEST_CASE("the result is in memory of its own, and rows keep their rank", "[distributed]") {
    for (int const n : {1, 2}) {
        auto const right = test::on_ranks(n, [&](auto const& comm) {
            SelectedRows<float> const g(5, {1, 3}, {{{1, 2}}, {{3, 4}}});
            auto sum = row_allreduce(Cpu{1}, comm, g);
            bool const shape =
                sum.value().shape() == inputs::Shape{2, 1, 2} && sum.value()(1, 0, 1) == 4.0F * static_cast<float>(n);
            sum.value()(0, 0, 0) = 9;
            return shape && g.value()(0, 0, 0) == 1 ? 1 : 0;
        });
        for (int const r : right) CHECK(r == 1);
    }
}

TEST_CASE("what is wrong on one rank is an error on all, and work goes on", "[distributed][errors]") {
    using Rows = std::vector<SelectedRows<float>>;
    auto const part = [](std::int64_t height, Tensor<float> value) { return SelectedRows<float>(height, {0}, value); };
    std::string const* expected = nullptr;
    auto const run = [&](auto const& comm, auto const& call) {
        int thrown = 0;
        try {
            call(comm);
        } catch (Error const& e) {
            thrown = std::string(e.what()).find(*expected) != std::string::npos ? 1 : 0;
        }
        auto const sum = row_allreduce(Cpu{1}, comm, part(2, {{1}}));
        return thrown + (sum.value()(0, 0) == 3 ? 2 : 0);
    };
    auto const refused = [&](std::string const& text, auto const& call) {
        expected = &text;
        auto const right = test::on_ranks(
            3, [&](auto const& comm) { return run(comm, call) + 4 * run(test::Many(comm), call); }, 2);
        CAPTURE(text);
        for (int const r : right) CHECK(r == 15);
    };
    refused("parts",
            [&](auto const& comm) { row_allreduce(Cpu{1}, comm, comm.rank() == 1 ? Rows{} : Rows{part(2, {{1}})}); });
    refused("height", [&](auto const& comm) { row_allreduce(Cpu{1}, comm, part(comm.rank() == 2 ? 3 : 2, {{1}})); });
    refused("the row shape on rank 2 is [2], expected [1], as on rank 0", [&](auto const& comm) {
        row_allreduce(Cpu{1}, comm, part(2, comm.rank() == 2 ? Tensor<float>{{1, 2}} : Tensor<float>{{1}}));
    });
    refused("row shape", [&](auto const& comm) {
        row_allreduce(Cpu{1}, comm, part(2, comm.rank() == 2 ? Tensor<float>{{{1, 2}}} : Tensor<float>{{{1}, {2}}}));
    });
    refused("element type", [&](auto const& comm) {
        if (comm.rank() == 1) {
            row_allreduce(Cpu{1}, comm, SelectedRows<double>(2, {0}, {{1}}));
        } else {
            row_allreduce(Cpu{1}, comm, part(2, {{1}}));
        }
    });
    refused("options", [&](auto const& comm) {
        row_allreduce(Cpu{1}, comm, part(2, {{1}}),
                      {.order = comm.rank() == 1 ? SumOrder::contributions : SumOrder::parts});
    });
    refused("options", [&](auto const& comm) {
        row_allreduce(Cpu{1}, comm, part(2, {{1}}), {.route = comm.rank() == 0 ? Route::owner : Route::gather});
    });
    refused("threads", [&](auto const& comm) { row_allreduce(Cpu{comm.rank() == 0 ? -1 : 1}, comm, part(2, {{1}})); });
    refused("height", [&](auto const& comm) {
        row_allreduce(Cpu{1}, comm, comm.rank() == 0 ? Rows{part(2, {{1}}), part(3, {{1}})} : Rows{part(2, {{1}})});
    });
    refused("calls", [&](auto const& comm) {
        if (comm.rank() == 1) {
            together(comm, [] {});
        } else {
            row_allreduce(Cpu{1}, comm, part(2, {{1}}));
        }
    });
}

}  // namespace test_row_allreduce
