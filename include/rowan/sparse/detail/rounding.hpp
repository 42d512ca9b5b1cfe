// rowan/sparse/detail/rounding.hpp: how element types round, and registers of numbers as they are stored.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/detail/lane_instructions.hpp>
#include <rowan/detail/lanes.hpp>

#include <type_traits>

namespace rowan::inline v0::detail {

/// The relative error of a rounding to T, at most, and the absolute one of a number near 0; of these types.
template <class T>
inline constexpr double rounding = 0.0;
template <>
inline constexpr double rounding<double> = 0x1p-53;
template <>
inline constexpr double rounding<float> = 0x1p-24;
template <>
inline constexpr double rounding<float16> = 0x1p-11;
template <>
inline constexpr double rounding<bfloat16> = 0x1p-8;
template <class T>
inline constexpr double underflow =
    0x1p-126;  // of float and bfloat16: more than they need, as subnormal numbers are slow
template <>
inline constexpr double underflow<double> = 0x1p-1022;
template <>
inline constexpr double underflow<float16> = 0x1p-25;

/// x rounded to T and widened again.
ROWAN_NO_EXEC_CHECK
template <class T, class V>
ROWAN_HD_INLINE V rounded_to(V const& x) {
    if constexpr (std::is_same_v<T, typename lane_of<V>::type>) {
        return x;
    } else {
        T kept[lanes_in<V>];
        store(x, kept);
        return load<V>(kept);
    }
}

/// Whether the comparison is true in all lanes.
ROWAN_NO_EXEC_CHECK
template <class V, class Mask>
ROWAN_HD_INLINE bool all_lanes(Mask const& mask) {
    if constexpr (is_register<V>) {
        return !any_negative(mask.select(V(0), V(-1)));
    } else {
        return mask;
    }
}

}  // namespace rowan::inline v0::detail
