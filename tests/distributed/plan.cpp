// tests/distributed/plan.cpp
#include <rowan/distributed/plan.hpp>

#include <rowan/distributed/sharded_table.hpp>

#include "catch.hpp"
#include "counting.hpp"
#include "inputs.hpp"
#include "on_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace test_plan {

using namespace rowan;

std::vector<TableToPlace> tables_of(std::vector<std::int64_t> const& heights, std::int64_t width, std::int64_t lookups) {
    std::vector<TableToPlace> tables;
    for (std::int64_t const height : heights)
        tables.push_back({.name = "c" + std::to_string(tables.size()), .height = height, .width = width, .lookups = lookups, .state_bytes = 4});
    return tables;
}

TEST_CASE("on the shapes of Criteo's 26 tables, no rank has more than 1.1 times the mean", "[distributed]") {
    std::vector<std::int64_t> const terabyte{45833188, 36746, 17245, 7413, 20243, 3, 7114, 1441, 62, 29275261, 1572176, 345138, 10, 2209, 11267, 128, 4, 974, 14, 48937457, 11316796, 40094537, 452104, 12606, 104, 35},
        kaggle{1460, 583, 10131227, 2202608, 305, 24, 12517, 633, 3, 93145, 5683, 8351593, 3194, 27, 14992, 5461306, 10, 5652, 2173, 4, 7046547, 18, 15, 286181, 105, 142572};
    for (auto const& heights : {terabyte, kaggle}) {
        for (std::int64_t const width : {16, 64, 128}) {
            for (int const ranks : {2, 4, 8, 16}) {
                for (std::int64_t const batch : {0, 256, 2048, 65536}) {  // of the small ones, some tables are whole
                    auto const p = plan(tables_of(heights, width, batch), ranks);
                    CAPTURE(heights[0], width, ranks, batch);
                    CHECK(p.busiest(&Plan::Rank::memory) <= 1.1);
                    CHECK(p.busiest(&Plan::Rank::load) <= 1.1);
                    CHECK(p.busiest(&Plan::Rank::sent) <= 1.1);
                    for (auto const& t : p.tables) CHECK(t.sharded == (t.table.height * (4 * width + 4) > 1 << 18));
                }
            }
        }
    }
}

