// rowan/detail/exponential.hpp: exp, sigmoid and tanh, with the same bits for SIMD registers and scalars.
#pragma once

#include <rowan/core/detail/bit_cast.hpp>
#include <rowan/detail/functions.hpp>
#include <rowan/detail/lanes.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// The constants of exp for a floating-point type.
template <class S>
struct exp_traits;
template <>
struct exp_traits<float> {
    using bits = std::int32_t;
    static constexpr double log2_high = 0x1.63p-1;  // log(2) = high + low; n · high is exact for all n
    static constexpr double log2_low = -0x1.bd0105c610ca8p-13;
    static constexpr double least = -87.0, greatest = 88.0;  // 2^n is normal for x in between
};
template <>
struct exp_traits<double> {
    using bits = std::int64_t;
    static constexpr double log2_high = 0x1.62e42feep-1;
    static constexpr double log2_low = 0x1.a39ef35793c76p-33;
    static constexpr double least = -708.0, greatest = 709.0;
};

/// x rounded to half the bits of its mantissa, so that its square is exact (Veltkamp).
ROWAN_FORMULA V upper_half(V const& x) {
    V const c = product(x, constant<V>(std::is_same_v<typename lane_of<V>::type, float> ? 4097.0 : 134217729.0));
    return rounded(c - rounded(c - x));
}

/// 2^n for an integer n, where 2^n is a normal number.
ROWAN_FORMULA V power_of_two(V const& n) {
    using S = typename lane_of<V>::type;
    using B = typename exp_traits<S>::bits;
    constexpr int mantissa = std::numeric_limits<S>::digits - 1;
    // The low bits of n + bias + 2^mantissa are n + bias.
    V const shifted = n + constant<V>(static_cast<double>(std::numeric_limits<S>::max_exponent - 1) +
                                      static_cast<double>(B{1} << mantissa));
    if constexpr (is_register<V>) {
        auto const bits = detail::bit_cast<typename V::template of<B>>(shifted);
        return detail::bit_cast<V>(bits << mantissa);
    } else {
        return bit_cast<S>(static_cast<B>(static_cast<std::make_unsigned_t<B>>(bit_cast<B>(shifted)) << mantissa));
    }
}

/// The nearest integer, for |x| < 2^(mantissa bits - 2).
ROWAN_FORMULA V nearest_integer(V const& x) {
    // Adding and subtracting this number rounds.
    constexpr double round =
        3.0 * static_cast<double>(std::int64_t{1} << (std::numeric_limits<typename lane_of<V>::type>::digits - 2));
    return rounded(x + constant<V>(round)) - constant<V>(round);
}

/// The integer n with 2^n nearest to exp(x).
ROWAN_FORMULA V nearest_power(V const& x) { return nearest_integer(product(x, constant<V>(1.4426950408889634))); }

/// The terms of the polynomial below: a fold, as at -O2 compilers do not unroll loops.
ROWAN_NO_EXEC_CHECK
template <class V, std::size_t size, std::size_t... i>
ROWAN_HD_INLINE V polynomial(V const& u, double const (&c)[size], std::index_sequence<i...>) {
    V y = constant<V>(c[0]);
    ((y = product(y, u) + constant<V>(c[i + 1])), ...);
    return y;
}
/// c[0] · uⁿ + c[1] · uⁿ⁻¹ + … + c[n]
ROWAN_NO_EXEC_CHECK
template <class V, std::size_t size>
ROWAN_HD_INLINE V polynomial(V const& u, double const (&c)[size]) {
    return polynomial(u, c, std::make_index_sequence<size - 1>());
}

/// exp(r) - 1 - r for |r| <= log(2) / 2, with an error of 3e-9 for float and 1e-17 for double: the sums of even and of odd
/// powers apart, so that half as many operations wait for one another. The terms are Taylor's for double, and for float
/// those of the least greatest error.
ROWAN_FORMULA V exponential_rest(V const& r) {
    V const square = product(r, r);
    auto const sum = [&](auto const& even, auto const& odd) ROWAN_INLINED {
        return product(square, V(polynomial(square, even) + product(r, polynomial(square, odd))));
    };
    if constexpr (std::is_same_v<typename lane_of<V>::type, float>) {
        constexpr double even[] = {0x1.6a5228p-10, 0x1.5558aap-5, 0x1.fffffcp-2},
                         odd[] = {0x1.12396cp-7, 0x1.555492p-3};
        return sum(even, odd);
    } else {
        constexpr double even[] = {1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320, 1.0 / 720, 1.0 / 24, 1.0 / 2},
                         odd[] = {1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6};
        return sum(even, odd);
    }
}

/// exp(x) = 2^n · (1 + tail) for |x| < 2^(mantissa bits - 2), where n is an integer.
ROWAN_FORMULA void reduced_exponential(V const& x, V& n, V& tail) {
    using traits = exp_traits<typename lane_of<V>::type>;
    n = nearest_power(x);
    V const r = (x - product(n, constant<V>(traits::log2_high))) - product(n, constant<V>(traits::log2_low));
    tail = r + exponential_rest(r);
}

/// x limited to [least, most]; NaN propagates.
ROWAN_FORMULA V limited(V const& x, double least, double most) {
    return smaller(constant<V>(most), larger(constant<V>(least), x));
}

