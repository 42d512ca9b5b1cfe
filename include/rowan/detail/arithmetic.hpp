// rowan/detail/arithmetic.hpp: arithmetic of formulas, bit-identical on SIMD registers, scalars and devices.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/detail/lane_instructions.hpp>
#include <rowan/detail/lane_register.hpp>
#include <rowan/detail/lane_sqrt.hpp>

#include <cmath>
#include <concepts>
#include <type_traits>

namespace rowan::inline v0::detail {

template <class T>
using sum_t = typename dtype<T>::sum;

template <class T>
struct kept_type {
    using type = T;
};
template <class T>
requires element<sum_t<T>>
struct kept_type<T> {
    using type = sum_t<T>;
};
/// The element type of what is kept between steps for values of T, such as averages: sum_t<T> if that is one, else T.
template <class T>
using kept_t = typename kept_type<T>::type;

/// The type in which formulas over values of `T...` are computed.
template <class... T>
using compute_t = std::common_type_t<sum_t<T>...>;

/// Whether a table of `To` can be updated from values of `From...`. A table of integers can be updated from integers
/// only.
template <class To, class... From>
concept computes_from = (!std::integral<sum_t<To>> || (std::integral<sum_t<From>> && ...)) && requires {
    typename compute_t<To, From...>;
}
&&std::constructible_from<sum_t<To>, compute_t<To, From...>>;

/// Whether `S` is a floating-point type with hardware arithmetic on all devices.
template <class S>
inline constexpr bool is_machine_float = std::is_same_v<S, float> || std::is_same_v<S, double>;

/// Returns `x` and prevents the compiler from fusing the product `x` with a subsequent addition. Device code does not
/// need it: its `product` is never fused.
template <class V>
ROWAN_HD_INLINE V rounded(V x) {
#ifndef __CUDA_ARCH__
    if constexpr (is_register<V>) {
        return x.rounded();
    } else if constexpr (is_machine_float<V>) {
#ifdef ROWAN_FLOAT_REGISTER
        asm("" : ROWAN_FLOAT_REGISTER(x));
#else
        asm("" : "+m"(x));
#endif
    } else if constexpr (!std::integral<V> && std::is_trivially_copyable_v<V>) {
        asm("" : "+m"(x));
    }
#endif
    return x;
}

/// a + b; integers wrap around.
ROWAN_FORMULA V plus(V const& a, V const& b) {
    if constexpr (std::signed_integral<V>) {
        return static_cast<V>(static_cast<std::make_unsigned_t<V>>(a) + static_cast<std::make_unsigned_t<V>>(b));
    } else {
        return a + b;
    }
}

ROWAN_FORMULA V product(V const& a, V const& b) {
    if constexpr (std::signed_integral<V>) {
        return static_cast<V>(static_cast<std::make_unsigned_t<V>>(a) * static_cast<std::make_unsigned_t<V>>(b));
#ifdef __CUDA_ARCH__
    } else if constexpr (std::is_same_v<V, float>) {
        return __fmul_rn(a, b);
    } else if constexpr (std::is_same_v<V, double>) {
        return __dmul_rn(a, b);
#endif
    } else {
        return rounded(a * b);
    }
}

/// a / b, correctly rounded regardless of the device compiler's options.
ROWAN_FORMULA V quotient(V const& a, V const& b) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<V, float>) {
        return __fdiv_rn(a, b);
    } else if constexpr (std::is_same_v<V, double>) {
        return __ddiv_rn(a, b);
    } else
#endif
    {
        return a / b;
    }
}

/// Converts an option to the type in which a formula is computed.
ROWAN_FORMULA V constant(double x) {
    if constexpr (is_register<V>) {
        return V(static_cast<typename V::value_type>(x));
    } else {
        return static_cast<V>(x);
    }
}

ROWAN_FORMULA V square_root(V const& x) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<V, float>) {
        return __fsqrt_rn(x);
    } else if constexpr (std::is_same_v<V, double>) {
        return __dsqrt_rn(x);
    }
#endif
    using std::sqrt;
    static_assert(
        requires { V(sqrt(x)); },
        "rowan: this function needs sqrt(dtype<T>::sum): declare it in the namespace of that type");
    return sqrt(x);
}

ROWAN_NO_EXEC_CHECK
template <class Mask, class V>
ROWAN_HD_INLINE V choose(Mask const& mask, V const& yes, V const& no) {
    if constexpr (is_register<V>) {
        return mask.select(yes, no);
    } else {
        return mask ? yes : no;
    }
}

}  // namespace rowan::inline v0::detail
