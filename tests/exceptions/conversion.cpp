// tests/exceptions/conversion.cpp: an element type whose n-th conversion throws; rules and callbacks that throw.
#include "refused.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>

namespace test_conversion {

struct fragile {
    float x;
    friend bool operator==(fragile, fragile) = default;
};

namespace {

struct Broken {};

std::atomic<std::int64_t> countdown{0};

float count(float x) {
    if (--countdown == 0) throw Broken();
    return x;
}

}  // namespace

}  // namespace test_conversion

template <>
struct rowan::dtype<test_conversion::fragile> {
    using sum = float;
    static constexpr std::string_view name = "fragile";
    static constexpr std::int32_t wire = 1001;
    static sum widen(test_conversion::fragile x) { return test_conversion::count(x.x); }
    static test_conversion::fragile narrow(sum x) { return {test_conversion::count(x)}; }
};

namespace test_conversion {

using rowan::Cpu, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor;
using test::seen;

namespace {

Tensor<fragile> fragile_ramp(typename Tensor<fragile>::shape_type const& shape, float first) {
    auto t = Tensor<fragile>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = {first + static_cast<float>(i % 32) / 8};
    return t;
}

struct Arguments {
    static constexpr std::size_t height = 9'000;
    Tensor<fragile> table = fragile_ramp({height, 5}, 1);
    Tensor<fragile> state = fragile_ramp({height, 5}, 2);
    Tensor<fragile> per_row = fragile_ramp({height}, 2);
    SelectedRows<fragile> g;
    SelectedRows<fragile> out = {3, {1}, fragile_ramp({1, 5}, 7)};

