// rowan/op/detail/gradients_of.hpp: ListWithGradients, a list of operators with those of their gradients.
#pragma once

#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

template <class... Op>
struct OpList {};

/// All operators of several lists: the first eight become the last, so that each is copied few times.
template <class... List>
struct joined;
template <class... A>
struct joined<OpList<A...>> {
    using type = OpList<A...>;
};
template <class... A, class... B, class... Rest>
struct joined<OpList<A...>, OpList<B...>, Rest...> : joined<Rest..., OpList<A..., B...>> {};
template <class... A, class... B, class... C, class... E, class... F, class... G, class... H, class... I, class... Rest>
struct joined<OpList<A...>, OpList<B...>, OpList<C...>, OpList<E...>, OpList<F...>, OpList<G...>, OpList<H...>,
              OpList<I...>, Rest...> : joined<Rest..., OpList<A..., B..., C..., E..., F..., G..., H..., I...>> {};

/// A number for a name, FNV-1a.
constexpr std::uint64_t hash_of_name(std::string_view name) {
    std::uint64_t hash = 14695981039346656037U;
    for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash;
}

/// Whether each number is the first one of its value.
template <std::size_t n>
constexpr std::array<bool, n> first_of_each(std::array<std::uint64_t, n> const& numbers) {
    std::array<std::size_t, n> order{};
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return numbers[a] != numbers[b] ? numbers[a] < numbers[b] : a < b; });
    std::array<bool, n> first{};
    for (std::size_t k = 0; k < n; ++k) first[order[k]] = k == 0 || numbers[order[k]] != numbers[order[k - 1]];
    return first;
}

template <class List>
struct unique_ops;
template <class... Op>
struct unique_ops<OpList<Op...>> {
    static constexpr auto first = first_of_each(std::array<std::uint64_t, sizeof...(Op)>{hash_of_name(Op::name)...});
    template <std::size_t... i>
    static typename joined<std::conditional_t<first[i], OpList<Op>, OpList<>>...>::type pick(std::index_sequence<i...>);
    using type = decltype(pick(std::index_sequence_for<Op...>{}));
};

template <class... Rule>
OpList<typename Rule::op...> ops_of(grad_rules<Rule...>);

template <class... Op>
registry<Op...> registry_of(OpList<Op...>);

/// The operators of a list and those of their gradients' rules, each once.
template <class List>
struct with_gradients;
template <class... Op>
struct with_gradients<OpList<Op...>> {
    using all = typename joined<OpList<Op...>, decltype(ops_of(grad_rules_of<Op>{}))...,
                                decltype(ops_of(row_rules_of<Op>{}))...>::type;
    using type = decltype(registry_of(typename unique_ops<all>::type{}));
};

/// That registry, which is made when it is used and not when it is named.
template <class List>
struct ListWithGradients : with_gradients<List>::type {};

}  // namespace rowan::inline v0::detail
