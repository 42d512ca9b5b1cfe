// rowan/op/detail/lane_tile.hpp: steps of folds along axes: fold_four, and fold_float_lanes for lanes of adjacent floats.
#pragma once

#include <rowan/detail/lanes.hpp>

#include <cstddef>

#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
#define ROWAN_X86_LANE_TILE
#include <xmmintrin.h>
#endif

namespace rowan::inline v0::detail {

/// Adds four contributions to a sum, one after the other.
template <class Fold>
struct fold_four {
    ROWAN_FORMULA void operator()(V const& a, V const& b, V const& c, V const& d, V& to) const {
        Fold{}(a, to);
        Fold{}(b, to);
        Fold{}(c, to);
        Fold{}(d, to);
    }
};

/// Folds lanes that are `step` elements apart, each of n adjacent elements, in order, and returns the number of lanes
/// that it has folded. A register holds an element of each of four lanes, so the elements are transposed first.
template <class Fold, class To>
std::size_t fold_float_lanes([[maybe_unused]] std::size_t n, [[maybe_unused]] std::size_t lanes,
                             [[maybe_unused]] float const* x, [[maybe_unused]] std::size_t step,
                             [[maybe_unused]] To* to) {
    std::size_t lane = 0;
#if defined(ROWAN_X86_LANE_TILE)
    using V = LaneRegister<float, 16>;
    constexpr std::size_t side = 4,
                          together = 4;  // independent registers, so that no addition waits for the one before
    if (n < side) return 0;
    for (; lane + side * together <= lanes; lane += side * together, x += side * together * step) {
        V sums[together];
        auto const tile = [&](std::size_t i) {
            for (std::size_t k = 0; k < together; ++k) {
                float const* const from = x + k * side * step + i;
                __m128 r0 = _mm_loadu_ps(from), r1 = _mm_loadu_ps(from + step), r2 = _mm_loadu_ps(from + 2 * step),
                       r3 = _mm_loadu_ps(from + 3 * step);
                _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
                if (i == 0) {
                    sums[k] = V(r0);
                } else {
                    Fold{}(V(r0), sums[k]);
                }
                Fold{}(V(r1), sums[k]);
                Fold{}(V(r2), sums[k]);
                Fold{}(V(r3), sums[k]);
            }
        };
        std::size_t i = 0;
        for (; i + side <= n; i += side) tile(i);
        for (std::size_t k = 0; k < together; ++k) {
            alignas(16) float last[side];
            sums[k].store(last);
            for (std::size_t j = 0; j < side; ++j) {
                for (std::size_t rest = i; rest < n; ++rest) Fold{}(x[(k * side + j) * step + rest], last[j]);
                store(last[j], to + lane + k * side + j);
            }
        }
    }
#endif
    return lane;
}

#undef ROWAN_X86_LANE_TILE

}  // namespace rowan::inline v0::detail