/// exp(x) = scale + tail, where scale is a power of two. exp(x) - 1 = (scale - 1) + tail is then accurate for small x.
/// requires   x in [least, greatest] of exp_traits, or NaN, which propagates
ROWAN_FORMULA void exp_parts(V const& x, V& scale, V& tail) {
    V n;
    reduced_exponential(x, n, tail);
    scale = power_of_two(n);
    tail = product(scale, tail);
}

/// exp(x) with a relative error of 1e-7 for float and 2e-16 for double; never 0 or infinite for these two. Other types
/// use std::exp or an `exp` that ADL finds.
ROWAN_FORMULA V exponential(V const& x) {
    if constexpr (is_machine_float<typename lane_of<V>::type>) {
        using traits = exp_traits<typename lane_of<V>::type>;
        V scale, tail;
        exp_parts(limited(x, traits::least, traits::greatest), scale, tail);
        return scale + tail;
    } else {
        return exp_of(x);
    }
}

/// exp(x) for x <= 0. For float and double it is 0 if x < exp_traits::least, where exp(x) may be subnormal.
ROWAN_FORMULA V exponential_of_negative(V const& x) {
    if constexpr (is_machine_float<typename lane_of<V>::type>) {
        V const least = constant<V>(exp_traits<typename lane_of<V>::type>::least);
        return choose(x < least, constant<V>(0.0), exponential(x));
    } else {
        return exponential(x);
    }
}

/// exp(x) for all x, also where it is subnormal, 0 or infinite; within 1.5 units in the last place where it is normal.
ROWAN_FORMULA V exponential_of_any(V const& x) {
    using S = typename lane_of<V>::type;
    if constexpr (is_machine_float<S>) {
        constexpr double least = std::is_same_v<S, float> ? -104.0 : -746.0,
                         most = -least;  // exp is 0 and infinite there
        V n, tail;
        reduced_exponential(limited(x, least, most), n, tail);
        // 2^n need not be a normal number, but the two factors are.
        V const half = nearest_integer(product(n, constant<V>(0.5)));
        return product(product(power_of_two(half), V(constant<V>(1.0) + tail)), power_of_two(V(n - half)));
    } else {
        return exp_of(x);
    }
}

/// 1 / (1 + exp(-x)), but at least 1 / (1 + exp(88)) for float.
ROWAN_FORMULA V logistic(V const& x) {
    V const one = constant<V>(1.0);
    return quotient(one, V(one + exponential(V(constant<V>(0.0) - x))));
}

/// x / (1 + exp(t)) for all x and t, with an accurate tail: 0 for t = infinity, where the sign is that of x. It has the
/// bits of the formula where exp(t) < 2^64. With x = 1, the logistic function of -t.
ROWAN_FORMULA V over_one_plus_exponential(V const& x, V const& t) {
    using S = typename lane_of<V>::type;
    V const one = constant<V>(1.0);
    if constexpr (is_machine_float<S>) {
        if (!any(!(t < constant<V>(44.0)) || !(t > constant<V>(-87.0)))) {
            V scale, tail;
            exp_parts(t, scale, tail);
            return quotient(x, V(one + V(scale + tail)));
        }
    }
    // An infinite x need not be multiplied by 0.
    V const from = choose(t > constant<V>(1400.0), limited(x, -1.0, 1.0), x);
    if constexpr (is_machine_float<S>) {
        constexpr double most = std::is_same_v<S, float> ? 174.0 : 1400.0;
        V n, tail;
        reduced_exponential(limited(t, -most, most), n, tail);
        V const half = nearest_integer(product(n, constant<V>(0.5))), rest = n - half;
        V const first = product(power_of_two(half), V(one + tail));
        auto const large = n > constant<V>(64.0);  // 1 + exp(t) is exp(t) = first · 2^rest, which may be infinite
        V const y = quotient(from, V(choose(large, first, V(one + product(first, power_of_two(rest))))));
        return product(y, power_of_two(V(choose(large, V(constant<V>(0.0) - rest), constant<V>(0.0)))));
    } else {
        return quotient(from, V(one + exp_of(t)));
    }
}

/// s = 1 / (1 + exp(-x)) and s · (1 - s), both with an accurate tail.
template <class V>
struct Logistic {
    V value, slope;
};
ROWAN_FORMULA Logistic<V> logistic_and_slope(V const& x) {
    V const zero = constant<V>(0.0), one = constant<V>(1.0);
    V const e = exponential_of_any(smaller(x, V(zero - x))), high = quotient(one, V(one + e));
    V const low = product(e, high);
    return {choose(x < zero, low, high), product(low, high)};
}

/// exp(x) - 1 for x <= 88, accurate for small x, too.
ROWAN_FORMULA V exponential_minus_one(V const& x) {
    V const one = constant<V>(1.0);
    if constexpr (is_machine_float<typename lane_of<V>::type>) {
        V scale, tail;
        exp_parts(larger(constant<V>(exp_traits<typename lane_of<V>::type>::least), x), scale, tail);
        return (scale - one) + tail;
    } else {
        return exp_of(x) - one;
    }
}

/// tanh(x): -t / (t + 2) for t = exp(-2 |x|) - 1, with the sign of x.
ROWAN_FORMULA V hyperbolic_tangent(V const& x) {
    V const zero = constant<V>(0.0);
    V const t = exponential_minus_one(product(smaller(x, V(zero - x)), constant<V>(2.0)));
    V const y = quotient(t, V(t + constant<V>(2.0)));
    return choose(x < zero, y, V(zero - y));
}

}  // namespace rowan::inline v0::detail