    explicit Arguments(std::size_t rows) {
        std::vector<std::int32_t> ids(rows);
        for (std::size_t i = 0; i < rows; ++i) ids[i] = static_cast<std::int32_t>(i % 3 == 0 ? 1 : i * 7 % height);
        g = SelectedRows<fragile>(height, ids, fragile_ramp({rows, 5}, 3));
    }
};

/// Every conversion of a small call, and some of a large one, which runs on several threads.
template <class Check>
void each_failure(Check const& check) {
    for (std::size_t const rows : {std::size_t{6}, std::size_t{60'000}}) {
        for (int const threads : {1, 2, 3}) {
            if ((rows == 6) != (threads == 1)) continue;
            Arguments const start(rows);
            for (std::int64_t n = 1;; n = rows == 6 && n < 300 ? n + 1 : n * 20 + 10) {
                CAPTURE(rows, threads, n);
                if (check(start, Cpu{threads}, n)) break;
            }
        }
    }
    countdown = 0;
}

/// Whether the call needs fewer than n conversions. Otherwise it must throw once, in the caller's thread.
template <class Call>
bool succeeds(std::int64_t n, Call const& call) {
    countdown = n;
    try {
        call();
        countdown = 0;
        return true;
    } catch (Broken const&) {
        countdown = 0;
        return false;
    }
}

/// Whether every element of `now` has its value before or after the call.
bool between(Tensor<fragile> const& before, Tensor<fragile> const& now, std::set<float> const& allowed) {
    if (now.shape() != before.shape()) return false;
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (!(now.data()[i] == before.data()[i]) && !allowed.contains(now.data()[i].x)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("a throwing conversion: functions that return new values change nothing", "[exceptions]") {
    std::function<void(Cpu, Arguments&)> const calls[] = {
        [](Cpu e, Arguments& x) { merge(e, x.g); },   [](Cpu e, Arguments& x) { to_dense(e, x.g); },
        [](Cpu e, Arguments& x) { scale(e, x.g, 2); }, [](Cpu e, Arguments& x) { squared_norm(e, x.g); },
        [](Cpu e, Arguments& x) { add(e, x.g, x.table); }, [](Cpu e, Arguments& x) { from_dense(e, x.table, 1e9); },
    };
    for (auto const& call : calls) {
        each_failure([&](Arguments const& start, Cpu exec, std::int64_t n) {
            Arguments x = start;
            bool const done = succeeds(n, [&] { call(exec, x); });
            CHECK((seen(x.table) == seen(start.table)));
            CHECK((seen(x.g) == seen(start.g)));
            return done;
        });
    }
}

TEST_CASE("a throwing conversion: functions that convert nothing succeed", "[exceptions]") {
    Arguments x(60'000);
    CHECK(succeeds(1, [&] {
        rowan::gather(x.table, x.g.rows());
        rowan::lookup_table_grad(x.g.rows(), x.g.value(), Arguments::height, 1);
        rowan::add(x.g, x.g);
        rowan::retain(x.g, {1});
        rowan::split(x.g, {1, 8'999});
        RowPlan<> const plan(x.g);
        Tensor<fragile> copy = x.table;
        copy = x.g.value();
    }));
}

TEST_CASE("a throwing conversion leaves other rows, the gradient and a usable table", "[exceptions]") {
    using Call = std::function<void(Cpu, Arguments&)>;
    Call const calls[] = {
        [](Cpu e, Arguments& x) { scatter_add(e, x.table, x.g); },
        [](Cpu e, Arguments& x) { scatter_add(e, x.table, x.g.rows(), x.g.value()); },
        [](Cpu e, Arguments& x) { sgd(e, x.table, x.g, 0.5); },
        [](Cpu e, Arguments& x) { adagrad(e, x.table, x.state, x.g, {}); },
        [](Cpu e, Arguments& x) { rowwise_adagrad(e, x.table, x.per_row, x.g, {}); },
        [](Cpu e, Arguments& x) { momentum(e, x.table, x.state, x.g, {}); },
    };
    for (auto const& call : calls) {
        each_failure([&](Arguments const& start, Cpu exec, std::int64_t n) {
            Arguments x = start;
            bool const done = succeeds(n, [&] { call(exec, x); });
            CHECK((seen(x.g) == seen(start.g)));

            std::vector<bool> named(Arguments::height);
            for (std::int64_t const row : x.g.rows()) named[static_cast<std::size_t>(row)] = true;
            bool others_untouched = true;
            for (std::size_t i = 0; i < Arguments::height; ++i) {
                if (named[i]) continue;
                for (auto const of : {&Arguments::table, &Arguments::state}) others_untouched &= std::equal((x.*of).data() + 5 * i, (x.*of).data() + 5 * i + 5, (start.*of).data() + 5 * i);
                others_untouched &= x.per_row.data()[i] == start.per_row.data()[i];
            }
            CHECK(others_untouched);
            CHECK(succeeds(0, [&] { call(exec, x); }));  // the table can still be used
            return done;
        });
    }
}

TEST_CASE("a throwing conversion leaves merge_into's target a valid gradient", "[exceptions]") {
    std::set<float> sums;
    each_failure([&](Arguments const& start, Cpu exec, std::int64_t n) {
        Arguments x = start;
        auto const whole = merge(x.g);
        for (std::size_t i = 0; i < whole.value().size(); ++i) sums.insert(whole.value().data()[i].x);
        bool const done = succeeds(n, [&] { merge_into(exec, x.g, x.out); });
        if (done) {
            CHECK(x.out == whole);
        } else {
            CHECK(x.out.height() == start.out.height());
            CHECK(x.out.rows()[0] == start.out.rows()[0]);
            CHECK(between(start.out.value(), x.out.value(), sums));
        }
        merge_into(exec, x.g, x.out);
        CHECK(x.out == whole);
        return done;
    });
}

TEST_CASE("an exception of a rule reaches the caller once, and each row was updated once or not at all", "[exceptions]") {
    std::size_t const height = 70'000;
    std::vector<std::int64_t> ids(height);
    for (std::size_t i = 0; i < height; ++i) ids[i] = static_cast<std::int64_t>(height - 1 - i);
    SelectedRows<float> const g(height, ids, Tensor<float>::full({height, 4}, 1));
    auto const dense = Tensor<float>::full({height, 4}, 1);
    RowPlan<> const plan(g);
    for (int const threads : {1, 2, 8}) {
        for (int const throws_at : {1, 700, 69'999}) {
            CAPTURE(threads, throws_at);
            std::atomic<int> calls{0};
            auto const rule = [&](std::span<float const> sum, std::span<float> p) {
                if (++calls == throws_at) throw Broken();
                for (std::size_t k = 0; k < p.size(); ++k) p[k] += sum[k];
            };
            auto const check = [&](auto const& update) {
                auto table = Tensor<float>::zeros({height, 4});
                calls = 0;
                int caught = 0;
                try {
                    update(table);
                } catch (Broken const&) {
                    ++caught;
                }
                CHECK(caught == 1);
                float updated = 0;
                bool whole = true;
                for (std::size_t i = 0; i < height; ++i) {
                    updated += table(i, 0);
                    whole &= (table(i, 0) == 0 || table(i, 0) == 1) && table(i, 0) == table(i, 3);
                }
                CHECK(whole);
                CHECK(updated == static_cast<float>(calls - 1));
            };
            check([&](auto& table) { update_rows(Cpu{threads}, g, rule, table); });
            check([&](auto& table) { update_rows(Cpu{threads}, dense, rule, table); });
            check([&](auto& table) { update_rows(Cpu{threads}, plan, g.value(), rule, table); });
        }
    }
}

TEST_CASE("one of the exceptions of several parallel_for ranges reaches the caller", "[exceptions]") {
    for (int const threads : {1, 2, 8}) {
        int caught = 0;
        try {
            rowan::parallel_for(Cpu{threads}, 1'000, 10, [](std::size_t begin, std::size_t) { throw begin; });
        } catch (std::size_t) {
            ++caught;
        }
        CHECK(caught == 1);
        std::atomic<std::size_t> seen{0};
        rowan::parallel_for(Cpu{threads}, 1'000, 10, [&](std::size_t begin, std::size_t end) { seen += end - begin; });
        CHECK(seen == 1'000);
    }
}

}  // namespace test_conversion
