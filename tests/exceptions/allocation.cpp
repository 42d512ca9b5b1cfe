// tests/exceptions/allocation.cpp: the n-th allocation fails, n = 1, 2, …, until the call succeeds.
#include "failing_new.hpp"
#include "optimizers.hpp"
#include "refused.hpp"

#include <rowan/core/kept_memory.hpp>

#include <functional>

namespace test_allocation {

namespace {

using rowan::Cpu, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor;
using test::seen, test::fail_allocation;

/// Fails the n-th allocation (or all from the n-th on), n = 1, 2, …, until `call` succeeds. After each failure, the
/// arguments must be unchanged and no block leaked. Returns the number of allocations.
template <class Make, class Call>
std::size_t survives(Make const& make, Call const& call) {
    rowan::limit_kept_memory(0);  // so that a freed block is not live
    auto want = make();
    call(want);  // static objects allocate here
    std::size_t n = 0;
    for (bool const ever_after : {false, true}) {
        auto x = make();
        auto const before = seen(x);
        for (n = 1;; ++n) {
            CAPTURE(n, ever_after);
            std::ptrdiff_t const blocks = test::live_blocks();
            bool threw = false;
            fail_allocation(n, ever_after);
            try {
                call(x);
            } catch (std::bad_alloc const&) {
                threw = true;
            }
            fail_allocation(0);
            if (!threw) break;
            CHECK(test::live_blocks() == blocks);
            CHECK((seen(x) == before));
            REQUIRE(n < 500);
        }
        CHECK((seen(x) == seen(want)));
    }
    return n - 1;
}

/// Small arguments, or large ones for which every loop is parallel, with a row that all threads sum together.
struct Arguments {
    Cpu exec;
    std::size_t rows, height;
    std::vector<std::int64_t> ids;
    Tensor<float> table;
    test::States state;
    SelectedRows<float> g;
    RowPlan<> plan;
    SelectedRows<float> out{3, {1}, {{5, 6}}};

