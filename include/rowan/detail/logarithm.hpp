// rowan/detail/logarithm.hpp: log and log(1 + x), with the same bits for SIMD registers and scalars.
#pragma once

#include <rowan/detail/exponential.hpp>

#include <limits>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// x = 2^k · m for a normal x > 0, with m in [sqrt(1/2), sqrt(2)).
ROWAN_FORMULA void split_power(V const& x, V& k, V& m) {
    using S = typename lane_of<V>::type;
    using B = std::make_unsigned_t<typename exp_traits<S>::bits>;
    constexpr int mantissa = std::numeric_limits<S>::digits - 1;
    constexpr double bias = std::numeric_limits<S>::max_exponent - 1;
    constexpr B root = bit_cast<B>(static_cast<S>(0.70710678118654752440)), one = bit_cast<B>(S(1));
    // The bits of 2^mantissa + e are those of 2^mantissa, plus e.
    constexpr S magic = static_cast<S>(B{1} << mantissa);
    auto const parts = [&](auto bits, auto const& shifted_right) {
        bits = bits + (one - root);
        k = detail::bit_cast<V>(decltype(bits)(shifted_right(bits) + bit_cast<B>(magic))) -
            constant<V>(static_cast<double>(magic) + bias);
        m = detail::bit_cast<V>(decltype(bits)((bits & B((B{1} << mantissa) - 1)) + root));
    };
    if constexpr (is_register<V>) {
        using Bits = typename V::template of<B>;
        parts(detail::bit_cast<Bits>(x), [](Bits const& bits) { return Bits(bits >> mantissa); });
    } else {
        parts(bit_cast<B>(x), [](B bits) { return static_cast<B>(bits >> mantissa); });
    }
}

/// log(x), within 1 unit in the last place; -infinity for 0, NaN for negative numbers. Other types than float and
/// double use std::log or a `log` that ADL finds.
/// With f = m - 1 and s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - (f²/2 - s · (f²/2 + 2 s² (1/3 + s²/5 + …))).
ROWAN_FORMULA V logarithm(V const& x) {
    using S = typename lane_of<V>::type;
    if constexpr (is_machine_float<S>) {
        using limits = std::numeric_limits<S>;
        constexpr int terms = std::is_same_v<S, float> ? 5 : 11;
        constexpr double least = static_cast<double>(limits::min()), most = static_cast<double>(limits::max());
        constexpr double infinity = std::numeric_limits<double>::infinity(),
                         nan = std::numeric_limits<double>::quiet_NaN();
        constexpr double to_normal =
            2 / static_cast<double>(limits::epsilon());  // a subnormal number times this is normal
        V const zero = constant<V>(0.0);
        auto const small = x < constant<V>(least);
        V k, m;
        split_power(choose(small, product(x, constant<V>(to_normal)), x), k, m);
        k = choose(small, V(k - constant<V>(limits::digits)), k);
        V const f = m - constant<V>(1.0), s = quotient(f, V(f + constant<V>(2.0))), z = product(s, s);
        V series = constant<V>(2.0 / (2 * terms + 1));
        [&]<int... i>(std::integer_sequence<int, i...>) {  // a fold, as in polynomial
            ((series = product(series, z) + constant<V>(2.0 / (2 * (terms - i) - 1))), ...);
        }
        (std::make_integer_sequence<int, terms - 1>());
        V const half_square = product(product(f, f), constant<V>(0.5));
        V const low =
            product(s, V(half_square + product(z, series))) + product(k, constant<V>(exp_traits<S>::log2_low));
        V const y = product(k, constant<V>(exp_traits<S>::log2_high)) - ((half_square - low) - f);
        V const finite = choose(x > constant<V>(most), x, y);
        V const positive = choose(x > zero, finite, V(zero - constant<V>(infinity)));
        return choose(x >= zero, positive, constant<V>(nan));
    } else {
        return log_of(x);
    }
}

/// log(1 + x) for x in [0, 1], within 3 units in the last place.
ROWAN_FORMULA V logarithm_of_one_plus(V const& x) {
    V const one = constant<V>(1.0);
    V const u = one + x;
    return logarithm(u) + quotient(V(x - (u - one)), u);
}

}  // namespace rowan::inline v0::detail
