// rowan/op/detail/run_of.hpp: run_of, how a declared function of tensors finds what computes it.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/fwd.hpp>
#include <rowan/op/detail/input_types.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

/// What computes the functions of an operator, as `run` of their arguments. The functions.hpp of a folder declares them,
/// with their contracts; the header of the operator specializes this.
template <class Op>
struct function_of;

/// Stands for an operator where the function is that of its gradient.
template <class Op>
struct backward_of;

/// The operator that a function is of, or beside which it is.
template <class Op>
struct operator_named {
    using type = Op;
};
template <class Op>
struct operator_named<backward_of<Op>> {
    using type = Op;
};

/// The element type of an argument; void of one that has none.
template <class Argument>
struct argument_element {
    using type = void;
};
template <class T>
struct argument_element<Tensor<T, Cpu>> {
    using type = T;
};
template <class T>
struct argument_element<LoDTensor<T, Cpu>> {
    using type = T;
};
template <class T>
struct argument_element<SelectedRows<T, Cpu>> {
    using type = T;
};
template <class T>
struct argument_element<RowStore<T>> {
    using type = T;
};
template <class T>
struct argument_element<std::type_identity<T>> {  // of the result
    using type = std::conditional_t<is_compiled_element<T>, void, T>;
};
template <class V, class A>
struct argument_element<std::vector<V, A>> : argument_element<V> {};
template <class V, std::size_t n>
struct argument_element<std::span<V const, n>> : argument_element<V> {};

/// Whether a function on elements of E takes arguments with elements of T..., of which others are integers or masks.
template <class E, class... T>
inline constexpr bool are_elements_beside = ((std::is_void_v<T> || std::is_same_v<T, E> ||
                                              std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::int32_t> ||
                                              std::is_same_v<T, bool> ||
                                              (std::is_same_v<T, std::uint8_t> && std::is_floating_point_v<E>)) &&
                                             ...);

/// Whether a declared operator has an input of its own elements.
template <class Op>
inline constexpr bool reads_elements = [] {
    for (bool const elements : elements_in<Op>(typename declared<Op>::inputs{})) {
        if (elements) return true;
    }
    return false;
}();

/// Whether an operator on elements of E has functions of arguments with elements of T...
template <class Op, class E, class... T>
inline constexpr bool has_function_of = [] {
    if constexpr (!takes_elements<Op, E>) {
        return false;
    } else if constexpr (reads_elements<Op> && !(std::is_same_v<T, E> || ...)) {
        return false;
    } else {
        return are_elements_beside<E, T...>;
    }
}();

/// Whether the compiled library has the functions of an operator for arguments with elements of T...
template <class Op, class... T>
inline constexpr bool has_compiled_function = [] {
    if constexpr (is_compiled<Op>) {
        return has_function_of<Op, float, T...> || has_function_of<Op, double, T...> ||
               has_function_of<Op, std::int64_t, T...> || has_function_of<Op, std::int32_t, T...> ||
               has_function_of<Op, bool, T...>;
    } else {
        return false;
    }
}();

// The compiled library's objects of operators and of gradients keep the functions that these call, for programs.
#if defined(ROWAN_COMPILED) && (defined(ROWAN_COMPILING_OPERATORS) || defined(ROWAN_COMPILING_GRADIENTS))
#define ROWAN_KEPT [[gnu::used, gnu::noinline]]
#else
#define ROWAN_KEPT
#endif

/// The function of an operator, or of its gradient, with these types of the result and of the arguments.
template <class Op, class R, class D, class... In>
struct RunOf {
    static_assert(
        requires { sizeof(function_of<Op>); },
        "rowan: the compiled library does not have this function for these element types and this device. "
        "For those of your own, #include <rowan/own_operator.hpp>");
    ROWAN_KEPT static R run(D const& exec, In const&... in) { return function_of<Op>::run(exec, in...); }
};
#undef ROWAN_KEPT

#if ROWAN_DECLARES_OPERATORS
/// Whether the compiled library defines the function: in its objects of gradients, those of operators.
template <class Op, class... In>
inline constexpr bool is_elsewhere = [] {
    using Of = typename operator_named<Op>::type;
#ifdef ROWAN_COMPILING_GRADIENTS
    if constexpr (!std::is_same_v<Of, Op>) return false;
#endif
    return has_compiled_function<Of, typename argument_element<In>::type...>;
}();

template <class Op, class R, class... In>
requires is_elsewhere<Op, In...>
struct RunOf<Op, R, Cpu, In...> {
    static R run(Cpu const& exec, In const&... in);
};
#endif

/// Runs the function of an operator, or of its gradient, that returns R.
template <class Op, class R, class D, class... In>
R run_of(D const& exec, In const&... in) {
    return RunOf<Op, R, D, In...>::run(exec, in...);
}

}  // namespace rowan::inline v0::detail
