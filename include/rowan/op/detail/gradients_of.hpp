// rowan/op/detail/gradients_of.hpp: lists of operators made from a list: with their gradients, without those of training.
#pragma once

#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

template <class... Op>
struct OpList {};

template <class... List>
struct joined;
template <class... Op>
struct joined<OpList<Op...>> {
    using type = OpList<Op...>;
};
template <class... A, class... B, class... Rest>
struct joined<OpList<A...>, OpList<B...>, Rest...> : joined<OpList<A..., B...>, Rest...> {};
template <class... A, class... B, class... C, class... E, class... Rest>
struct joined<OpList<A...>, OpList<B...>, OpList<C...>, OpList<E...>, Rest...>
    : joined<OpList<A..., B..., C..., E...>, Rest...> {};

/// The operators at some positions of a list.
template <std::size_t i, class Op>
struct OpAt {};
template <std::size_t i, class Op>
std::type_identity<Op> op_at(OpAt<i, Op> const&);
template <class Positions, class... Op>
struct IndexedOps;
template <std::size_t... i, class... Op>
struct IndexedOps<std::index_sequence<i...>, Op...> : OpAt<i, Op>... {
    template <auto positions>
    static auto pick() {
        return []<std::size_t... k>(std::index_sequence<k...>) {
            return registry<typename decltype(op_at<positions.at[k]>(std::declval<IndexedOps const&>()))::type...>{};
        }
        (std::make_index_sequence<positions.size>{});
    }
};
template <std::size_t n>
struct Positions {
    std::array<std::size_t, n> at{};
    std::size_t size = 0;
};

/// The position of each name where it is first.
template <std::size_t n>
constexpr Positions<n> first_of_each(std::array<std::string_view, n> const& names) {
    std::array<std::size_t, n> order{};
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return names[a] != names[b] ? names[a] < names[b] : a < b; });
    Positions<n> first;
    for (std::size_t k = 0; k < n; ++k) {
        if (k == 0 || names[order[k]] != names[order[k - 1]]) first.at[first.size++] = order[k];
    }
    std::sort(first.at.begin(), first.at.begin() + static_cast<std::ptrdiff_t>(first.size));
    return first;
}

template <class... Op>
auto unique(OpList<Op...>) {
    constexpr auto first = first_of_each(std::array<std::string_view, sizeof...(Op)>{Op::name...});
    return IndexedOps<std::index_sequence_for<Op...>, Op...>::template pick<first>();
}

template <class... Rule>
OpList<typename Rule::op...> ops_of(grad_rules<Rule...>);

/// The operators of a list and those of their gradients' rules, each once.
template <class... Op>
auto with_gradients(registry<Op...>) {
    return unique(typename joined<OpList<Op...>, decltype(ops_of(grad_rules_of<Op>{}))...,
                                  decltype(ops_of(row_rules_of<Op>{}))...>::type{});
}

/// The operators of a list that not training alone needs.
template <class... Op>
auto without_training(registry<Op...>) {
    constexpr auto kept = [] {
        constexpr std::array<bool, sizeof...(Op)> training{is_for_training<Op>...};
        Positions<sizeof...(Op)> found;
        for (std::size_t i = 0; i < training.size(); ++i) {
            if (!training[i]) found.at[found.size++] = i;
        }
        return found;
    }();
    return IndexedOps<std::index_sequence_for<Op...>, Op...>::template pick<kept>();
}

}  // namespace rowan::inline v0::detail
