// rowan/detail/lanes.hpp: element-wise formulas with SIMD registers or scalars, with bit-identical results.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/core/dtype.hpp>

#if !__has_include(<xsimd/xsimd.hpp>)
#error "rowan needs xsimd 8 or newer (Debian: libxsimd-dev)"
#endif
#include <xsimd/xsimd.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

template <class T>
using sum_t = typename dtype<T>::sum;

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

/// Whether `S` has SIMD registers. Not in device code: nvcc rejects them there even if they are never used.
#ifdef __CUDA_ARCH__
template <class S>
inline constexpr bool has_batch = false;
#else
template <class S>
inline constexpr bool has_batch = is_machine_float<S>;
#endif

template <class V>
inline constexpr bool is_batch = false;
template <class S, class A>
inline constexpr bool is_batch<xsimd::batch<S, A>> = true;

/// Returns `x` and prevents the compiler from fusing the product `x` with a subsequent addition. Device code does not
/// need it: its `product` is never fused.
template <class V>
ROWAN_HD_INLINE V rounded(V x) {
#ifndef __CUDA_ARCH__
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
#if defined(__AVX512F__)
#define ROWAN_FLOAT_REGISTER "+v"
#elif defined(__x86_64__)
#define ROWAN_FLOAT_REGISTER "+x"
#else
#define ROWAN_FLOAT_REGISTER "+w"
#endif
    if constexpr (is_batch<V>) {
        asm("" : ROWAN_FLOAT_REGISTER(x.data));
        return x;
    } else if constexpr (is_machine_float<V>) {
        asm("" : ROWAN_FLOAT_REGISTER(x));
        return x;
    }
#undef ROWAN_FLOAT_REGISTER
#endif
    if constexpr (!std::integral<V> && std::is_trivially_copyable_v<V>) asm("" : "+m"(x));
#endif
    return x;
}

/// a + b; integers wrap around.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V plus(V const& a, V const& b) {
    if constexpr (std::signed_integral<V>) {
        return static_cast<V>(static_cast<std::make_unsigned_t<V>>(a) + static_cast<std::make_unsigned_t<V>>(b));
    } else {
        return a + b;
    }
}

ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V product(V const& a, V const& b) {
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
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V quotient(V const& a, V const& b) {
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
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V constant(double x) {
    if constexpr (is_batch<V>) {
        return V(static_cast<typename V::value_type>(x));
    } else {
        return static_cast<V>(x);
    }
}

ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V square_root(V const& x) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<V, float>) {
        return __fsqrt_rn(x);
    } else if constexpr (std::is_same_v<V, double>) {
        return __dsqrt_rn(x);
    }
#elif defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
    // g++ 12 warns that the unmasked intrinsics, which xsimd calls, use an uninitialised value
    if constexpr (std::is_same_v<V, xsimd::batch<float>>) {
        return V(_mm512_maskz_sqrt_ps(static_cast<__mmask16>(-1), x.data));
    } else if constexpr (std::is_same_v<V, xsimd::batch<double>>) {
        return V(_mm512_maskz_sqrt_pd(static_cast<__mmask8>(-1), x.data));
    }
#endif
    using std::sqrt;
    using xsimd::sqrt;
    static_assert(requires { V(sqrt(x)); }, "rowan: this function needs sqrt(dtype<T>::sum): declare it beside that type");
    return sqrt(x);
}

ROWAN_NO_EXEC_CHECK
template <class Mask, class V>
ROWAN_HD_INLINE V choose(Mask const& mask, V const& yes, V const& no) {
    if constexpr (is_batch<V>) {
        return xsimd::select(mask, yes, no);
    } else {
        return mask ? yes : no;
    }
}

/// Loads and widens the elements of one `V`: V::size of them for a SIMD register, one for a scalar.
ROWAN_NO_EXEC_CHECK
template <class V, class T>
ROWAN_HD_INLINE V load(T const* p) {
    if constexpr (std::is_same_v<T, V>) {
        return *p;
    } else if constexpr (!is_batch<V>) {
        return static_cast<V>(dtype<T>::widen(*p));
    } else if constexpr (std::is_same_v<T, typename V::value_type>) {
        return V::load_unaligned(p);
    } else {
        typename V::value_type wide[V::size];
        for (std::size_t i = 0; i < V::size; ++i) wide[i] = static_cast<typename V::value_type>(dtype<T>::widen(p[i]));
        return V::load_unaligned(wide);
    }
}

ROWAN_NO_EXEC_CHECK
template <class V, class T>
ROWAN_HD_INLINE void store(V const& x, T* p) {
    if constexpr (std::is_same_v<T, V>) {
        *p = x;
    } else if constexpr (!is_batch<V>) {
        *p = dtype<T>::narrow(static_cast<sum_t<T>>(x));
    } else if constexpr (std::is_same_v<T, typename V::value_type>) {
        x.store_unaligned(p);
    } else {
        typename V::value_type wide[V::size];
        x.store_unaligned(wide);
        for (std::size_t i = 0; i < V::size; ++i) p[i] = dtype<T>::narrow(static_cast<sum_t<T>>(wide[i]));
    }
}

