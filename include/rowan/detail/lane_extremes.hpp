// rowan/detail/lane_extremes.hpp: the larger and the smaller of two LaneRegisters.
#pragma once

#include <rowan/detail/lane_register.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

// The instructions' results are those of b < a ? a : b and of a < b ? a : b, also for NaN and zeros. g++ 12 does not
// choose them for registers with masks.
#if defined(__x86_64__) && !defined(__clang__)
#define ROWAN_LANE_EXTREMES(S, bytes, instructions, suffix, ...)                            \
    [[gnu::target(instructions)]] inline void keep_larger(LaneRegister<S, bytes> const& a,  \
                                                          LaneRegister<S, bytes>& b) {      \
        b.data = __builtin_ia32_max##suffix(a.data, b.data __VA_OPT__(, ) __VA_ARGS__);     \
    }                                                                                       \
    [[gnu::target(instructions)]] inline void keep_smaller(LaneRegister<S, bytes> const& a, \
                                                           LaneRegister<S, bytes>& b) {     \
        b.data = __builtin_ia32_min##suffix(a.data, b.data __VA_OPT__(, ) __VA_ARGS__);     \
    }
ROWAN_LANE_EXTREMES(float, 16, "sse2", ps)
ROWAN_LANE_EXTREMES(double, 16, "sse2", pd)
ROWAN_LANE_EXTREMES(float, 32, "avx", ps256)
ROWAN_LANE_EXTREMES(double, 32, "avx", pd256)
ROWAN_LANE_EXTREMES(float, 64, "avx512f", ps512_mask, b.data, -1, 4)  // all lanes, and the thread's rounding mode
ROWAN_LANE_EXTREMES(double, 64, "avx512f", pd512_mask, b.data, -1, 4)
#undef ROWAN_LANE_EXTREMES
#else
template <class V>
ROWAN_INLINE void keep_larger(V const& a, V& b) {
    b.data = b.data < a.data ? a.data : b.data;
}
template <class V>
ROWAN_INLINE void keep_smaller(V const& a, V& b) {
    b.data = a.data < b.data ? a.data : b.data;
}
#endif

/// b < a ? a : b, in registers lane by lane: b if one of them is NaN, or both are 0.
ROWAN_FORMULA V larger(V const& a, V const& b) {
    if constexpr (is_register<V>) {
        V y = b;
        keep_larger(a, y);
        return y;
    } else {
        return b < a ? a : b;
    }
}

/// a < b ? a : b, as larger.
ROWAN_FORMULA V smaller(V const& a, V const& b) {
    if constexpr (is_register<V>) {
        V y = b;
        keep_smaller(a, y);
        return y;
    } else {
        return a < b ? a : b;
    }
}

}  // namespace rowan::inline v0::detail
