// tests/sparse/bad_memory.cpp: outputs that lie over inputs, ranks that no tensor has, and more threads than a machine can start.
#include "refused.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace test_bad_memory {

namespace {

using rowan::Cpu, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor;
using test::refusal;

}  // namespace

TEST_CASE("an output that shares memory with an input is refused", "[bad_input]") {
    auto table = test::ramp<float>({6, 2});
    auto out = table.slice(1, 3);
    CHECK(refusal<rowan::Error>([&](Cpu e) { gather_into(e, table, {4, 5}, out); }, table) == "out shares memory with table");
    auto const upper = table.slice(0, 2);
    CHECK(refusal<rowan::Error>([&](Cpu e) { scatter_add(e, table, {4, 5}, upper); }, table) == "dst shares memory with src");

    auto ids = Tensor<std::int64_t>{{2}, {1}, {0}};
    auto const flat = ids.reshaped({3});
    auto const ones = Tensor<std::int64_t>::full({3, 1}, 1);
    CHECK(refusal<rowan::Error>([&](Cpu e) { scatter_add(e, ids, flat, ones); }, ids) == "dst shares memory with ids");
    CHECK(refusal<rowan::Error>([&](Cpu e) { gather_into(e, ones, flat, ids); }, ids) == "out shares memory with ids");

    auto lower = table.slice(3, 6);  // the same block, other rows
    gather_into(table.slice(0, 3), {2, 1, 0}, lower);
    CHECK(table == Tensor<float>{{0, 0.125}, {0.25, 0.375}, {0.5, 0.625}, {0.5, 0.625}, {0.25, 0.375}, {0, 0.125}});
}

TEST_CASE("a table that shares memory with its gradient or state is refused", "[bad_input]") {
    auto table = test::ramp<float>({6, 2});
    SelectedRows<float> const g(6, {4, 5}, table.slice(0, 2));
    rowan::RowPlan<> const plan(g);
    auto const beside = test::ramp<float>({6, 2});
    SelectedRows<float> const apart(6, {4, 5}, beside.slice(0, 2));
    CHECK(refusal<rowan::Error>([&](Cpu e) { scatter_add(e, table, g); }, table) == "dst shares memory with the gradient's value");
    for (auto const& call : std::vector<std::function<void(Cpu)>>{
             [&](Cpu e) { sgd(e, table, g, 0.5); },
             [&](Cpu e) { sgd(e, plan, table, g.value(), 0.5); },
             [&](Cpu e) { auto m = beside; adagrad(e, table, m, g); },
             [&](Cpu e) { auto m = beside; adagrad(e, plan, table, m, g.value()); },
             [&](Cpu e) { auto m = beside, v = beside; adam(e, table, m, v, g, {.step = 1}); },
         }) {
        CHECK(refusal<rowan::Error>(call, table) == "param shares memory with the gradient's value");
    }
    auto const same = table.share();
    CHECK(refusal<rowan::Error>([&](Cpu e) { auto m = same.share(); adagrad(e, table, m, apart); }, table) == "param shares memory with state 0");
    CHECK(refusal<rowan::Error>([&](Cpu e) { auto m = same.share(); adagrad(e, table, m, beside); }, table) == "param shares memory with state 0");
    auto m = beside, v = m.share();
    CHECK(refusal<rowan::Error>([&](Cpu e) { adam(e, table, m, v, apart, {.step = 1}); }, table) == "state 0 shares memory with state 1");
    sgd(table, same, 0.5);  // dense: element by element, each read before it is written
    CHECK(table(5, 1) == 1.375F / 2);
}

