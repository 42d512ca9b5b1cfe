// rowan/op/detail/input_types.hpp: the element types of an operator's inputs, from what its slots hold.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/slots.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

template <class... T>
struct type_list {};

template <Holds holds, bool only_levels, class E, class I, class Kept>
using held_element = std::conditional_t<
    holds == Holds::int64, std::int64_t,
    std::conditional_t<holds == Holds::truth, bool,
                       std::conditional_t<holds == Holds::statistics, Kept,
                                          std::conditional_t<holds != Holds::elements || only_levels, I, E>>>>;

template <class Op, class Slots, class E, class I, class Kept>
struct slot_types;
template <class Op, class... Slot, class E, class I, class Kept>
struct slot_types<Op, slots<Slot...>, E, I, Kept> {
    static constexpr bool needs_integers = ((holds_of<Slot> == Holds::integers) || ...);
    template <class S>
    static constexpr bool only_levels =
        !needs_integers && (level_inputs_of<Op> >> slots<Slot...>::template index<S> & 1) != 0;
    using type = type_list<held_element<holds_of<Slot>, only_levels<Slot>, E, I, Kept>...>;
    static constexpr bool has_statistics = ((holds_of<Slot> == Holds::statistics) || ...);
};

/// The element types of the inputs of an operator on elements of E: integers are I, statistics are Kept, and an input
/// whose levels alone are used has elements of I, or of E beside integers.
template <class Op, class E, class I, class Kept = E>
using input_types = typename slot_types<Op, typename declaration_of<Op>::inputs, E, I, Kept>::type;

/// Whether an input must hold integers.
template <class Op>
inline constexpr bool needs_integers =
    slot_types<Op, typename declaration_of<Op>::inputs, int, int, int>::needs_integers;
template <class Op>
inline constexpr bool has_statistics =
    slot_types<Op, typename declaration_of<Op>::inputs, int, int, int>::has_statistics;

/// Whether the declaration says that the only slot holds any number of values.
template <class Op>
inline constexpr bool takes_list = requires {
    requires declared<Op>::takes_list;
};

/// Which inputs have the elements of a declared operator, by what its slots hold.
template <class Op, class... Slot>
constexpr std::array<bool, sizeof...(Slot)> elements_in(slots<Slot...>) {
    std::size_t i = 0;
    [[maybe_unused]] auto const levels = [&] { return (level_inputs_of<Op> >> i++ & 1) != 0; };
    return {(!levels() && holds_of<Slot> == Holds::elements)...};
}

/// Whether both inputs of a declared operator have its elements.
template <class Op>
inline constexpr bool takes_alike = [] {
    if constexpr (has_declaration<Op>) {
        constexpr auto in = elements_in<Op>(typename declared<Op>::inputs{});
        return in.size() == 2 && in[0] && in[1];
    } else {
        return false;
    }
}();

/// The element type of the first result of a declared operator for inputs with elements of T...: its `result`; that of
/// input `result_like`; or that of its first input that has its elements.
template <class Op, class... T>
struct made_element {
    static constexpr std::size_t like = [] {
        if constexpr (requires { declared<Op>::result_like; }) return declared<Op>::result_like;
        constexpr auto in = elements_in<Op>(typename declared<Op>::inputs{});
        auto const found = static_cast<std::size_t>(std::find(in.begin(), in.end(), true) - in.begin());
        return found < sizeof...(T) ? found : 0;  // one type for a list, or integers alone
    }();
    using type = std::tuple_element_t<like, std::tuple<T...>>;
};
template <class Op, class... T>
requires requires { typename declared<Op>::result; }
struct made_element<Op, T...> {
    using type = typename declared<Op>::result;
};

/// Calls f(type_list<T...>{}) for each combination of the element types of the inputs of an operator on elements of E.
template <class Op, class E, class F>
constexpr void each_input_types(F const& f) {
    using plain = input_types<Op, E, E>;
    using with_int64 = input_types<Op, E, std::int64_t>;
    using with_int32 = input_types<Op, E, std::int32_t>;
    if constexpr (!needs_integers<Op>) f(plain{});
    if constexpr (needs_integers<Op> || !std::is_same_v<with_int64, plain>) f(with_int64{});
    if constexpr (!std::is_same_v<with_int32, with_int64> && (needs_integers<Op> || !std::is_same_v<with_int32, plain>))
        f(with_int32{});
}

/// Whether T... are element types of the operator's inputs on elements of E, or E alone, for an operator on any number
/// of values.
template <class Op, class E, class... T>
inline constexpr bool has_elements_of = takes_elements<Op, E> &&
                                        ((!needs_integers<Op> &&
                                          (std::is_same_v<type_list<T...>, type_list<E>> ||
                                           std::is_same_v<type_list<T...>, input_types<Op, E, E>>)) ||
                                         std::is_same_v<type_list<T...>, input_types<Op, E, std::int64_t>> ||
                                         std::is_same_v<type_list<T...>, input_types<Op, E, std::int32_t>>);

/// Whether the compiled library has kernels of the operator.
template <class Op>
inline constexpr bool is_compiled = is_builtin<Op>;
template <class Op>
requires requires { declaration_of<Op>::compiled; }
inline constexpr bool is_compiled<Op> = declaration_of<Op>::compiled;

/// Whether the compiled library has the kernel of the operator for inputs with elements of T...
template <class Op, class... T>
inline constexpr bool has_compiled_kernel = [] {
    if constexpr (!is_compiled<Op>) {
        return false;
    } else if constexpr (sizeof...(T) == 0) {
        return true;
    } else {
        return has_elements_of<Op, float, T...> || has_elements_of<Op, double, T...> ||
               has_elements_of<Op, std::int64_t, T...> || has_elements_of<Op, std::int32_t, T...> ||
               has_elements_of<Op, bool, T...>;
    }
}();

}  // namespace rowan::inline v0::detail
