// rowan/core/dtype.hpp: dtype<T>, the properties that rowan requires of an element type.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/fwd.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// To use a user-defined element type `T`, specialise `rowan::dtype<T>` with
///     sum            the type of sums and products: zero by default, constructible from double, with + - * /
///     name           its name in messages and nets
///     wire           its number in descriptors and checkpoints; user-defined types have numbers from 1000
///     widen(T)       -> sum
///     narrow(sum)    -> T, with the rounding of the type
///
/// `T` itself must be trivially copyable and default constructible. Functions with further requirements on `sum` do not
/// compile without them: sqrt, exp, log, sin, cos, floor and pow, found by argument-dependent lookup, and <, > and ==.
template <class T>
concept element = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
    requires(T const& x, typename dtype<T>::sum const& s) {
    { dtype<T>::name } -> std::convertible_to<std::string_view>;
    { dtype<T>::wire } -> std::convertible_to<std::int32_t>;
    { dtype<T>::widen(x) } -> std::same_as<typename dtype<T>::sum>;
    { dtype<T>::narrow(s) } -> std::same_as<T>;
};

/// An element type that has fractions: one whose sums are not integers.
template <class T>
concept floating_element = element<T> && !std::integral<typename dtype<T>::sum>;

namespace detail {

/// The common base of the built-in element types.
template <class T, class Sum>
struct cast_dtype {
    using sum = Sum;
    ROWAN_KERNEL static constexpr sum widen(T x) noexcept { return static_cast<sum>(x); }
    ROWAN_KERNEL static constexpr T narrow(sum x) noexcept { return static_cast<T>(x); }
};

/// Whether `T` is an element type. The first compiler error names what a specialisation lacks.
template <class T>
consteval bool is_element() {
    if constexpr (requires { sizeof(dtype<T>); }) {
        using traits = dtype<T>;
        static_assert(std::is_trivially_copyable_v<T>, "rowan::dtype<T>: T must be trivially copyable");
        static_assert(std::default_initializable<T>, "rowan::dtype<T>: T must be default constructible");
        static_assert(
            requires { typename std::bool_constant<(std::string_view(traits::name).size() > 0)>; },
            "rowan::dtype<T>: static constexpr std::string_view name is missing: the name of T in messages and nets");
        static_assert(
            requires { typename std::integral_constant<std::int32_t, traits::wire>; },
            "rowan::dtype<T>: static constexpr std::int32_t wire is missing: the number of T in files, from 1000 on");
        static_assert(
            requires { typename traits::sum; },
            "rowan::dtype<T>: using sum = ... is missing: the type in which sums of T are formed");
        if constexpr (requires { typename traits::sum; }) {
            using sum = typename traits::sum;
            static_assert(
                requires(T const& x) {
                    { traits::widen(x) } -> std::same_as<sum>;
                },
                "rowan::dtype<T>: static sum widen(T) is missing");
            static_assert(
                requires(sum const& x) {
                    { traits::narrow(x) } -> std::same_as<T>;
                },
                "rowan::dtype<T>: static T narrow(sum) is missing: it rounds to T");
            static_assert(traits::wire >= 1000 || std::is_base_of_v<cast_dtype<T, sum>, traits>,
                          "rowan::dtype<T>::wire: numbers below 1000 are those of rowan's own types");
            static_assert(std::default_initializable<sum>, "rowan::dtype<T>::sum must be default constructible");
            static_assert(
                requires(double x) { static_cast<sum>(x); }, "rowan::dtype<T>::sum must be constructible from double");
            static_assert(
                requires(sum const& a, sum const& b) { sum(a + b), sum(a - b), sum(a * b), sum(a / b); },
                "rowan::dtype<T>::sum must have + - * and /");
        }
    }
    return element<T>;
}

}  // namespace detail

template <>
struct dtype<float> : detail::cast_dtype<float, float> {
    static constexpr std::string_view name = "f32";
    static constexpr std::int32_t wire = 5;
};

template <>
struct dtype<double> : detail::cast_dtype<double, double> {
    static constexpr std::string_view name = "f64";
    static constexpr std::int32_t wire = 6;
};

/// Sums of integers are 64 bits wide and wrap around when narrowed, as in NumPy.
template <>
struct dtype<std::int32_t> : detail::cast_dtype<std::int32_t, std::int64_t> {
    static constexpr std::string_view name = "i32";
    static constexpr std::int32_t wire = 2;
};

template <>
struct dtype<std::int64_t> : detail::cast_dtype<std::int64_t, std::int64_t> {
    static constexpr std::string_view name = "i64";
    static constexpr std::int32_t wire = 3;
};

template <>
struct dtype<std::uint8_t> : detail::cast_dtype<std::uint8_t, std::int64_t> {
    static constexpr std::string_view name = "u8";
    static constexpr std::int32_t wire = 20;
};

/// The sum of bools is their logical or.
template <>
struct dtype<bool> : detail::cast_dtype<bool, std::int64_t> {
    static constexpr std::string_view name = "bool";
    static constexpr std::int32_t wire = 0;
};

template <>
struct dtype<float16> : detail::cast_dtype<float16, float> {
    static constexpr std::string_view name = "f16";
    static constexpr std::int32_t wire = 4;
};

template <>
struct dtype<bfloat16> : detail::cast_dtype<bfloat16, float> {
    static constexpr std::string_view name = "bf16";
    static constexpr std::int32_t wire = 22;
};

}  // namespace rowan::inline v0
