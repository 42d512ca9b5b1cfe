// rowan/detail/interleaved.hpp: folds and sums of many numbers in 16 interleaved parts, and these as a tree.
#pragma once

#include <rowan/detail/lanes.hpp>

#include <cstddef>
#include <utility>

namespace rowan::inline v0::detail {

/// fold(part[k + half], part[k]) for k < half, then with half of that, until 1: unrolled, as at -O2 compilers do not.
ROWAN_NO_EXEC_CHECK
template <class V, class Fold, std::size_t... k>
ROWAN_HD_INLINE void fold_halves(V* part, Fold&& fold, std::index_sequence<k...>) {
    constexpr std::size_t half = sizeof...(k);
    (fold(static_cast<V const&>(part[k + half]), part[k]), ...);
    if constexpr (half > 1) fold_halves(part, fold, std::make_index_sequence<half / 2>());
}

/// Folds 16 parts as a binary tree: part[k + 8] into part[k], then part[k + 4], part[k + 2], part[k + 1].
ROWAN_NO_EXEC_CHECK
template <class S, class Fold>
ROWAN_HD_INLINE S fold_tree(S* part, Fold const& fold) {
    if constexpr (has_register<S>) {
        using V = LaneRegister<S, 16>;
        V registers[16 / V::size];
        for (std::size_t k = 0; k < 16 / V::size; ++k) registers[k] = V::load(part + k * V::size);
        fold_halves(registers, fold, std::make_index_sequence<8 / V::size>());
        S lanes[V::size];
        registers[0].store(lanes);
        fold_halves(lanes, fold, std::make_index_sequence<V::size / 2>());
        return lanes[0];
    } else {
        fold_halves(part, fold, std::make_index_sequence<8>());
        return part[0];
    }
}

/// The sum of 16 parts as a binary tree. They may change.
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S tree_sum(S* part) {
    return fold_tree(part, add_lanes{});
}

/// The loop of interleave over the elements that fill 16; returns the number of these.
ROWAN_NO_EXEC_CHECK
template <class V, class S, class Fold, class F>
ROWAN_HD_INLINE std::size_t interleave_registers(S* part, S const& first, std::size_t n, Fold const& fold, F const& f) {
    std::size_t i = 0;
    if constexpr (is_register<V>) {
        constexpr std::size_t count = 16 / V::size;
        V parts[count];
        for (V& p : parts) p = V(first);
        for (; i + 16 <= n; i += 16) {
            for (std::size_t k = 0; k < count; ++k) fold(V(f.template operator()<V>(i + k * V::size)), parts[k]);
        }
        for (std::size_t k = 0; k < count; ++k) parts[k].store(part + k * V::size);
    } else {
        for (std::size_t k = 0; k < 16; ++k) part[k] = first;
    }
    return i;
}

/// Sets 16 parts to `first` and folds f.operator()<V>(i) into part[i % 16], for i in [0, n).
ROWAN_NO_EXEC_CHECK
template <class S, class Fold, class F>
ROWAN_HD_INLINE void interleave(S* part, S const& first, std::size_t n, Fold const& fold, F const& f) {
#ifdef __CUDA_ARCH__
    std::size_t i = interleave_registers<S>(part, first, n, fold, f);
#else
    std::size_t i =
        on_lanes<S>(n, [&]<class V>(as<V>) ROWAN_INLINED { return interleave_registers<V>(part, first, n, fold, f); });
#endif
    for (; i < n; ++i) fold(S(f.template operator()<S>(i)), part[i % 16]);
}
/// The same with registers V in a function that is compiled for them.
template <class V, class S, class Fold, class F>
ROWAN_INLINE void interleave_with(S* part, S const& first, std::size_t n, Fold const& fold, F const& f) {
    for (std::size_t i = interleave_registers<V>(part, first, n, fold, f); i < n; ++i)
        fold(S(f.template operator()<S>(i)), part[i % 16]);
}

/// map(x[i])
template <class T, class Map>
struct MappedElement {
    T const* x;
    Map const& map;

    ROWAN_FORMULA V operator()(std::size_t i) const { return map(load<V>(x + i)); }
};

/// map(x[0]), map(x[1]) … folded in 16 interleaved parts, which begin with Fold::start, and these by fold_tree.
ROWAN_NO_EXEC_CHECK
template <class S, class Fold, class T, class Map = same_number>
ROWAN_HD S interleaved_fold(std::size_t n, T const* x, Map const& map = {}) {
    S part[16];
    interleave(part, constant<S>(Fold::start), n, Fold{}, MappedElement<T, Map>{x, map});
    return fold_tree(part, Fold{});
}
/// map(x[0]) + map(x[1]) + … in that way.
ROWAN_NO_EXEC_CHECK
template <class S, class T, class Map = same_number>
ROWAN_HD S interleaved_sum(std::size_t n, T const* x, Map const& map = {}) {
    return interleaved_fold<S, add_lanes>(n, x, map);
}
/// The same with registers V in a function that is compiled for them.
template <class V, class T, class Map = same_number>
ROWAN_INLINE auto sum_with(std::size_t n, T const* x, Map const& map = {}) {
    using S = typename lane_of<V>::type;
    S part[16];
    interleave_with<V>(part, constant<S>(0.0), n, add_lanes{}, MappedElement<T, Map>{x, map});
    return tree_sum(part);
}

}  // namespace rowan::inline v0::detail
