// rowan/detail/lane_instructions.hpp: operations on LaneRegisters for which g++ 12 does not choose the instructions itself.
#pragma once

#include <rowan/detail/lane_register.hpp>

#include <cstdint>
#include <cstring>

namespace rowan::inline v0::detail {

// The results of max and min are those of b < a ? a : b and of a < b ? a : b, also for NaN and zeros.
#if defined(__x86_64__) && !defined(__clang__)
#define ROWAN_LANE_INSTRUCTIONS(S, bytes, instructions, signs, suffix, ...)                   \
    [[gnu::target(instructions)]] inline void keep_larger(LaneRegister<S, bytes> const& a,    \
                                                          LaneRegister<S, bytes>& b) {        \
        b.data = __builtin_ia32_max##suffix(a.data, b.data __VA_OPT__(, ) __VA_ARGS__);       \
    }                                                                                         \
    [[gnu::target(instructions)]] inline void keep_smaller(LaneRegister<S, bytes> const& a,   \
                                                           LaneRegister<S, bytes>& b) {       \
        b.data = __builtin_ia32_min##suffix(a.data, b.data __VA_OPT__(, ) __VA_ARGS__);       \
    }                                                                                         \
    [[gnu::target(instructions)]] inline bool any_negative(LaneRegister<S, bytes> const& x) { \
        return __builtin_ia32_##signs != 0;                                                   \
    }
ROWAN_LANE_INSTRUCTIONS(float, 16, "sse2", movmskps(x.data), ps)
ROWAN_LANE_INSTRUCTIONS(double, 16, "sse2", movmskpd(x.data), pd)
ROWAN_LANE_INSTRUCTIONS(float, 32, "avx", movmskps256(x.data), ps256)
ROWAN_LANE_INSTRUCTIONS(double, 32, "avx", movmskpd256(x.data), pd256)
ROWAN_LANE_INSTRUCTIONS(float, 64, "avx512f,avx512dq", cvtd2mask512((LaneRegister<int, 64>::vector)x.data), ps512_mask,
                        b.data, -1, 4)  // all lanes, and the thread's rounding mode
ROWAN_LANE_INSTRUCTIONS(double, 64, "avx512f,avx512dq", cvtq2mask512((LaneRegister<long long, 64>::vector)x.data),
                        pd512_mask, b.data, 0xFF, 4)
#undef ROWAN_LANE_INSTRUCTIONS
#else
template <class V>
ROWAN_INLINE bool any_negative(V const& x) {
    std::uint64_t parts[sizeof(V) / 8], all = 0;
    std::memcpy(parts, &x.data, sizeof(V));
    for (std::uint64_t const part : parts) all |= part;
    return (all & (sizeof(typename V::value_type) == 4 ? 0x8000000080000000 : 0x8000000000000000)) != 0;
}
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

/// Whether the mask is true for a lane. A truth value is a mask of one lane.
ROWAN_NO_EXEC_CHECK
template <class M>
ROWAN_HD_INLINE bool any(M const& mask) {
    if constexpr (lane_mask<M>) {
        using V = typename M::lanes;
        return any_negative(mask.select(V(-1), V(0)));
    } else {
        return mask;
    }
}

}  // namespace rowan::inline v0::detail
