// rowan/op/detail/input_types.hpp: the element types of an operator's inputs, from what its slots hold.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/slots.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

template <class... T>
struct type_list {};

template <Holds holds, bool only_levels, class E, class I, class Kept, class Levels>
using held_element = std::conditional_t<
    holds == Holds::int64, std::int64_t,
    std::conditional_t<holds == Holds::truth, bool,
                       std::conditional_t<holds == Holds::statistics, Kept,
                                          std::conditional_t<only_levels, Levels,
                                                             std::conditional_t<holds != Holds::elements, I, E>>>>>;

template <class Op, class Slots, class E, class I, class Kept, class Levels>
struct slot_types;
template <class Op, class... Slot, class E, class I, class Kept, class Levels>
struct slot_types<Op, slots<Slot...>, E, I, Kept, Levels> {
    template <class S>
    static constexpr bool only_levels = (level_inputs_of<Op> >> slots<Slot...>::template index<S> & 1) != 0;
    using type = type_list<held_element<holds_of<Slot>, only_levels<Slot>, E, I, Kept, Levels>...>;
    static constexpr bool needs_integers = ((holds_of<Slot> == Holds::integers) || ...);
    static constexpr bool has_statistics = ((holds_of<Slot> == Holds::statistics) || ...);
};

/// The element types of the inputs of an operator on elements of E: integers are I, statistics are Kept, and an input
/// whose levels alone are used has elements of Levels.
template <class Op, class E, class I, class Kept = E, class Levels = I>
using input_types = typename slot_types<Op, typename Op::inputs, E, I, Kept, Levels>::type;

/// Whether an input must hold integers.
template <class Op>
inline constexpr bool needs_integers = slot_types<Op, typename Op::inputs, int, int, int, int>::needs_integers;
template <class Op>
inline constexpr bool has_statistics = slot_types<Op, typename Op::inputs, int, int, int, int>::has_statistics;

/// Calls f(type_list<T...>{}) for each combination of the element types of the inputs of an operator on elements of E.
template <class Op, class E, class F>
constexpr void each_input_types(F const& f) {
    using plain = input_types<Op, E, E>;
    using with_int64 = input_types<Op, E, std::int64_t>;
    using with_int32 = input_types<Op, E, std::int32_t>;
    if constexpr (!needs_integers<Op>) f(plain{});
    if constexpr (needs_integers<Op> || !std::is_same_v<with_int64, plain>) f(with_int64{});
    if constexpr (needs_integers<Op> && level_inputs_of<Op> != 0) {
        f(input_types<Op, E, std::int64_t, E, E>{});
        f(input_types<Op, E, std::int32_t, E, E>{});
    }
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
                                         std::is_same_v<type_list<T...>, input_types<Op, E, std::int32_t>> ||
                                         std::is_same_v<type_list<T...>, input_types<Op, E, std::int64_t, E, E>> ||
                                         std::is_same_v<type_list<T...>, input_types<Op, E, std::int32_t, E, E>>);

/// Whether the compiled library has kernels of the operator.
template <class Op>
inline constexpr bool is_compiled = [] {
    if constexpr (requires { Op::compiled; }) return Op::compiled;
    return is_builtin<Op>;
}();

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
