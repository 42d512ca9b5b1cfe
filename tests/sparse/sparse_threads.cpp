// tests/sparse/sparse_threads.cpp: every operation has one hash on any number of threads, in repeated runs.
#include <rowan/sparse.hpp>

#include "forked.hpp"
#include "optimizers.hpp"
#include "refused.hpp"
#include "sanitizers.hpp"
#include "steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace test_sparse_threads {

using inputs::Rows;
using rowan::Cpu, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor;

namespace {

// FNV-1a over words of 32 bits.
struct Hash {
    std::uint64_t bits = 0xCBF29CE484222325U;

    template <class T>
    void add(std::span<T> x) {
        auto const* const bytes = reinterpret_cast<unsigned char const*>(x.data());
        for (std::size_t i = 0; i < x.size_bytes(); i += 4) {
            std::uint32_t word = 0;
            std::memcpy(&word, bytes + i, 4);
            bits = (bits ^ word) * 0x100000001B3U;
        }
    }
    template <class T>
    void add(Tensor<T> const& t) {
        add(std::span(t.data(), t.size()));
    }
    template <class T>
    void add(SelectedRows<T> const& g) {
        add(g.rows());
        add(g.value());
    }
};

template <class... T>
std::uint64_t hash(T const&... x) {
    Hash hash;
    (hash.add(x), ...);
    return hash.bits;
}

// 1 to 18,000 contributions per row, of magnitudes for which the order of summation matters.
SelectedRows<float> const& gradient() {
    static auto const g = inputs::gradient<float>(40'000, 40'000, {7}, 1);  // enough for several threads, dense or not
    return g;
}

// The same with 300 numbers per row: 2 and 4 threads share the columns, more threads the rows.
SelectedRows<float> const& wide_gradient() {
    static auto const g = inputs::gradient<float>(900, 1'000, {300}, 5);
    return g;
}

// The number of different hashes of operation(exec) over numbers of threads and runs, including `want`.
template <class Operation>
std::size_t hashes(std::uint64_t want, Operation const& operation) {
    std::set<std::uint64_t> found{want};
    for (int const threads : sanitizers::any ? std::vector{3, 8} : std::vector{1, 2, 3, 4, 8}) {
        for (int run = 0; run < (sanitizers::any ? 1 : 2); ++run) found.insert(operation(Cpu{threads}));
    }
    return found.size();
}

// The same for step([plan], exec, param, state..., gradient) with a sparse gradient, a plan and a dense gradient.
template <class... S, class Step>
std::size_t step_hashes(Step const& step) {
    auto const& g = gradient();
    std::tuple const before{inputs::wild<float>(g.shape(), 2), inputs::state<S>(g.shape(), 3)...};
    auto const hash_of = [&](auto const& f) { return std::apply([](auto const&... t) { return hash(t...); }, reference::after(f, before)); };
    auto const sparse = [&](Cpu exec) { return hash_of([&](auto&... t) { step(exec, t..., g); }); };
    RowPlan<> const plan(g);
    auto const planned = [&](Cpu exec) { return hash_of([&](auto&... t) { step(exec, plan, t..., g.value()); }); };
    auto const dense_grad = inputs::wild<float>(g.shape(), 4);
    auto const dense = [&](Cpu exec) { return hash_of([&](auto&... t) { step(exec, t..., dense_grad); }); };
    return hashes(sparse(Cpu{1}), sparse) * hashes(planned(Cpu{1}), planned) * hashes(dense(Cpu{1}), dense);
}

}  // namespace

TEST_CASE("the inputs tell one order of summation from another", "[threads]") {
    auto const& g = gradient();
    REQUIRE((g.value().size() >= rowan::detail::serial_below && g.rows().size() > std::size_t{1} << 15));
    auto backwards = Rows(g.rows().size());
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    Rows rows;
    for (auto i : backwards) rows.push_back(g.rows()[static_cast<std::size_t>(i)]);
    SelectedRows<float> const other(g.height(), rows, rowan::gather(g.value(), backwards));
    CHECK(hash(rowan::merge(g)) != hash(rowan::merge(other)));
    CHECK(hash(rowan::to_dense(g)) != hash(rowan::to_dense(other)));
    auto serial = Tensor<float>::zeros(g.shape());
    reference::scatter_add(serial, g.rows(), g.value());
    CHECK(hash(rowan::to_dense(g)) != hash(serial));
}

TEST_CASE("merge and plans have the bits of the serial reference on any number of threads", "[threads][merge]") {
    auto const& g = gradient();
    auto const want = hash(reference::merge(g));
    CHECK(hashes(want, [&](Cpu exec) { return hash(rowan::merge(exec, g)); }) == 1);
    CHECK(hashes(want, [&](Cpu exec) { return hash(rowan::merge(exec, RowPlan(exec, g.rows(), g.height()), g.value())); }) == 1);
    CHECK(hashes(want, [&](Cpu exec) {
              SelectedRows<float> out;
              rowan::merge_into(exec, g, out);
              return hash(out);
          }) == 1);
    CHECK(hashes(want, [&](Cpu exec) {
              SelectedRows<float> out;
              rowan::merge_into(exec, RowPlan(exec, g), g.value(), out);
              return hash(out);
          }) == 1);
    RowPlan<> const plan(g);
    auto const norm = [&](Cpu exec) { return hash(Tensor<float>{rowan::squared_norm(exec, plan, g.value())}); };
    CHECK(hashes(hash(Tensor<float>{rowan::squared_norm(Cpu{1}, g)}), norm) == 1);
}

TEST_CASE("scatter_add and sgd have the bits of the serial loop on any number of threads, to_dense those of merged rows", "[threads][scatter_add][sgd]") {
    auto const& g = gradient();
    auto const before = inputs::wild<float>(g.shape(), 2);
    auto want = before;
    reference::scatter_add(want, g.rows(), g.value());
    auto const added = [&](Cpu exec) {
        auto table = before;
        rowan::scatter_add(exec, table, g);
        return hash(table);
    };
    CHECK(hashes(hash(want), added) == 1);
    CHECK(hashes(hash(want), [&](Cpu exec) { return hash(rowan::add(exec, before, g)); }) == 1);
    auto const merged = reference::merge(g);
    want = Tensor<float>::zeros(g.shape());
    reference::scatter_add(want, merged.rows(), merged.value());
    CHECK(hashes(hash(want), [&](Cpu exec) { return hash(rowan::to_dense(exec, g)); }) == 1);
    CHECK(step_hashes([](auto&&... x) { rowan::sgd(x..., 0.1); }) == 1);
}

TEST_CASE("rows wide enough to be shared by columns have the bits of the serial loop", "[threads][scatter_add][sgd]") {
    auto const& g = wide_gradient();
    REQUIRE(g.value().size() >= rowan::detail::serial_below);
    auto const before = inputs::wild<float>(g.shape(), 2);
    auto want = before;
    reference::scatter_add(want, g.rows(), g.value());
    CHECK(hashes(hash(want), [&](Cpu exec) { return hash(rowan::add(exec, before, g)); }) == 1);
    auto const merged = reference::merge(g);
    want = Tensor<float>::zeros(g.shape());
    reference::scatter_add(want, merged.rows(), merged.value());
    CHECK(hashes(hash(want), [&](Cpu exec) { return hash(rowan::to_dense(exec, g)); }) == 1);
    CHECK(hashes(hash(reference::merge(g)), [&](Cpu exec) { return hash(rowan::merge(exec, g)); }) == 1);
    auto const sgd = [&](Cpu exec) {
        auto table = before;
        rowan::sgd(exec, table, g, 0.1);
        return hash(table);
    };
    CHECK(hashes(sgd(Cpu{1}), sgd) == 1);
}

TEST_CASE("a forked process has the bits of the process that forked it", "[threads][merge][scatter_add]") {
    auto const& g = gradient();
    auto const all = [&] {
        auto table = inputs::wild<float>(g.shape(), 2);
        rowan::sgd(Cpu{2}, table, g, 0.1);
        return hash(rowan::merge(Cpu{2}, g), rowan::to_dense(Cpu{3}, g), table);
    };
    auto const want = all();
    CHECK(forked::succeeds([&] { return all() == want; }));
}

// Some of these functions use one thread: the hashes show that results do not depend on threads, not that threads run.
TEST_CASE("functions that copy or sum rows have one hash on any number of threads", "[threads]") {
    auto const& g = gradient();
    auto const table = inputs::wild<float>(g.shape(), 2);
    auto const one = [](auto const& operation) { return hashes(operation(Cpu{1}), operation) == 1; };
    CHECK(one([&](Cpu exec) { return hash(rowan::gather(exec, table, g.rows())); }));
    CHECK(one([&](Cpu exec) {
        auto out = Tensor<float>::zeros(g.value().shape());
        rowan::gather_into(exec, table, g.rows(), out);
        return hash(out);
    }));
    CHECK(one([&](Cpu exec) { return hash(rowan::lookup_table_grad(exec, g.rows(), g.value(), g.height(), 7)); }));
    CHECK(one([&](Cpu exec) { return hash(rowan::add(exec, g, g)); }));
    CHECK(one([&](Cpu exec) { return hash(rowan::scale(exec, g, 0.1)); }));
    CHECK(one([&](Cpu exec) { return hash(rowan::from_dense(exec, table, 1)); }));
    CHECK(one([&](Cpu exec) { return hash(rowan::retain(exec, g, {1, 15'000, 29'999})); }));
    CHECK(one([&](Cpu exec) { return hash(rowan::split(exec, g, {4'000, 36'000})[1]); }));
    CHECK(one([&](Cpu exec) { return hash(Tensor<float>{rowan::squared_norm(exec, g)}); }));
}

TEST_CASE("adagrad, momentum and adam have one hash on any number of threads", "[threads]") {
    CHECK(step_hashes<float>([](auto&&... x) { rowan::adagrad(x...); }) == 1);
    CHECK(step_hashes<float>([](auto&&... x) { rowan::momentum(x..., {.nesterov = true, .weight_decay = 0.1}); }) == 1);
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::adam(x..., {.step = 3}); }) == 1);
}

