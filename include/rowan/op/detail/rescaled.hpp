// rowan/op/detail/rescaled.hpp: powers of two that scale numbers so that their products neither overflow nor vanish.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/wide_product.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Whether the squared norm of a row is far from overflow and from underflow, so that no product of its elements with
/// those of another such row needs to be scaled. False for NaN.
template <class S>
ROWAN_HD_INLINE bool is_middling(S const& square) {
    constexpr S most = std::is_same_v<S, float> ? S(0x1p60) : S(0x1p500), least = 1 / most;
    return square >= least && square <= most;
}

/// A constant, as device code must not call functions of the host.
template <class S>
inline constexpr S greatest_normal = std::numeric_limits<S>::max();

/// A power of two whose product with a size >= 0 is close to 1, as far as a normal number is such a power; 1 for 0,
/// infinity and NaN.
template <class S>
ROWAN_HD_INLINE S unit_factor(S const& size) {
    constexpr S most = std::numeric_limits<S>::max_exponent - 2, least = least_normal<S>;
    if (!(size > 0) || !(size <= greatest_normal<S>)) return 1;
    S power, rest;
    split_power(size < least ? least : size, power, rest);
    return power_of_two(S(0 - (power > most ? most : power)));
}

/// The greatest |x| of n numbers; NaN does not count.
template <class S, class T>
ROWAN_HD S greatest_size(std::size_t n, T const* x) {
    S most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        S const a = load<S>(x + i), size = a < 0 ? -a : a;
        if (size > most) most = size;
    }
    return most;
}

/// Σ (f · a) · (g · b), in 16 interleaved parts, as interleaved_sum.
template <class S, class T>
ROWAN_HD S scaled_dot(std::size_t n, T const* a, S const& f, T const* b, S const& g) {
    S part[16] = {};
    for (std::size_t i = 0; i < n; ++i) {
        S const x = product(product(load<S>(a + i), f), product(load<S>(b + i), g));
        part[i % 16] = plus(part[i % 16], x);
    }
    return tree_sum(part);
}

}  // namespace rowan::inline v0::detail
