// tests/sparse/determinism.cpp: one hash for every operation, whatever the number of threads, run after run.
#include <rowan/sparse.hpp>

#include "steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

namespace test_determinism {

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

// 1 to 18,000 contributions per row, of sizes that a sum in another order would show.
SelectedRows<float> const& gradient() {
    static auto const g = inputs::gradient<float>(40'000, 40'000, {7}, 1);  // enough for several threads, dense or not
    return g;
}

// The same of 300 numbers a row: 2 and 4 threads share the columns, and more of them the rows.
SelectedRows<float> const& wide_gradient() {
    static auto const g = inputs::gradient<float>(900, 1'000, {300}, 5);
    return g;
}

// How many hashes operation(exec) has over numbers of threads and runs, `want` counted.
template <class Operation>
std::size_t hashes(std::uint64_t want, Operation const& operation) {
    std::set<std::uint64_t> found{want};
    for (int threads : {1, 2, 3, 4, 8}) {
        for (int run = 0; run < 2; ++run) found.insert(operation(Cpu{threads}));
    }
    return found.size();
}

// The same for step([plan], exec, param, state..., gradient): a sparse one, a planned one and a dense one.
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

TEST_CASE("the inputs tell one order of summation from another", "[determinism]") {
    auto const& g = gradient();
    REQUIRE((g.value().size() >= rowan::detail::serial_below && g.rows().size() > std::size_t{1} << 15));
    auto backwards = Rows(g.rows().size());
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    Rows rows;
    for (auto i : backwards) rows.push_back(g.rows()[static_cast<std::size_t>(i)]);
    SelectedRows<float> const other(g.height(), rows, rowan::gather(g.value(), backwards));
    CHECK(hash(rowan::merge(g)) != hash(rowan::merge(other)));
    CHECK(hash(rowan::to_dense(g)) != hash(rowan::to_dense(other)));
    CHECK(hash(rowan::to_dense(g)) != hash(rowan::to_dense(rowan::merge(g))));
}

TEST_CASE("merge and plans have the bits of the serial reference on any number of threads", "[determinism][merge]") {
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

TEST_CASE("scatter_add and sgd have the bits of the serial loop on any number of threads", "[determinism][scatter_add][sgd]") {
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
    want = Tensor<float>::zeros(g.shape());
    reference::scatter_add(want, g.rows(), g.value());
    CHECK(hashes(hash(want), [&](Cpu exec) { return hash(rowan::to_dense(exec, g)); }) == 1);
    CHECK(step_hashes([](auto&&... x) { rowan::sgd(x..., 0.1); }) == 1);
}

TEST_CASE("rows wide enough to be shared by columns have the bits of the serial loop", "[determinism][scatter_add][sgd]") {
    auto const& g = wide_gradient();
    REQUIRE(g.value().size() >= rowan::detail::serial_below);
    auto const before = inputs::wild<float>(g.shape(), 2);
    auto want = before;
    reference::scatter_add(want, g.rows(), g.value());
    CHECK(hashes(hash(want), [&](Cpu exec) { return hash(rowan::add(exec, before, g)); }) == 1);
    want = Tensor<float>::zeros(g.shape());
    reference::scatter_add(want, g.rows(), g.value());
    CHECK(hashes(hash(want), [&](Cpu exec) { return hash(rowan::to_dense(exec, g)); }) == 1);
    CHECK(hashes(hash(reference::merge(g)), [&](Cpu exec) { return hash(rowan::merge(exec, g)); }) == 1);
    auto const sgd = [&](Cpu exec) {
        auto table = before;
        rowan::sgd(exec, table, g, 0.1);
        return hash(table);
    };
    CHECK(hashes(sgd(Cpu{1}), sgd) == 1);
}

// Much of this is copies, partly made by one thread: these hashes say that threads do not matter, not that there are any.
TEST_CASE("what copies and what sums along rows has one hash on any number of threads", "[determinism]") {
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

TEST_CASE("adagrad, momentum and adam have one hash on any number of threads", "[determinism]") {
    CHECK(step_hashes<float>([](auto&&... x) { rowan::adagrad(x...); }) == 1);
    CHECK(step_hashes<float>([](auto&&... x) { rowan::momentum(x..., {.nesterov = true, .weight_decay = 0.1}); }) == 1);
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::adam(x..., {.step = 3}); }) == 1);
}

TEST_CASE("rmsprop and ftrl have one hash on any number of threads", "[determinism]") {
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::rmsprop(x...); }) == 1);
    CHECK(step_hashes<float, float, float>([](auto&&... x) { rowan::rmsprop(x...); }) == 1);
    CHECK(step_hashes<float, float>([](auto&&... x) { rowan::ftrl(x...); }) == 1);
}

TEST_CASE("what rules see of whole rows has one hash on any number of threads", "[determinism]") {
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

}  // namespace test_determinism