    explicit Arguments(bool large) : exec{large ? 2 : 1}, rows(large ? 70'000 : 90), height(rows + 100), table(test::ramp<float>({height, 4})) {
        for (std::size_t i = 0; i < rows; ++i) ids.push_back(static_cast<std::int64_t>(i % 10 == 0 ? i * 31 % height : 7));
        g = SelectedRows<float>(height, ids, test::ramp<float>({rows, 4}));
        plan = RowPlan<>(g);
    }
};

std::string seen(Arguments const& x) {
    using test::seen;
    return seen(x.ids) + seen(x.table) + seen(x.state[0]) + seen(x.state[1]) + seen(x.state[2]) + seen(x.g) +
           seen(x.plan) + seen(x.out);
}

}  // namespace

TEST_CASE("out of memory: the process releases the memory that it keeps, and tries again", "[exceptions]") {
    rowan::limit_kept_memory(std::size_t{64} << 20);
    { auto const x = Tensor<float>::from_shape({1 << 20}); }
    REQUIRE(rowan::kept_memory() > 0);
    fail_allocation(1);
    auto const y = Tensor<float>::from_shape({2 << 20});
    fail_allocation(0);
    CHECK((y.size() == 2 << 20 && rowan::kept_memory() == 0));
    fail_allocation(1, true);
    CHECK_THROWS_AS(Tensor<float>::from_shape({3 << 20}), std::bad_alloc);
    fail_allocation(0);
}

TEST_CASE("out of memory: optimizers change nothing", "[exceptions]") {
    bool const large = GENERATE(false, true);
    for (auto const& optimizer : test::optimizers()) {
        if (large && optimizer.name != "sgd" && optimizer.name != "adagrad") continue;  // the others use the same code
        CAPTURE(optimizer.name, large);
        Arguments start(large);
        start.state = test::states_for(optimizer, start.table);
        auto const make = [&] { return start; };
        auto const dense = rowan::to_dense(start.g);
        survives(make, [&](Arguments& x) { optimizer.sparse(x.exec, x.table, x.state, x.g); });
        survives(make, [&](Arguments& x) { optimizer.planned(x.exec, x.plan, x.table, x.state, x.g.value()); });
        survives(make, [&](Arguments& x) { optimizer.dense(x.exec, x.table, x.state, dense); });
    }
}

TEST_CASE("out of memory: update_rows does not call the rule", "[exceptions]") {
    Arguments const start(GENERATE(false, true));
    auto const make = [&] { return start; };
    auto const half = rowan::bfloat16(0.5F);
    SelectedRows<rowan::bfloat16> const narrow(start.height, start.ids, Tensor<rowan::bfloat16>::full({start.rows, 4}, half));
    auto const dense = Tensor<rowan::bfloat16>::full({start.height, 4}, half);
    auto const rule = [](std::span<float const> g, std::span<float> p) { p[0] -= g[0]; };
    CHECK(survives(make, [&](Arguments& x) { update_rows(x.exec, narrow, rule, x.table); }) > 0);
    CHECK(survives(make, [&](Arguments& x) { update_rows(x.exec, x.plan, narrow.value(), rule, x.table); }) > 0);
    CHECK(survives(make, [&](Arguments& x) { update_rows(x.exec, dense, rule, x.table); }) > 0);
}

TEST_CASE("out of memory: gather_into, scatter_add and merge_into change nothing", "[exceptions]") {
    Arguments const start(GENERATE(false, true));
    auto const make = [&] { return start; };
    auto const with_memory = [&] {
        Arguments x = start;
        x.out = x.g;
        return x;
    };
    survives(with_memory, [&](Arguments& x) { gather_into(x.exec, x.table, x.ids, x.out.value()); });
    survives(make, [&](Arguments& x) { scatter_add(x.exec, x.table, x.ids, x.g.value()); });
    survives(make, [&](Arguments& x) { scatter_add(x.exec, x.table, x.g); });
    CHECK(survives(make, [&](Arguments& x) { merge_into(x.exec, x.g, x.out); }) > 0);
    CHECK(survives(make, [&](Arguments& x) { merge_into(x.exec, x.plan, x.g.value(), x.out); }) > 0);
    CHECK(survives(make, [&](Arguments& x) { merge_into(x.exec, x.g, x.g); }) > 0);
    CHECK(survives(with_memory, [&](Arguments& x) { merge_into(x.exec, x.plan, x.g.value(), x.out); }) > 0);
    CHECK(survives(with_memory, [&](Arguments& x) { merge_into(x.exec, x.plan, x.out.value(), x.out); }) > 0);
}

TEST_CASE("out of memory: functions that return new values change and leak nothing", "[exceptions]") {
    Arguments const start(GENERATE(false, true));
    auto const make = [&] { return start; };
    auto const height = start.height;
    std::function<void(Arguments&)> const calls[] = {
        [&](Arguments& x) { gather(x.exec, x.table, x.ids); },
        [&](Arguments& x) { lookup_table_grad(x.exec, x.ids, x.g.value(), height); },
        [&](Arguments& x) { lookup_table_grad(x.exec, x.ids, x.g.value(), height, 7); },
        [&](Arguments& x) { SelectedRows<float>(height, x.ids, x.g.value()); },
        [&](Arguments& x) { RowPlan<>(x.exec, x.ids, height); },
        [&](Arguments& x) { RowPlan<>(x.exec, x.ids, std::int64_t{1} << 60); },
        [&](Arguments& x) { merge(x.exec, x.g); },
        [&](Arguments& x) { add(x.exec, x.g, x.g); },
        [&](Arguments& x) { add(x.exec, x.g, x.table); },
        [&](Arguments& x) { scale(x.exec, x.g, 0.5); },
        [&](Arguments& x) { to_dense(x.exec, x.g); },
        [&](Arguments& x) { from_dense(x.exec, x.table, 1.0); },
        [&](Arguments& x) { retain(x.exec, x.g, x.ids); },
        [&](Arguments& x) { split(x.exec, x.g, {5, 10, static_cast<std::int64_t>(height) - 15}); },
        [&](Arguments& x) { squared_norm(x.exec, x.g); },
    };
    for (auto const& call : calls) CHECK(survives(make, call) > 0);
}

TEST_CASE("out of memory: an assignment leaves the target unchanged", "[exceptions]") {
    auto const make = [] { return Tensor<float>{{1, 2}, {3, 4}}; };
    auto const other = test::ramp<float>({3, 2, 2, 1});
    auto const row = test::ramp<float>({2});
    CHECK(survives(make, [&](Tensor<float>& t) { t = other; }) > 0);
    CHECK(survives(make, [&](Tensor<float>& t) { t = other + 1.0F; }) > 0);
    CHECK(survives(make, [&](Tensor<float>& t) { t += row; }) > 0);
    CHECK(survives(make, [&](Tensor<float>& t) { t.resize(other.shape()), t.fill(1); }) > 0);
    CHECK(survives(make, [&](Tensor<float>& t) { t = Tensor<float>{{5}, {6}, {7}}; }) > 0);

    auto const rows = [] { return SelectedRows<float>(4, {3, 0}, {{1, 2}, {3, 4}}); };
    SelectedRows<float> const more(9, {8, 7, 6}, {{1}, {2}, {3}});
    CHECK(survives(rows, [&](SelectedRows<float>& g) { g = more; }) > 0);
    CHECK(survives(rows, [&](SelectedRows<float>& g) { g = SelectedRows<float>(more); }) > 0);

    auto const plan = [] { return RowPlan<>({3, 0, 3}, 4); };
    RowPlan<> const other_plan({1, 2, 3, 4}, 5);
    CHECK(survives(plan, [&](RowPlan<>& p) { p = other_plan; }) > 0);
}

}  // namespace test_allocation