TEST_CASE("a table that lies over other elements of its dense gradient is refused", "[bad_input]") {
    std::size_t const n = 1U << 18;  // enough for several threads
    auto base = test::ramp<float>({n + 1, 1});
    auto lower = base.slice(0, n), upper = base.slice(1, n + 1);
    auto const apart = test::ramp<float>({n, 1});
    auto moments = Tensor<float>::zeros({n + 1});
    auto rows = moments.slice(0, n);
    auto const copy = [](auto g, auto p, auto&&...) { p[0] = g[0]; };
    for (auto const& call : std::vector<std::function<void(Cpu)>>{
             [&](Cpu e) { sgd(e, upper, lower, 1); },
             [&](Cpu e) { sgd(e, lower, upper, 1); },
             [&](Cpu e) { auto m = apart; adagrad(e, upper, m, lower); },
             [&](Cpu e) { update_rows(e, lower, copy, upper); },
         }) {
        CHECK(refusal<rowan::Error>(call, base) == "param shares memory with other elements of grad");
    }
    for (auto const& call : std::vector<std::function<void(Cpu)>>{
             [&](Cpu e) { auto p = apart; adagrad(e, p, upper, lower); },
             [&](Cpu e) { auto p = apart; momentum(e, p, lower, upper); },
             [&](Cpu e) { auto p = apart; update_rows(e, lower, copy, p, upper); },
             [&](Cpu e) { auto p = apart; rowwise_adagrad(e, p, rows, moments.slice(1, n + 1).reshaped({n, 1})); },
         }) {
        CHECK(refusal<rowan::Error>(call, base, moments) == "state 0 shares memory with other elements of grad");
    }
    CHECK(refusal<rowan::Error>([&](Cpu e) { auto p = apart, m = apart; adam(e, p, m, upper, lower, {.step = 1}); }, base) ==
          "state 1 shares memory with other elements of grad");

    for (int const threads : {1, 2, 8}) {  // the very same elements, and others of the same block
        auto param = test::ramp<float>({n + 1, 1}), same = param.share();
        sgd(Cpu{threads}, param, same, 0.5);
        CHECK(param == Tensor<float>(test::ramp<float>({n + 1, 1}) / 2));
        auto block = test::ramp<float>({2 * n, 1}), half = block.slice(n, 2 * n);
        sgd(Cpu{threads}, half, block.slice(0, n), 1);
        CHECK(block.slice(0, n) == apart);
        CHECK(half == Tensor<float>::zeros({n, 1}));
        auto p = apart, g = apart;
        auto square = g.share();
        adagrad(Cpu{threads}, p, square, g, {.learning_rate = 1, .epsilon = 1});
        CHECK(square(63, 0) == 7.875F + 7.875F * 7.875F);
    }
}

TEST_CASE("a rank beyond the largest is refused, and the largest is not", "[bad_input]") {
    using Shape = Tensor<float>::shape_type;
    Tensor<float> t{{1, 2}, {3, 4}};
    Shape const most(Tensor<float>::max_rank, 1);
    Shape const too_many(Tensor<float>::max_rank + 1, 1);
    CHECK_THROWS_AS(Tensor<float>::from_shape(too_many), ShapeError);
    CHECK(refusal<ShapeError>([&](Cpu) { t.resize(too_many); }, t) == "rank is 9, expected at most 8");
    auto const table = Tensor<float>::zeros(most);
    CHECK(rowan::gather(table, {0}).dimension() == Tensor<float>::max_rank);
    refusal<ShapeError>([&](Cpu e) { gather(e, table, Tensor<std::int64_t>{{0}}); }, table);
    CHECK(refusal<ShapeError>([&](Cpu) { table.reshaped(too_many); }, table) == "rank is 9, expected at most 8");
    CHECK(refusal<ShapeError>([&](Cpu) { table.slice(0, 0).reshaped(Shape(20, 0)); }, table) == "rank is 20, expected at most 8");
    CHECK(table.reshaped({}).dimension() == 0);
    auto const one = Tensor<std::int64_t>::full({}, 0);
    CHECK(refusal<ShapeError>([&](Cpu e) { lookup_table_grad(e, one, table, 3); }, table) == "rank is 9, expected at most 8");
    CHECK(refusal<ShapeError>([&](Cpu e) { lookup_table_grad(e, one, table, 3, 0); }, table) == "rank is 9, expected at most 8");
    CHECK(lookup_table_grad(one, Tensor<float>::zeros(Shape(Tensor<float>::max_rank - 1, 1)), 3).value().dimension() == Tensor<float>::max_rank);
    auto moved = Tensor<float>::zeros(most);
    moved = std::move(t);
    CHECK(moved == Tensor<float>{{1, 2}, {3, 4}});
}

TEST_CASE("no number of threads is too large", "[bad_input]") {
    std::size_t const n = 300'000;
    auto table = Tensor<float>::zeros({n, 1}), moment = table;
    std::vector<std::int64_t> ids(n);
    for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<std::int64_t>(n - 1 - i);
    SelectedRows<float> const g(n, ids, Tensor<float>::full({n, 1}, 2));
    for (int const threads : {1000, std::numeric_limits<int>::max()}) {
        rowan::scatter_add(Cpu{threads}, table, g);
        rowan::adagrad(Cpu{threads}, table, moment, g, {.learning_rate = 1.0, .epsilon = 0.0});
    }
    CHECK(table(0, 0) == 2.0F - 2.0F / 2.0F + 2.0F - 2.0F / std::sqrt(8.0F));
    CHECK(moment(n - 1, 0) == 8);
}

}  // namespace test_bad_memory