TEST_CASE("adamax, adadelta, lamb, rmsprop and ftrl have one hash on any number of threads", "[threads]") {
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::adamax(x..., {.step = 3}); }) == 1);
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::adadelta(x...); }) == 1);
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::lamb(x..., {.step = 3}); }) == 1);
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::rmsprop(x...); }) == 1);
    CHECK(step_hashes<float, float, float>([](auto&&... x) { rowan::rmsprop(x...); }) == 1);
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::ftrl(x...); }) == 1);
}

TEST_CASE("rules that read whole rows have one hash on any number of threads", "[threads]") {
    auto const& g = gradient();
    RowPlan<> const plan(g);
    auto const dense = inputs::wild<float>(g.shape(), 4);
    auto const one = [&](auto const& step) {
        auto const operation = [&](Cpu exec) {
            auto param = inputs::wild<float>(g.shape(), 2);
            auto moment = inputs::state<float>({g.shape()[0]}, 3);
            step(exec, param, moment);
            return hash(param, moment);
        };
        return hashes(operation(Cpu{1}), operation) == 1;
    };
    CHECK(one([&](Cpu exec, auto& param, auto& moment) { rowan::rowwise_adagrad(exec, param, moment, g); }));
    CHECK(one([&](Cpu exec, auto& param, auto& moment) { rowan::rowwise_adagrad(exec, plan, param, moment, g.value()); }));
    CHECK(one([&](Cpu exec, auto& param, auto& moment) { rowan::rowwise_adagrad(exec, param, moment, dense); }));
    auto const own = [](auto sum, auto p, auto m) {
        m[0] = sum[0];
        std::ranges::copy(sum, p.begin());
    };
    CHECK(one([&](Cpu exec, auto& param, auto& moment) { rowan::update_rows(exec, g, own, param, moment); }));
    CHECK(one([&](Cpu exec, auto& param, auto& moment) { rowan::update_rows(exec, plan, g.value(), own, param, moment); }));
    CHECK(one([&](Cpu exec, auto& param, auto& moment) { rowan::update_rows(exec, dense, own, param, moment); }));
}

