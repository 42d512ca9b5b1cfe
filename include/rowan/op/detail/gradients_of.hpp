// rowan/op/detail/gradients_of.hpp: ListWithGradients, a list of operators with those of their gradients.
#pragma once

#include <rowan/op/detail/input_types.hpp>
#include <rowan/op/forward_ops.hpp>
#include <rowan/op/registry.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// All operators of several lists: the first eight become the last, so that each is copied few times.
template <class... List>
struct joined;
template <class... A>
struct joined<type_list<A...>> {
    using type = type_list<A...>;
};
template <class... A, class... B, class... Rest>
struct joined<type_list<A...>, type_list<B...>, Rest...> : joined<Rest..., type_list<A..., B...>> {};
template <class... A, class... B, class... C, class... E, class... F, class... G, class... H, class... I, class... Rest>
struct joined<type_list<A...>, type_list<B...>, type_list<C...>, type_list<E...>, type_list<F...>, type_list<G...>,
              type_list<H...>, type_list<I...>, Rest...>
    : joined<Rest..., type_list<A..., B..., C..., E..., F..., G..., H..., I...>> {};

/// A number for a name, FNV-1a.
constexpr std::uint64_t hash_of_name(std::string_view name) {
    std::uint64_t hash = 14695981039346656037U;
    for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash;
}

/// An operator's address in the compiler, by which two of one name are told apart.
template <class Op>
inline constexpr char address_of_op = 0;

/// Whether each operator is the first one of its type. Different ones of one name stay, which registry refuses.
template <std::size_t n>
constexpr std::array<bool, n> first_of_each(std::array<std::uint64_t, n> const& numbers,
                                            std::array<char const*, n> const& ops) {
    std::array<std::size_t, n> order{};
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return numbers[a] != numbers[b] ? numbers[a] < numbers[b] : a < b; });
    std::array<bool, n> first{};
    for (std::size_t k = 0; k < n; ++k) first[order[k]] = k == 0 || ops[order[k]] != ops[order[k - 1]];
    return first;
}

template <class List>
struct unique_ops;
template <class... Op>
struct unique_ops<type_list<Op...>> {
    static constexpr auto first = first_of_each(std::array<std::uint64_t, sizeof...(Op)>{hash_of_name(Op::name)...},
                                                std::array<char const*, sizeof...(Op)>{&address_of_op<Op>...});
    template <std::size_t... i>
    static typename joined<std::conditional_t<first[i], type_list<Op>, type_list<>>...>::type pick(
        std::index_sequence<i...>);
    using type = decltype(pick(std::index_sequence_for<Op...>{}));
};

template <class... Rule>
type_list<typename Rule::op...> ops_of(grad_rules<Rule...>);

/// The operators of a list and those of their gradients' rules, each once.
template <class List>
struct with_gradients;
template <class... Op>
struct with_gradients<type_list<Op...>> {
    using all = typename joined<type_list<Op...>, decltype(ops_of(grad_rules_of<Op>{}))...,
                                decltype(ops_of(row_rules_of<Op>{}))...>::type;
    using type = decltype(registry_of(typename unique_ops<all>::type{}));
};

/// That registry, which is made when it is used and not when it is named.
template <class List>
struct ListWithGradients : with_gradients<List>::type {};

}  // namespace rowan::inline v0::detail
