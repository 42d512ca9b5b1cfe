// tests/sparse/broke_peers.cpp: inputs that crashed, corrupted or silently misled other libraries, by CVE or issue number.
//   R4  R5  R6  R23   32-bit arithmetic: here, large_virtual.cpp and fail/parallel_for_int.cpp
//   R10 R14           lists that do not pair, division by an integer 0: not expressible, does not compile
//   R24               counts in files: tests/io/model.cpp
//   R22 R25           every function by every bad id: bad_ids.cpp; every function on nothing: here
#include "optimizers.hpp"
#include "refused.hpp"

#include <atomic>
#include <functional>
#include <limits>
#include <numeric>

namespace test_broke_peers {

namespace {

using rowan::Cpu, rowan::IndexError, rowan::RowPlan, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor;
using test::refusal;

Tensor<float> zeros(std::size_t height) { return Tensor<float>::zeros({height, 1}); }

template <class Call, class... X>
std::string bad_id(Call const& call, X const&... x) {
    return refusal<IndexError>(call, x...);
}

}  // namespace

TEST_CASE("R1: a negative segment id is refused, never dropped (CVE-2020-15212)", "[bad_input]") {
    auto table = zeros(4);
    CHECK(bad_id([&](Cpu e) { scatter_add(e, table, {0, -7}, Tensor<float>{{1}, {2}}); }, table) == "ids[1] = -7 is not in [0, 4)");
}

TEST_CASE("R2: the order of ids is never assumed (CVE-2020-15214)", "[bad_input]") {
    SelectedRows<float> const g(8, {7, 2, 7, 0}, {{1}, {2}, {4}, {8}});
    CHECK(!g.merged());
    CHECK(rowan::merge(g) == SelectedRows<float>(8, {0, 2, 7}, {{8}, {2}, {5}}));
    CHECK(rowan::to_dense(g) == Tensor<float>{{8}, {0}, {2}, {0}, {0}, {0}, {0}, {5}});
    CHECK(!SelectedRows<float>(8, {1, 1}, {{1}, {2}}).merged());
}

TEST_CASE("R3: a height times a width that overflows is refused where it would become dense (CVE-2021-41195)", "[bad_input]") {
    std::int64_t const segment = 1676240524292489355;
    SelectedRows<float> const g(segment + 1, {segment}, Tensor<float>::full({1, 10, 1}, 1));
    CHECK_THAT((refusal<ShapeError>([&](Cpu e) { to_dense(e, g); }, g)), Catch::Matchers::ContainsSubstring("[1676240524292489356, 10, 1]"));
    CHECK(rowan::merge(g) == g);
    CHECK(rowan::squared_norm(g) == 10);
}

TEST_CASE("R4: rows are not cut to 32 bits (CVE-2019-16778)", "[bad_input]") {
    std::int64_t const high = std::int64_t{1} << 32;
    SelectedRows<float> const g(2 * high, {high + 5, 5, high + 5, high / 2 + 5}, {{1}, {2}, {4}, {8}});
    CHECK(rowan::merge(g) == SelectedRows<float>(2 * high, {5, high / 2 + 5, high + 5}, {{2}, {8}, {5}}));
    CHECK(rowan::retain(g, {5}).rows().size() == 1);
    CHECK(rowan::split(g, {high, high})[1] == SelectedRows<float>(high, {5, 5}, {{1}, {4}}));
}

TEST_CASE("R5: the ranges of a parallel loop have 64 bits (CVE-2020-15202)", "[bad_input]") {
    for (std::size_t const n : {(std::size_t{1} << 33) + 7, std::numeric_limits<std::size_t>::max()}) {
        std::atomic<std::size_t> total{0};
        rowan::parallel_for(Cpu{2}, n, n / 3 * 2, [&](std::size_t begin, std::size_t end) { total += begin < end ? end - begin : 0; });
        CHECK(total == n);
    }
}

TEST_CASE("R7: one index and five updates (CVE-2021-37655)", "[bad_input]") {
    auto table = zeros(4);
    CHECK(refusal<ShapeError>([&](Cpu e) { scatter_add(e, table, {0}, zeros(5)); }, table) == "src.shape(0) is 5, expected 1");
}

TEST_CASE("R8: rows outside the shape, at construction and after the value was changed (CVE-2021-37635)", "[bad_input]") {
    CHECK(bad_id([](Cpu) { SelectedRows<float>(337, {773, 773, 773}, zeros(3)); }) == "rows[0] = 773 is not in [0, 337)");

    SelectedRows<float> g(337, {1, 2, 3}, zeros(3));
    auto const valid = g;
    auto out = g;
    auto table = zeros(337);
    RowPlan<> const plan(g);
    std::function<void(Cpu)> const uses[] = {
        [&](Cpu e) { merge(e, g); },        [&](Cpu e) { merge_into(e, g, out); },   [&](Cpu e) { merge(e, plan, g.value()); },
        [&](Cpu e) { to_dense(e, g); },     [&](Cpu e) { scatter_add(e, table, g); }, [&](Cpu e) { add(e, g, valid); },
        [&](Cpu e) { add(e, valid, g); },   [&](Cpu e) { add(e, table, g); },         [&](Cpu e) { add(e, g, table); },
        [&](Cpu e) { scale(e, g, 2); },     [&](Cpu e) { retain(e, g, {1}); },        [&](Cpu e) { split(e, g, {337}); },
        [&](Cpu e) { squared_norm(e, g); }, [&](Cpu e) { sgd(e, table, g, 1); },
        [&](Cpu e) { update_rows(e, g, [](auto, auto) {}, table); },
    };
    for (auto const& value : {zeros(2), zeros(4), Tensor<float>::zeros({0}), Tensor<float>::full({}, 1)}) {
        g.value() = value;
        for (auto const& use : uses) refusal<ShapeError>(use, g, valid, out, table);
        for (auto const& optimizer : test::optimizers()) {
            auto s = test::states_for(optimizer, table);
            refusal<ShapeError>([&](Cpu e) { optimizer.sparse(e, table, s, g); }, table, s[0], s[1], s[2]);
        }
    }
    CHECK(refusal<ShapeError>([&](Cpu) { g.shape(); }) == "value rank is 0, expected at least 1");
    g.value() = zeros(3);
    for (auto const& use : uses) CHECK_NOTHROW(use(Cpu{}));
}

TEST_CASE("R9: gather and scatter by an id beyond the last (CVE-2022-35939, CVE-2022-35937)", "[bad_input]") {
    auto table = zeros(3);
    CHECK(bad_id([&](Cpu e) { gather(e, table, Tensor<std::int32_t>{{0, 1}, {2, 3}}); }, table) == "ids[3] = 3 is not in [0, 3)");
    CHECK(bad_id([&](Cpu e) { gather(e, table, {-1}); }, table) == "ids[0] = -1 is not in [0, 3)");
}

TEST_CASE("R11, R12: an id that is bad between two good ones changes nothing", "[bad_input]") {
    auto table = Tensor<float>::zeros({4});
    CHECK(bad_id([&](Cpu e) { scatter_add(e, table, {0, 9, 1}, Tensor<float>{1, 2, 3}); }, table) == "ids[1] = 9 is not in [0, 4)");
    CHECK(table == Tensor<float>{0, 0, 0, 0});
    scatter_add(table, {0, 3, 1}, Tensor<float>{1, 2, 3});
    CHECK(table == Tensor<float>{1, 3, 0, 2});
}

TEST_CASE("R13: 200,000 ids over 64 rows lose no update and have one result", "[bad_input]") {
    std::vector<std::int32_t> ids(200'000);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * i % 64);
    SelectedRows<float> const g(64, ids, Tensor<float>::full({ids.size(), 2}, 0.25));
    auto counted = Tensor<float>::zeros({64, 2});
    for (std::int32_t const id : ids) counted(id, 0) += 0.25F, counted(id, 1) += 0.25F;

    for (int const threads : {1, 2, 3, 8}) {
        auto table = Tensor<float>::zeros({64, 2});
        scatter_add(Cpu{threads}, table, g);
        CHECK(table == counted);

        auto sparse = Tensor<float>::full({64, 2}, 3), sparse_moment = Tensor<float>::zeros({64, 2});
        auto dense = Tensor<float>::full({64, 2}, 3), dense_moment = Tensor<float>::zeros({64, 2});
        adagrad(Cpu{threads}, sparse, sparse_moment, g);
        adagrad(Cpu{1}, dense, dense_moment, counted);
        CHECK(sparse == dense);
        CHECK(sparse_moment == dense_moment);
    }
}

TEST_CASE("R15, R16, R21: no object has a row outside its height", "[bad_input]") {
    CHECK(bad_id([](Cpu) { SelectedRows<float>(3, {5000000}, zeros(1)); }) == "rows[0] = 5000000 is not in [0, 3)");
    CHECK(bad_id([](Cpu) { SelectedRows<float>(3, {9}, zeros(1)); }) == "rows[0] = 9 is not in [0, 3)");
    CHECK(bad_id([](Cpu) { SelectedRows<float>(4, {0, 9, -3}, zeros(3)); }) == "rows[1] = 9 is not in [0, 4)");
}

TEST_CASE("R17: a height of -1 is not a height", "[bad_input]") {
    CHECK(refusal<ShapeError>([](Cpu) { SelectedRows<float>(-1, {}, zeros(0)); }) == "height is -1, expected in [0, 2^63 - 1]");
    CHECK(refusal<ShapeError>([](Cpu e) { RowPlan<>(e, {}, -1); }) == "height is -1, expected in [0, 2^63 - 1]");
    CHECK(refusal<ShapeError>([](Cpu e) { lookup_table_grad(e, {}, zeros(0), -1); }) == "height is -1, expected in [0, 2^63 - 1]");
}

TEST_CASE("R18: a padding id excuses no other id", "[bad_input]") {
    for (std::int64_t const id : {40000000, 40}) {
        CHECK(bad_id([&](Cpu e) { lookup_table_grad(e, {0, id}, zeros(2), 4, 0); }) == "ids[1] = " + std::to_string(id) + " is not in [0, 4)");
        CHECK(bad_id([&](Cpu e) { gather(e, zeros(4), {0, id}); }) == "ids[1] = " + std::to_string(id) + " is not in [0, 4)");
    }
    CHECK(rowan::lookup_table_grad({0, 3}, zeros(2), 4, 0).rows().size() == 1);
}

TEST_CASE("R19: -1 does not mean that there is no padding", "[bad_input]") {
    CHECK(bad_id([](Cpu e) { lookup_table_grad(e, {-1}, zeros(1), 4); }) == "ids[0] = -1 is not in [0, 4)");
    CHECK(bad_id([](Cpu e) { lookup_table_grad(e, {1}, zeros(1), 4, -1); }) == "padding_id[0] = -1 is not in [0, 4)");
}

TEST_CASE("R20: a negative id does not count from the end", "[bad_input]") {
    auto table = zeros(1);
    CHECK(bad_id([&](Cpu e) { scatter_add(e, table, {-2}, zeros(1)); }, table) == "ids[0] = -2 is not in [0, 1)");
    CHECK(bad_id([&](Cpu e) { gather(e, table, {-1}); }, table) == "ids[0] = -1 is not in [0, 1)");
}

TEST_CASE("R25: no rows, no width and no height are sizes that every function takes", "[bad_input]") {
    struct Size {
        std::size_t height, rows, width;
    };
    for (auto const [height, rows, width] : {Size{0, 0, 0}, {0, 0, 3}, {5, 0, 3}, {5, 0, 0}, {5, 4, 0}}) {
        CAPTURE(height, rows, width);
        std::vector<std::int64_t> const ids(rows, 2);
        auto const h = static_cast<std::int64_t>(height);
        auto const table = test::ramp<float>({height, width});
        SelectedRows<float> const g(h, ids, Tensor<float>::zeros({rows, width}));
        auto const distinct = std::min<std::size_t>(rows, 1);
        CHECK(rowan::merge(g).rows().size() == distinct);
        CHECK(rowan::RowPlan<>(g).rows().size() == distinct);
        CHECK(rowan::to_dense(g).shape() == table.shape());
        CHECK(rowan::add(g, table) == table);
        CHECK(rowan::add(g, g).rows().size() == 2 * rows);
        CHECK(rowan::scale(g, 2.0) == g);
        CHECK(rowan::squared_norm(g) == 0);
        CHECK(rowan::retain(g, {}).rows().empty());
        CHECK(rowan::retain(g, ids) == g);
        CHECK(rowan::split(g, {0, h, 0})[1] == g);
        CHECK(rowan::from_dense(Tensor<float>::zeros({height, width})).rows().empty());
        CHECK(rowan::gather(table, ids).shape() == g.value().shape());
        CHECK(rowan::lookup_table_grad(ids, g.value(), h) == g);
        for (auto const& optimizer : test::optimizers()) {
            CAPTURE(optimizer.name);
            auto param = table;
            auto s = test::states_for(optimizer, param);
            optimizer.sparse(Cpu{2}, param, s, g);
            optimizer.planned(Cpu{2}, RowPlan<>(g), param, s, g.value());
            CHECK(param == table);
            optimizer.dense(Cpu{2}, param, s, Tensor<float>::zeros(table.shape()));
            if (optimizer.name != "ftrl") CHECK(param == table);  // ftrl computes a row from its state alone
        }
    }
}

TEST_CASE("rows outside the height are refused where Paddle merges, adds or updates by them", "[bad_input]") {
    CHECK(refusal<IndexError>([](Cpu) { SelectedRows<float>(10, {12, 0, 12}, Tensor<float>{{1, 2}, {3, 4}, {5, 6}}); }) == "rows[0] = 12 is not in [0, 10)");
    CHECK(refusal<IndexError>([](Cpu) { SelectedRows<float>(4, {1, 9}, Tensor<float>{{1, 2}, {3, 4}}); }) == "rows[1] = 9 is not in [0, 4)");
    auto param = Tensor<float>::zeros({10, 1}), moment = Tensor<float>::zeros({10, 1});
    SelectedRows<float> const beyond(13, {12}, Tensor<float>{{1}});
    CHECK(refusal<ShapeError>([&](Cpu e) { adagrad(e, param, moment, beyond, {.learning_rate = 0.1}); }, param, moment, beyond) == "param.shape(0) is 10, expected 13");
    auto four = Tensor<float>::zeros({4, 1});
    SelectedRows<float> const seven(7, {1}, Tensor<float>{{1}});
    CHECK(refusal<ShapeError>([&](Cpu e) { sgd(e, four, seven, 0.1); }, four, seven) == "param.shape(0) is 4, expected 7");
}

}  // namespace test_broke_peers
