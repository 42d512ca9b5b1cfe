// tests/steps.hpp: requirements of all optimizers.
#pragma once

#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace reference {

// Whether two tuples of tensors have the same bits.
template <class... T>
bool same(std::tuple<Tensor<T>...> const& a, std::tuple<Tensor<T>...> const& b) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return (same(std::get<i>(a), std::get<i>(b)) && ...); }(
        std::index_sequence_for<T...>{});
}

// The tensors after f(tensor...).
template <class F, class... T>
std::tuple<Tensor<T>...> after(F const& f, std::tuple<Tensor<T>...> tensors) {
    std::apply(f, tensors);
    return tensors;
}

// `step(param, state..., grad)` must have the bits of `formula`, for a gradient and a plan, on several threads.
template <class G, class P, class... S, class Step, class Formula>
void check_step(Step const& step, Formula const& formula) {
    inputs::for_sizes<G>([&](SelectedRows<G> const& g) {
        std::uint64_t seed = 100;
        auto const next = [&] { return ++seed; };
        std::tuple const before{inputs::wild<P>(g.shape(), next()), inputs::state<S>(g.shape(), next())...};
        rowan::RowPlan const plan(g);
        auto const want = after([&](auto&... t) { update(g, formula, t...); }, before);
        CHECK(same(want, after([&](auto&... t) { step(t..., g); }, before)));
        CHECK(same(want, after([&](auto&... t) { step(rowan::Cpu{.threads = 3}, t..., g); }, before)));
        CHECK(same(want, after([&](auto&... t) { step(plan, t..., g.value()); }, before)));
        CHECK(same(want, after([&](auto&... t) { step(rowan::Cpu{.threads = 2}, plan, t..., g.value()); }, before)));
    }, (std::same_as<G, P> && ... && std::same_as<G, S>));  // threads share rows of mixed types as rows of one type
}

// Rows in the gradient take the dense step of their sum, other rows keep their bits. `S` is float, once per state.
template <class... S, class Step>
void check_lazy(Step const& step) {
    CHECK(rc::check([&] {
        auto const g = inputs::arbitrary_gradient<float>(6, 2);
        std::uint64_t seed = 1;
        auto const next = [&] { return ++seed; };
        std::tuple const before{inputs::wild<float>({6, 2}, next()), inputs::state<S>({6, 2}, next())...};
        auto const sparse = after([&](auto&... t) { step(t..., g); }, before);
        auto const dense = after([&](auto&... t) { step(t..., rowan::to_dense(g)); }, before);
        RC_ASSERT(same(sparse, after([&](auto&... t) { step(t..., rowan::merge(g)); }, before)));
        for (std::size_t row = 0; row < 6; ++row) {
            bool const named = std::ranges::find(g.rows(), static_cast<std::int64_t>(row)) != g.rows().end();
            auto const row_of = [&](auto const& tensors) {
                return std::apply([&](auto const&... t) { return std::tuple(Tensor<float>(t.slice(row, row + 1))...); }, tensors);
            };
            RC_ASSERT(same(row_of(sparse), row_of(named ? dense : before)));
        }
    }));
}

}  // namespace reference
