// rowan/op/detail/power.hpp: powers, with the same bits for SIMD registers and scalars.
#pragma once

#include <rowan/detail/logarithm.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace rowan::inline v0::detail {

/// The number high + low, where |low| is about an epsilon of |high|.
template <class V>
struct Pair {
    V high, low;
};

/// a + b without an error, for |a| >= |b| or a = 0
ROWAN_FORMULA Pair<V> exact_sum(V const& a, V const& b) {
    V const sum = a + b;
    return {sum, V(b - (sum - a))};
}

/// a · b without an error, where nothing overflows or is subnormal (Dekker).
ROWAN_FORMULA Pair<V> exact_product(V const& a, V const& b) {
    V const p = product(a, b), a_high = upper_half(a), b_high = upper_half(b);
    V const a_low = a - a_high, b_low = b - b_high;
    V const error = ((product(a_high, b_high) - p) + product(a_high, b_low)) + product(a_low, b_high);
    return {p, V(error + product(a_low, b_low))};
}

/// zⁿ⁻¹ / (2 n + 3) + … + z / 7 + 1 / 5 for n numbers i
ROWAN_NO_EXEC_CHECK
template <class V, int... i>
ROWAN_HD_INLINE V odd_series(V const& z, std::integer_sequence<int, i...>) {
    constexpr double c[] = {1.0 / (2 * static_cast<int>(sizeof...(i)) + 3 - 2 * i)...};
    return polynomial(z, c);
}

/// log(x) for a finite x > 0, with an error of 2^-33 · log(x) for float and 2^-64 · log(x) for double.
/// With s = f / (2 + f) and z = s²: log(1 + f) = 2 s · (1 + z/3 + z² · (1/5 + z/7 + …)).
ROWAN_FORMULA Pair<V> logarithm_pair(V const& x) {
    using S = typename lane_of<V>::type;
    using limits = std::numeric_limits<S>;
    constexpr int terms = std::is_same_v<S, float> ? 6 : 13;
    constexpr double third = static_cast<double>(static_cast<S>(1.0 / 3));  // below 1/3 for double, above for float
    constexpr double third_rest = std::is_same_v<S, float> ? 1.0 / 3 - third : 0x1.5555555555555p-56;
    auto const small = x < constant<V>(static_cast<double>(limits::min()));
    V k, m;
    split_power(choose(small, product(x, constant<V>(2 / static_cast<double>(limits::epsilon()))), x), k, m);
    k = choose(small, V(k - constant<V>(limits::digits)), k);
    V const two = constant<V>(2.0), f = m - constant<V>(1.0), d = f + two;
    V const s = quotient(f, d);
    Pair<V> const back = exact_product(s, d);
    V const s_low = quotient(V(((f - back.high) - back.low) - product(s, V(f - (d - two)))), d);
    Pair<V> const z = exact_product(s, s);
    V const z_low = z.low + product(product(s, s_low), two);
    V const series = odd_series(z.high, std::make_integer_sequence<int, terms - 1>());
    Pair<V> const cubic = exact_product(z.high, constant<V>(third));
    V const cubic_low = cubic.low + (product(z.high, constant<V>(third_rest)) + product(z_low, constant<V>(third)));
    Pair<V> const w = exact_sum(cubic.high, V(cubic_low + product(product(z.high, z.high), series)));
    Pair<V> const u = exact_product(s, w.high);
    V const u_low = u.low + (product(s, w.low) + product(s_low, w.high));
    Pair<V> const half = exact_sum(s, u.high);
    V const half_low = half.low + (s_low + u_low);
    Pair<V> const y = exact_sum(product(k, constant<V>(exp_traits<S>::log2_high)), V(half.high + half.high));
    V const low = y.low + ((half_low + half_low) + product(k, constant<V>(exp_traits<S>::log2_low)));
    return exact_sum(y.high, low);
}

/// An exponent high + low, and whether it is an odd or even integer.
struct Exponent {
    double high, low;
    bool whole, odd;
};

ROWAN_HD_INLINE Exponent exact_exponent(double x) {
    constexpr double two_53 = 9007199254740992.0;  // all numbers from here on are even integers
    double const size = x < 0 ? -x : x;
    auto const floor = static_cast<std::int64_t>(size < two_53 ? size : 0.0);
    return {x, 0, size >= two_53 || static_cast<double>(floor) == size, floor % 2 != 0};
}

/// x - 1 without an error
ROWAN_HD_INLINE Exponent one_less(Exponent const& x) {
    double const less = x.high - 1;
    bool const small = x.high < 1 && x.high > -1;
    return {less, small ? x.high - (less + 1) : (x.high - less) - 1, x.whole, x.whole && !x.odd};
}

