// rowan/detail/lanes.hpp: element-wise formulas with SIMD registers or scalars, with bit-identical results.
#pragma once

#include <rowan/detail/arithmetic.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

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

/// Stores the truth values of a comparison of SIMD registers.
template <class S, class Arch>
ROWAN_INLINE void store(xsimd::batch_bool<S, Arch> const& x, bool* p) {
    x.store_unaligned(p);
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

/// to[i] = map(from[i]...) for i in [0, n), for any number of arrays. `to` is only written. Truth values of numbers of
/// type `S` are left to the compiler, which packs them faster than a register of them is stored.
template <class S, class Map, class To, class... From>
ROWAN_INLINE void zip_lanes(Map const& map, std::size_t n, To* to, From const*... from) {
    std::size_t i = 0;
    if constexpr (has_batch<S> && !(std::is_same_v<To, bool> && (std::is_same_v<From, S> && ...))) {
        using V = xsimd::batch<S>;
        for (; i + V::size <= n; i += V::size) store(map(load<V>(from + i)...), to + i);
    }
    for (; i < n; ++i) store(map(load<S>(from + i)...), to + i);
}

/// x, which the caller converts to another type
struct same_number {
    ROWAN_FORMULA V operator()(V const& x) const { return x; }
};

/// Converts n elements from `from` to `to`.
template <class S, class From, class To>
ROWAN_INLINE void copy_lanes(std::size_t n, From const* from, To* to) {
    map_lanes<S>(same_number{}, n, from, to);
}

/// to += from
struct add_lanes {
    ROWAN_FORMULA void operator()(V const& from, V& to) const { to = plus(to, from); }
};

/// x²
struct squared {
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x) const {
        return product(x, x);
    }
};

/// x · y
struct multiplied {
    ROWAN_FORMULA V operator()(V const& x, V const& y) const { return product(x, y); }
};

/// x / y
struct divided {
    ROWAN_FORMULA V operator()(V const& x, V const& y) const { return quotient(x, y); }
};

/// out · (grad - dot), the gradient of a softmax, where dot is the sum of out · grad
struct softmax_slope {
    ROWAN_FORMULA V operator()(V const& out, V const& grad, V const& dot) const { return product(out, V(grad - dot)); }
};

/// to += map(from)
template <class Map>
struct add_mapped {
    Map const& map;

    ROWAN_FORMULA void operator()(V const& from, V& to) const { to = plus(to, map(from)); }
};

/// Adds 16 partial sums as a binary tree, in place: part[k] += part[k + 8], then part[k + 4], part[k + 2], part[k + 1].
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD S tree_sum(S* part) {
    for (std::size_t half = 8; half != 0; half /= 2) {
        for (std::size_t k = 0; k < half; ++k) part[k] = plus(part[k], part[k + half]);
    }
    return part[0];
}

/// map(x[0]) + map(x[1]) + … as 16 interleaved partial sums, reduced by tree_sum.
ROWAN_NO_EXEC_CHECK
template <class S, class T, class Map = same_number>
ROWAN_HD S interleaved_sum(std::size_t n, T const* x, Map const& map = {}) {
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
    return tree_sum(part);
}

}  // namespace rowan::inline v0::detail
