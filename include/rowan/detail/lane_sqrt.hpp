// rowan/detail/lane_sqrt.hpp: the square root of a LaneRegister.
#pragma once

#include <rowan/detail/lane_register.hpp>

#include <cmath>
#include <cstddef>

namespace rowan::inline v0::detail {

#if defined(__x86_64__) && !__has_builtin(__builtin_elementwise_sqrt)
// √x of whole registers: not by std::sqrt of the lanes, which sets errno. A last argument 4 is the thread's rounding mode.
ROWAN_INLINE void sqrt_of(LaneRegister<float, 16>& x) { x.data = __builtin_ia32_sqrtps(x.data); }
ROWAN_INLINE void sqrt_of(LaneRegister<double, 16>& x) { x.data = __builtin_ia32_sqrtpd(x.data); }
[[gnu::target("avx")]] inline void sqrt_of(LaneRegister<float, 32>& x) { x.data = __builtin_ia32_sqrtps256(x.data); }
[[gnu::target("avx")]] inline void sqrt_of(LaneRegister<double, 32>& x) { x.data = __builtin_ia32_sqrtpd256(x.data); }
#ifdef __clang__
[[gnu::target("avx512f")]] inline void sqrt_of(LaneRegister<float, 64>& x) {
    x.data = __builtin_ia32_sqrtps512(x.data, 4);
}
[[gnu::target("avx512f")]] inline void sqrt_of(LaneRegister<double, 64>& x) {
    x.data = __builtin_ia32_sqrtpd512(x.data, 4);
}
#else
[[gnu::target("avx512f")]] inline void sqrt_of(LaneRegister<float, 64>& x) {
    x.data = __builtin_ia32_sqrtps512_mask(x.data, x.data, -1, 4);
}
[[gnu::target("avx512f")]] inline void sqrt_of(LaneRegister<double, 64>& x) {
    x.data = __builtin_ia32_sqrtpd512_mask(x.data, x.data, -1, 4);
}
#endif
#endif

/// √x
template <class S, std::size_t bytes>
ROWAN_INLINE LaneRegister<S, bytes> sqrt(LaneRegister<S, bytes> const& x) {
#if __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(x.data);
#elif defined(__x86_64__)
    LaneRegister<S, bytes> y = x;
    sqrt_of(y);
    return y;
#else
    S lanes[LaneRegister<S, bytes>::size];
    x.store(lanes);
    for (S& lane : lanes) lane = std::sqrt(lane);
    return LaneRegister<S, bytes>::load(lanes);
#endif
}

}  // namespace rowan::inline v0::detail