/// factor · x^y for x >= 0, where y and factor are not 0.
ROWAN_FORMULA V positive_power(V const& x, Exponent const& y, double factor) {
    using S = typename lane_of<V>::type;
    if constexpr (is_machine_float<S>) {
        using traits = exp_traits<S>;
        constexpr bool single = std::is_same_v<S, float>;
        constexpr double infinity = std::numeric_limits<double>::infinity();
        constexpr double most = static_cast<double>(std::numeric_limits<S>::max());
        // Powers with greater exponents are 0, 1 or infinite. exp(limit) is infinite, times any factor, too.
        constexpr double enough = single ? 1e11 : 1e20, limit = single ? 2e4 : 4e3, powers = single ? 250 : 2040;
        // factor = size · 2^shift, where |size| is in [1, 2)
        constexpr std::uint64_t exponent_bits = std::uint64_t{0x7FF} << 52, one_bits = std::uint64_t{0x3FF} << 52;
        bool const tiny = factor < 0x1p-1022 && factor > -0x1p-1022;
        auto const bits = bit_cast<std::uint64_t>(tiny ? factor * 0x1p64 : factor);
        double const shift = static_cast<double>((bits & exponent_bits) >> 52) - (tiny ? 1087 : 1023);
        V const size = constant<V>(bit_cast<double>((bits & ~exponent_bits) | one_bits));

        double const high = y.high > enough ? enough : y.high < -enough ? -enough : y.high;
        double const rest = y.high == high ? (high - static_cast<double>(static_cast<S>(high))) + y.low : 0.0;
        V const zero = constant<V>(0.0), y_high = constant<V>(high);
        Pair<V> const log = logarithm_pair(x), scaled = exact_product(log.high, y_high);
        V const low = scaled.low + (product(log.low, y_high) + product(log.high, constant<V>(rest)));
        V const at = limited(scaled.high, -limit, limit), n = nearest_power(at);
        V const most_of_r = at - product(n, constant<V>(traits::log2_high));
        // Where |low| is above 0.01, at is at its limit.
        V const rest_of_r = limited(low, -0.01, 0.01) - product(n, constant<V>(traits::log2_low));
        V const r = most_of_r + rest_of_r;
        V const tail = r + (exponential_rest(r) + (rest_of_r - (r - most_of_r)));
        // 2^shifted need not be a normal number, but the two powers of two are.
        V const shifted = limited(V(n + constant<V>(shift)), -powers, powers);
        V const first = nearest_integer(product(shifted, constant<V>(0.5)));
        V const scale = product(power_of_two(first), size);
        V const result = product(V(scale + product(scale, tail)), power_of_two(V(shifted - first)));
        V const at_zero = constant<V>(y.high < 0 ? factor * infinity : factor * 0.0);
        V const at_infinity = constant<V>(y.high < 0 ? factor * 0.0 : factor * infinity);
        V const at_ends = choose(x < constant<V>(most), at_zero, x);  // of 0 and NaN
        return choose(x > constant<V>(most), at_infinity, choose(x > zero, result, at_ends));
    } else {
        return product(exp_of(S(product(constant<V>(y.high), log_of(x)))), constant<V>(factor));
    }
}

/// factor · x^y, with the zeros, infinities and NaN of C's pow.
ROWAN_FORMULA V power(V const& x, Exponent const& y, double factor) {
    V const zero = constant<V>(0.0), even = positive_power(larger(V(zero - x), x), y, factor);
    if (!y.whole) {
        constexpr auto infinity = bit_cast<double>(std::uint64_t{0x7FF0} << 48);
        constexpr auto nan = bit_cast<double>(std::uint64_t{0x7FF8} << 48);
        return choose(x < zero, choose(x > constant<V>(-infinity), constant<V>(nan), even), even);
    }
    if (!y.odd) return even;
    V const odd = product(even, constant<V>(-1.0));
    return choose(x < zero, odd, choose(quotient(constant<V>(1.0), x) < zero, odd, even));  // 1 / -0 < 0
}

/// Whether x^exponent is to be computed by products, which are within 2 units in the last place for exponents in
/// [-2, 4] and nearly 3 units for -3. Other types than float and double may have no better exp and log.
template <class V>
ROWAN_HD_INLINE bool is_product(double exponent, int least, int most) {
    if constexpr (!is_machine_float<typename lane_of<V>::type>) least = -64, most = 64;
    return exponent >= least && exponent <= most && static_cast<double>(static_cast<int>(exponent)) == exponent;
}

/// x^exponent by products
ROWAN_FORMULA V power_by_products(V const& x, int exponent) {
    V const one = constant<V>(1.0);
    V square = exponent < 0 ? quotient(one, x) : x;
    auto n = static_cast<unsigned>(exponent < 0 ? -exponent : exponent);
    V result = n % 2 != 0 ? square : one;
    while ((n /= 2) != 0) {
        square = product(square, square);
        if (n % 2 != 0) result = product(result, square);
    }
    return result;
}

}  // namespace rowan::inline v0::detail