/// Loads one `V` from each pointer, calls the formula with references to them, and stores those of non-const pointers.
template <class V, class Formula, class... T>
ROWAN_INLINE void apply_lanes(Formula const& formula, T*... p) {
    std::tuple<std::conditional_t<true, V, T>...> x{load<V>(p)...};
    std::apply([&](auto&... lanes) { formula(lanes...); }, x);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (
            [&] {
                if constexpr (!std::is_const_v<T>) store(std::get<i>(x), p);
            }(),
            ...);
    }
    (std::index_sequence_for<T...>{});
}

/// Calls formula(x...) with the i-th elements of all `p` for i in [0, n), in type `S`; elements of pointers to
/// non-const are written back. The formula is a template over SIMD registers and scalars. Lanes do not interact, so the
/// results are bit-identical.
template <class S, class Formula, class... T>
ROWAN_INLINE void for_lanes(Formula const& formula, std::size_t n, T*... p) {
    if constexpr (has_batch<S>) {
        using V = xsimd::batch<S>;
        std::size_t i = 0;
        for (; i + 4 * V::size <= n; i += 4 * V::size) {
            apply_lanes<V>(formula, (p + i)...);
            apply_lanes<V>(formula, (p + i + V::size)...);
            apply_lanes<V>(formula, (p + i + 2 * V::size)...);
            apply_lanes<V>(formula, (p + i + 3 * V::size)...);
        }
        for (; i + V::size <= n; i += V::size) apply_lanes<V>(formula, (p + i)...);
        for (; i < n; ++i) {
            apply_lanes<S>(formula, (p + i)...);
            asm volatile(
                "");  // keeps g++ from vectorising with another width, where loads that span several stores stall
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) apply_lanes<S>(formula, (p + i)...);
    }
}

/// to[i] = map(from[i]) for i in [0, n), computed in type `S`. `to` is only written.
template <class S, class Map, class From, class To>
ROWAN_INLINE void map_lanes(Map const& map, std::size_t n, From const* from, To* to) {
    std::size_t i = 0;
    if constexpr (has_batch<S>) {
        using V = xsimd::batch<S>;
        for (; i + V::size <= n; i += V::size) store(map(load<V>(from + i)), to + i);
    }
    for (; i < n; ++i) store(map(load<S>(from + i)), to + i);
}

/// Calls f.operator()<V>(i) over [0, n), with SIMD registers V where `S` has them, V::size elements at a time, and else
/// with V = S. f itself loads and stores.
template <class S, class F>
ROWAN_INLINE void each_lane(std::size_t n, F const& f) {
    std::size_t i = 0;
    if constexpr (has_batch<S>) {
        using V = xsimd::batch<S>;
        for (; i + V::size <= n; i += V::size) f.template operator()<V>(i);
    }
    for (; i < n; ++i) f.template operator()<S>(i);
}

/// to[i] = map(from[i]...) for i in [0, n), for any number of arrays. `to` is only written.
template <class S, class Map, class To, class... From>
ROWAN_INLINE void zip_lanes(Map const& map, std::size_t n, To* to, From const*... from) {
    std::size_t i = 0;
    if constexpr (has_batch<S>) {
        using V = xsimd::batch<S>;
        for (; i + V::size <= n; i += V::size) store(map(load<V>(from + i)...), to + i);
    }
    for (; i < n; ++i) store(map(load<S>(from + i)...), to + i);
}

/// Converts n elements from `from` to `to`.
template <class S, class From, class To>
ROWAN_INLINE void copy_lanes(std::size_t n, From const* from, To* to) {
    map_lanes<S>([](auto const& x) { return x; }, n, from, to);
}

/// to += from
struct add_lanes {
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& from, V& to) const {
        to = plus(to, from);
    }
};

/// x²
struct squared {
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return product(x, x);
    }
};

/// to += map(from)
template <class Map>
struct add_mapped {
    Map const& map;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& from, V& to) const {
        to = plus(to, map(from));
    }
};

/// map(x[0]) + map(x[1]) + … as 16 interleaved partial sums, reduced by a binary tree: part[k] += part[k + 8], then
/// part[k + 4], part[k + 2], part[k + 1].
ROWAN_NO_EXEC_CHECK
template <class S, class T, class Map>
ROWAN_HD S interleaved_sum(std::size_t n, T const* x, Map const& map) {
    S part[16];
    for (auto& p : part) p = constant<S>(0.0);
#ifdef __CUDA_ARCH__
    for (std::size_t i = 0; i < n; ++i) part[i % 16] = plus(part[i % 16], map(load<S>(x + i)));
#else
    add_mapped<Map> const add{map};
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) for_lanes<S>(add, 16, x + i, part);
    for_lanes<S>(add, n - i, x + i, part);
#endif
    for (std::size_t half = 8; half != 0; half /= 2) {
        for (std::size_t k = 0; k < half; ++k) part[k] = plus(part[k], part[k + half]);
    }
    return part[0];
}

}  // namespace rowan::inline v0::detail