TEST_CASE("any positive number of threads is accepted", "[threads]") {
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

TEST_CASE("every function throws for a negative number of threads, for any sizes", "[threads]") {
    auto const table = test::ramp<float>({3, 2});
    SelectedRows<float> const grad(3, {2, 0}, {{1, 2}, {3, 4}});
    RowPlan<> const plan(grad);
    auto param = table;
    auto out = grad;
    std::vector<std::function<void(Cpu)>> calls{
        [&](Cpu e) { gather(e, table, {0}); },
        [&](Cpu e) { gather_into(e, table, {0, 1, 2}, param); },
        [&](Cpu e) { lookup_table_grad(e, {0, 1, 2}, table, 3); },
        [&](Cpu e) { scatter_add(e, param, grad); },
        [&](Cpu e) { scatter_add(e, param, {0, 1, 2}, table); },
        [&](Cpu e) { RowPlan<>(e, {}, 3); },
        [&](Cpu e) { merge(e, grad); },
        [&](Cpu e) { merge_into(e, plan, grad.value(), out); },
        [&](Cpu e) { add(e, grad, grad); },
        [&](Cpu e) { add(e, grad, table); },
        [&](Cpu e) { scale(e, grad, 2); },
        [&](Cpu e) { to_dense(e, grad); },
        [&](Cpu e) { from_dense(e, table); },
        [&](Cpu e) { retain(e, grad, {}); },
        [&](Cpu e) { split(e, grad, {3}); },
        [&](Cpu e) { squared_norm(e, grad); },
        [&](Cpu e) { update_rows(e, grad, [](auto, auto) {}, param); },
        [&](Cpu e) { rowan::parallel_for(e, 0, 1, [](std::size_t, std::size_t) {}); },
    };
    for (auto const& optimizer : test::optimizers()) {
        auto const s = std::make_shared<test::States>(test::states_for(optimizer, param));
        calls.push_back([&, s, optimizer](Cpu e) { optimizer.sparse(e, param, *s, grad); });
        calls.push_back([&, s, optimizer](Cpu e) { optimizer.dense(e, param, *s, table); });
        calls.push_back([&, s, optimizer](Cpu e) { optimizer.planned(e, plan, param, *s, grad.value()); });
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CAPTURE(i);
        for (int const threads : {-1, std::numeric_limits<int>::min()}) {
            auto const error = test::refused<rowan::ValueError>([&](Cpu) { calls[i](Cpu{threads}); }, param, grad, out);
            CHECK(error.field() == "threads");
        }
        CHECK_NOTHROW(calls[i](Cpu{3}));
    }
}

}  // namespace test_sparse_threads
