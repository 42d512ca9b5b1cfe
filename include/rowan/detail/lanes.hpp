// rowan/detail/lanes.hpp: element-wise formulas with SIMD registers or scalars, with bit-identical results.
#pragma once

#include <rowan/detail/arithmetic.hpp>
#include <rowan/detail/lane_targets.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// Loads and widens the elements of one `V`: V::size of them for a SIMD register, one for a scalar.
ROWAN_NO_EXEC_CHECK
template <class V, class T>
ROWAN_HD_INLINE V load(T const* p) {
    if constexpr (std::is_same_v<T, V>) {
        return *p;
    } else if constexpr (!is_register<V>) {
        return static_cast<V>(dtype<T>::widen(*p));
    } else if constexpr (std::is_same_v<T, typename V::value_type>) {
        return V::load(p);
    } else if constexpr (std::is_same_v<T, float>) {
        return V::of_floats(p);
    } else if constexpr (std::is_same_v<T, std::uint8_t>) {
        return V::of_bytes(p);
    } else if constexpr (std::is_same_v<T, bfloat16> && std::is_same_v<typename V::value_type, float>) {
        return V::of_upper_halves(p);
    } else {
        typename V::value_type wide[V::size];
        for (std::size_t i = 0; i < V::size; ++i) wide[i] = static_cast<typename V::value_type>(dtype<T>::widen(p[i]));
        return V::load(wide);
    }
}

/// Rounds the floats to bfloat16, as its constructor does.
template <class V>
ROWAN_INLINE void store_upper_halves(V const& x, void* p) {
    using I = typename V::template of<std::uint32_t>;
    I const bits = detail::bit_cast<I>(x);
    I const near = bits + I(0x7FFF) + ((bits >> 16) & I(1));
    I const rounded = choose((bits & I(0x7FFFFFFF)) > I(0x7F800000), bits | I(0x00400000), near);
    (rounded >> 16).store_lower_halves(p);
}

ROWAN_NO_EXEC_CHECK
template <class V, class T>
ROWAN_HD_INLINE void store(V const& x, T* p) {
    if constexpr (std::is_same_v<T, V>) {
        *p = x;
    } else if constexpr (!is_register<V>) {
        *p = dtype<T>::narrow(static_cast<sum_t<T>>(x));
    } else if constexpr (std::is_same_v<T, typename V::value_type>) {
        x.store(p);
    } else if constexpr (std::is_same_v<T, float>) {
        x.store_floats(p);
    } else if constexpr (std::is_same_v<T, bfloat16> && std::is_same_v<typename V::value_type, float>) {
        store_upper_halves(x, p);
    } else {
        typename V::value_type wide[V::size];
        x.store(wide);
        for (std::size_t i = 0; i < V::size; ++i) p[i] = dtype<T>::narrow(static_cast<sum_t<T>>(wide[i]));
    }
}

/// Stores the truth values of a comparison of registers.
template <lane_mask M>
ROWAN_INLINE void store(M const& mask, bool* p) {
    using V = typename M::lanes;
    typename V::value_type ones[V::size];
    mask.select(V(1), V(0)).store(ones);
    for (std::size_t i = 0; i < V::size; ++i) p[i] = ones[i] != 0;
}

/// Stores x, unless p points to const.
template <class V, class T>
ROWAN_INLINE void store_changed([[maybe_unused]] V const& x, [[maybe_unused]] T* p) {
    if constexpr (!std::is_const_v<T>) store(x, p);
}

/// Loads one `V` from each pointer, calls the formula with references to them, and stores those of non-const pointers.
template <class V, class Formula, class... T>
ROWAN_INLINE void apply_lanes(Formula const& formula, T*... p) {
    [&](auto... x) ROWAN_INLINED {
        formula(x...);
        (store_changed(x, p), ...);
    }(load<V>(p)...);
}

/// The loops of the functions below over the elements that fill registers V. They return the number of these.
template <class V, class Formula, class... T>
ROWAN_INLINE std::size_t for_registers(Formula const& formula, std::size_t n, T*... p) {
    std::size_t i = 0;
    if constexpr (is_register<V>) {
        for (; i + V::size <= n; i += V::size) apply_lanes<V>(formula, (p + i)...);
    }
    return i;
}
template <class V, class Map, class To, class... From>
ROWAN_INLINE std::size_t zip_registers(Map const& map, std::size_t n, To* to, From const*... from) {
    std::size_t i = 0;
    if constexpr (is_register<V>) {
        for (; i + V::size <= n; i += V::size) store(map(load<V>(from + i)...), to + i);
    }
    return i;
}
template <class V, class F>
ROWAN_INLINE std::size_t each_register(std::size_t n, F const& f) {
    std::size_t i = 0;
    if constexpr (is_register<V>) {
        for (; i + V::size <= n; i += V::size) f.template operator()<V>(i);
    }
    return i;
}