std::vector<TableToPlace> kinds() {
    return {{.name = "user", .height = 1'000'000, .width = 64, .lookups = 65536, .different = 40000, .state_bytes = 4},
            {.name = "country", .height = 250, .width = 64, .lookups = 65536},
            {.name = "item", .height = 50'000, .width = 64, .lookups = 65536, .different = 500},
            {.name = "campaign", .height = 20'000, .width = 16, .lookups = 40},
            {.name = "wide", .height = 10, .width = 65536, .lookups = 65536},
            {.name = "odd", .height = 10, .width = 65535, .lookups = 65536}};
}

TEST_CASE("a plan as text", "[distributed]") {
    std::ostringstream out;
    out << plan(kinds(), 4, {.cut_columns = true});
    CHECK(plan(kinds(), 4)["wide"].text().starts_with("row by row"));
    CHECK(out.str() == R"(table      height  width  lookups  different  placement
user      1000000     64    65536      40000  blocks of 64 rows from rank 0 on
country       250     64    65536        249  replicated
item        50000     64    65536        500  blocks of 4 rows from rank 1 on
campaign    20000     16       40         40  whole on rank 3
wide           10  65536    65536         10  4 pieces of columns from rank 0 on
odd            10  65535    65536         10  row by row from rank 1 on
rank              memory      load      sent
0               68.2 MiB  11.8 MiB  12.8 MiB
1               68.5 MiB  13.0 MiB  13.3 MiB
2               68.5 MiB  13.0 MiB  13.3 MiB
3               69.6 MiB  11.8 MiB  12.8 MiB
busiest / mean     1.013     1.050     1.019
)");
}

TEST_CASE("what a plan says of a rank is what its rows are, and the same every time", "[distributed]") {
    CHECK(rc::check([] {
        int const ranks = *rc::gen::inRange(1, 9);
        std::vector<TableToPlace> tables;
        for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
            TableToPlace t{.name = std::to_string(i), .height = *rc::gen::inRange(0, 3000), .width = *rc::gen::element(0, 1, 7, 64, 4096), .lookups = *rc::gen::element(0, 1, 30, 5000)};
            t.different = *rc::gen::inRange<std::int64_t>(0, std::min(t.lookups, t.height) + 1);
            t.state_bytes = *rc::gen::inRange(0, 9) * 4;
            tables.push_back(t);
        }
        PlanOptions const options{.replicated_bytes = *rc::gen::element(0, 10'000, 300'000), .whole_rows = *rc::gen::element(0, 2, 16, 1000), .cut_columns = *rc::gen::arbitrary<bool>()};
        auto const p = plan(tables, ranks, options), again = plan(tables, ranks, options);
        std::vector<double> memory(static_cast<std::size_t>(ranks));
        for (std::size_t i = 0; i < tables.size(); ++i) {
            auto const& t = p.tables[i];
            RC_ASSERT(again.tables[i].placement == t.placement);
            RC_ASSERT(again.tables[i].sharded == t.sharded);
            t.placement.check();
            RC_ASSERT((t.placement.columns == 1 || (t.table.width % t.placement.columns == 0 && t.table.width / t.placement.columns >= 16)));
            auto const row = static_cast<double>(t.table.width * t.table.element_bytes + t.table.state_bytes);
            for (int r = 0; r < ranks; ++r) {
                auto& m = memory[static_cast<std::size_t>(r)];
                if (!t.sharded) m += static_cast<double>(t.table.height) * row;
                for (int piece = 0; t.sharded && piece < t.placement.columns; ++piece) {
                    auto const part = t.placement.piece(piece).on(t.table.height, ranks);
                    part.check();
                    for (std::int64_t k = 0; k < t.table.height; ++k) m += part.owner(k) == r ? row / t.placement.columns + 8 : 0;
                }
            }
        }
        for (std::size_t r = 0; r < memory.size(); ++r) RC_ASSERT(std::abs(p.ranks[r].memory - memory[r]) <= 1e-9 * memory[r]);
        for (auto const what : {&Plan::Rank::load, &Plan::Rank::memory}) {  // a rank with too much has no whole table
            auto const most = std::ranges::max_element(p.ranks, {}, what) - p.ranks.begin();
            if (p.busiest(what) <= options.busiest) continue;
            for (auto const& t : p.tables) RC_ASSERT((!t.sharded || t.placement.first != most || t.table.height <= 1 || t.table.width == 0 || t.placement.columns > 1 || t.placement.block < t.table.height));
        }
    }));
}

TEST_CASE("ranks send the bytes that the plan says, if no two look up one row", "[distributed]") {
    constexpr int size = 3;
    auto const sent = test::on_ranks(size, [&](auto const& comm) {
        std::int64_t const ids_of_rank = 30, n = ids_of_rank * comm.size();
        auto const p = plan(std::vector<TableToPlace>{{.name = "t", .height = n, .width = 5, .lookups = n, .different = n}}, comm.size(), {.replicated_bytes = 0, .whole_rows = 0});
        std::size_t bytes = 0;
        ShardedTable<float, Cpu, test::Counting> table(test::Counting(comm, &bytes), p["t"].placement.on(n, comm.size()), 5, [](std::int64_t, std::span<float> row) { std::ranges::fill(row, 1.0F); });
        std::vector<std::int64_t> ids;
        for (std::int64_t i = 0; i < ids_of_rank; ++i) ids.push_back(comm.rank() * ids_of_rank + i);
        typename ShardedTable<float, Cpu, test::Counting>::Lookup lookup;
        auto const rows = table.gather(Cpu{1}, ids, lookup);
        static_cast<void>(table.exchange(Cpu{1}, lookup, rows));
        return std::abs(static_cast<double>(bytes) - p.ranks[static_cast<std::size_t>(comm.rank())].sent);
    });
    for (double const s : sent) CHECK(s < 1e-6);
}

TEST_CASE("a limit of memory deals tables to all ranks, and is an error where that does not do", "[distributed][errors]") {
    auto const tables = kinds();
    auto const need = plan(tables, 4);
    auto const total = [](Plan const& p) {
        double sum = 0;
        for (auto const& r : p.ranks) sum += r.memory;
        return sum;
    };
    CHECK(!need["country"].sharded);
    double const more = std::ranges::max(need.ranks, {}, &Plan::Rank::memory).memory;
    auto const tight = plan(tables, 4, {.memory = static_cast<std::int64_t>(more) - 1});
    CHECK((tight["country"].sharded && total(tight) < total(need)));
    for (auto const& r : tight.ranks) CHECK(r.memory < more);
    CHECK_THROWS_WITH(plan(tables, 4, {.memory = 1'000'000}), "the memory of rank 2 is 72244980 bytes, expected at most options.memory, 1000000; the table \"user\" needs 66995712");
    CHECK_THROWS_AS(plan(tables, 4, {.memory = 1'000'000}), ShapeError);
}

TEST_CASE("what cannot be planned", "[distributed][errors]") {
    auto const with = [](auto const& change) {
        auto tables = kinds();
        change(tables[2]);
        return plan(tables, 4);
    };
    CHECK_THROWS_WITH(plan(kinds(), 0), "ranks is 0, expected at least 1");
    CHECK_THROWS_WITH(plan(kinds(), 4, {.memory = -1}), "options.memory is -1, expected at least 0");
    CHECK_THROWS_WITH(plan(kinds(), 4, {.busiest = NAN}), Catch::Contains("options.busiest"));
    CHECK_THROWS_WITH(with([](TableToPlace& t) { t.height = -1; }), "tables[2].height is -1, expected at least 0");
    CHECK_THROWS_WITH(with([](TableToPlace& t) { t.width = -1; }), "tables[2].width is -1, expected at least 0");
    CHECK_THROWS_WITH(with([](TableToPlace& t) { t.lookups = -1; }), "tables[2].lookups is -1, expected at least 0");
    CHECK_THROWS_WITH(with([](TableToPlace& t) { t.element_bytes = 0; }), "tables[2].element_bytes is 0, expected at least 1");
    CHECK_THROWS_WITH(with([](TableToPlace& t) { t.state_bytes = -1; }), "tables[2].state_bytes is -1, expected at least 0");
    CHECK_THROWS_WITH(with([](TableToPlace& t) { t.different = 50001; }), "tables[2].different is 50001, expected in [0, 50000], the lookups and the height");
    CHECK_THROWS_WITH(with([](TableToPlace& t) { t.name = "user"; }), "tables[2].name is \"user\", as that of tables[0]");
    CHECK_THROWS_WITH(plan(kinds(), 4)["users"], "the plan has no table \"users\"");
    auto const nothing = plan({}, 3);
    CHECK((nothing.tables.empty() && nothing.ranks.size() == 3 && nothing.busiest(&Plan::Rank::load) == 1));
}

}  // namespace test_plan