/// Calls formula(x...) with the i-th elements of all `p` for i in [0, n), in type `S`; elements of pointers to
/// non-const are written back. The formula is a template over registers and numbers. Lanes do not interact, so the
/// results are bit-identical.
template <class S, class Formula, class... T>
ROWAN_INLINE void for_lanes(Formula const& formula, std::size_t n, T*... p) {
    std::size_t i = on_lanes<S>(n, [&]<class V>(as<V>) ROWAN_INLINED { return for_registers<V>(formula, n, p...); });
    for (; i < n; ++i) {
        apply_lanes<S>(formula, (p + i)...);
        // keeps g++ from vectorising with another width, where loads that span several stores stall
        if constexpr (has_register<S>) asm volatile("");
    }
}

/// to[i] = map(from[i]...) for i in [0, n), for any number of arrays. `to` is only written. Truth values of numbers of
/// type `S` are left to the compiler, which packs them faster than a register of them is stored.
template <class S, class Map, class To, class... From>
ROWAN_INLINE void zip_lanes(Map const& map, std::size_t n, To* to, From const*... from) {
    std::size_t i = 0;
    if constexpr (!(std::is_same_v<To, bool> && (std::is_same_v<From, S> && ...))) {
        i = on_lanes<S>(n, [&]<class V>(as<V>) ROWAN_INLINED { return zip_registers<V>(map, n, to, from...); });
    }
    for (; i < n; ++i) store(map(load<S>(from + i)...), to + i);
}

/// for_lanes, zip_lanes and each_lane with registers V, called by what on_lanes calls: one call for many loops.
template <class V, class Formula, class... T>
ROWAN_INLINE void for_with(Formula const& formula, std::size_t n, T*... p) {
    using S = typename lane_of<V>::type;
    for (std::size_t i = for_registers<V>(formula, n, p...); i < n; ++i) apply_lanes<S>(formula, (p + i)...);
}
template <class V, class Map, class To, class... From>
ROWAN_INLINE void zip_with(Map const& map, std::size_t n, To* to, From const*... from) {
    using S = typename lane_of<V>::type;
    for (std::size_t i = zip_registers<V>(map, n, to, from...); i < n; ++i) store(map(load<S>(from + i)...), to + i);
}
template <class V, class F>
ROWAN_INLINE void each_with(std::size_t n, F const& f) {
    for (std::size_t i = each_register<V>(n, f); i < n; ++i) f.template operator()<typename lane_of<V>::type>(i);
}

/// Calls f(0), f(1) … f(n - 1): at -O2, g++ does not unroll loops.
ROWAN_NO_EXEC_CHECK
template <class F, std::size_t... k>
ROWAN_HD_INLINE void unrolled(F const& f, std::index_sequence<k...>) {
    (f(k), ...);
}
ROWAN_NO_EXEC_CHECK
template <std::size_t n, class F>
ROWAN_HD_INLINE void unrolled(F const& f) {
    unrolled(f, std::make_index_sequence<n>{});
}

/// to[i] = map(from[i]) for i in [0, n), computed in type `S`. `to` is only written.
template <class S, class Map, class From, class To>
ROWAN_INLINE void map_lanes(Map const& map, std::size_t n, From const* from, To* to) {
    zip_lanes<S>(map, n, to, from);
}

/// Calls f.operator()<V>(i) over [0, n), with registers V where `S` has them, V::size elements at a time, and else with
/// V = S. f itself loads and stores.
template <class S, class F>
ROWAN_INLINE void each_lane(std::size_t n, F const& f) {
    std::size_t i = on_lanes<S>(n, [&]<class V>(as<V>) ROWAN_INLINED { return each_register<V>(n, f); });
    for (; i < n; ++i) f.template operator()<S>(i);
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
    static constexpr double start = 0.0;  ///< added to another number, it changes nothing
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

}  // namespace rowan::inline v0::detail
