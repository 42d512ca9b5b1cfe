// rowan/op/detail/sine.hpp: sin and cos, with the same bits for SIMD registers and scalars.
#pragma once

#include <rowan/op/detail/power.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0::detail {

/// A number as count · π/2 + rest, where count is an integer, modulo 4 for large numbers, and |rest| <= π/4.
template <class V>
struct QuarterTurns {
    V count;
    Pair<V> rest;
};

/// Numbers from here on are reduced by many_quarter_turns.
inline constexpr double many_turns = 1048576.0;

/// a + b without an error (Knuth)
ROWAN_FORMULA Pair<V> exact_sum_of_any(V const& a, V const& b) {
    V const sum = a + b, of_b = sum - a;
    return {sum, V((a - (sum - of_b)) + (b - of_b))};
}

/// The quarter turns of a finite x, |x| >= 2^20: the product of its mantissa with 192 bits of 2/π (Payne and Hanek).
ROWAN_HD inline QuarterTurns<double> many_quarter_turns(double x) {
    constexpr std::uint32_t two_over_pi[] = {
        0,          0,          0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
        0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E,
        0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B,
        0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D,
        0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046};
    constexpr int words = 6;
    // |x| = mantissa · 2^exponent. Bits of 2/π before the first one make multiples of four quarter turns.
    auto const bits = bit_cast<std::uint64_t>(x);
    std::uint64_t const mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
    auto const first = static_cast<unsigned>(bits >> 52 & 0x7FF) - 1075 - 2 + 64;
    std::uint32_t product_bits[words] = {};  // the lowest word first
    for (int half = 0; half < 2; ++half) {
        std::uint64_t const factor = half == 0 ? mantissa & 0xFFFFFFFF : mantissa >> 32;
        std::uint64_t carry = 0;
        for (int i = half; i < words; ++i) {
            std::uint32_t const* const at = two_over_pi + first / 32 + (words - 1 - (i - half));
            std::uint64_t const two = std::uint64_t{at[0]} << 32 | at[1];
            carry += product_bits[i] + factor * (two >> (32 - first % 32) & 0xFFFFFFFF);
            product_bits[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }
    // The two highest bits are the count; the others are the rest, which is negative from half a quarter turn on.
    bool const more = (product_bits[words - 1] >> 29 & 1) != 0;
    double const count = (product_bits[words - 1] >> 30) + (more ? 1.0 : 0.0);
    product_bits[words - 1] &= 0x3FFFFFFF;
    Pair<double> rest{more ? -1.0 : 0.0, 0};
    double unit = 0x1p-30;
    for (int i = words - 1; i >= 0; --i, unit *= 0x1p-32) {
        Pair<double> const sum = exact_sum_of_any(rest.high, product_bits[i] * unit);
        rest = {sum.high, rest.low + sum.low};
    }
    double const sign = x < 0 ? -1 : 1;
    Pair<double> const turned = exact_product(rest.high, 0x1.921fb54442d18p+0 * sign);
    double const low =
        product(rest.high, 0x1.1a62633145c07p-54 * sign) + product(rest.low, 0x1.921fb54442d18p+0 * sign);
    return {count * sign, exact_sum(turned.high, turned.low + low)};
}

/// The quarter turns of x. π/2 as four numbers of which n times each but the last is exact (Cody and Waite).
ROWAN_FORMULA QuarterTurns<V> quarter_turns(V const& x) {
    constexpr double most = 0x1.fffffffffffffp+1023;
    V const n = nearest_integer(product(x, constant<V>(0x1.45f306dc9c883p-1))), zero = constant<V>(0.0);
    V const first = x - product(n, constant<V>(0x1.921fb544p+0));
    Pair<V> const second = exact_sum_of_any(first, V(zero - product(n, constant<V>(0x1.0b4611a6p-34))));
    Pair<V> const third = exact_sum_of_any(second.high, V(zero - product(n, constant<V>(0x1.3198a2ep-69))));
    V const low = (second.low + third.low) - product(n, constant<V>(0x1.b839a252049c1p-104));
    QuarterTurns<V> turns{n, exact_sum(third.high, low)};
    if constexpr (is_register<V>) {
        if (any(x >= constant<V>(many_turns) || x <= constant<V>(-many_turns))) {
            double at[V::size], count[V::size], high[V::size], rest_low[V::size];
            x.store(at);
            turns.count.store(count);
            turns.rest.high.store(high);
            turns.rest.low.store(rest_low);
            for (std::size_t i = 0; i < V::size; ++i) {
                double const size = at[i] < 0 ? -at[i] : at[i];
                if (!(size >= many_turns && size <= most)) continue;
                QuarterTurns<double> const many = many_quarter_turns(at[i]);
                count[i] = many.count, high[i] = many.rest.high, rest_low[i] = many.rest.low;
            }
            return {V::load(count), {V::load(high), V::load(rest_low)}};
        }
    } else if ((x >= many_turns || x <= -many_turns) && x <= most && x >= -most) {
        return many_quarter_turns(x);
    }
    return turns;
}

/// The coefficients of x^(2k+1) in the Taylor series of the sine, and of x^2k in that of the cosine.
struct TaylorSeries {
    double sine[9] = {}, cosine[8] = {};  // from x^19 to x^3, and from x^18 to x^4
    constexpr TaylorSeries() {
        double of_sine = 1;
        for (int k = 1; k < 10; ++k) {
            double const of_cosine = -of_sine / (2 * k);
            of_sine = of_cosine / (2 * k + 1);
            sine[9 - k] = of_sine;
            if (k > 1) cosine[9 - k] = of_cosine;
        }
    }
};

/// sin(x) for double, or cos(x), which is sin(x + a quarter turn), from the Taylor polynomials on [-π/4, π/4].
ROWAN_NO_EXEC_CHECK
template <bool cosine, class V>
ROWAN_HD_INLINE V sine_of_double(V const& x) {
    QuarterTurns<V> const turns = quarter_turns(x);
    auto const& [high, low] = turns.rest;
    V const one = constant<V>(1.0), half = constant<V>(0.5), z = product(high, high), half_z = product(z, half);
    constexpr TaylorSeries taylor;
    V const sines = polynomial(z, taylor.sine), cosines = polynomial(z, taylor.cosine);
    V const sine = high + (product(product(high, z), sines) + (low - product(low, half_z)));
    V const most = one - half_z, rest = product(product(z, z), cosines) - product(high, low);
    V const of_cosine = most + (((one - most) - half_z) + rest);
    // The quarter turns are 0, 1, 2 or 3, or less by 4.
    V const n = turns.count + constant<V>(cosine ? 1.0 : 0.0);
    V const four = constant<V>(4.0), quarter = n - product(nearest_integer(product(n, constant<V>(0.25))), four);
    V const size = product(quarter, quarter);
    V const y = choose(size == one, of_cosine, sine);
    auto const negative = product(quarter, quarter - half) > constant<V>(1.0);  // -1, 2 and -2
    V const turned = choose(negative, product(y, constant<V>(-1.0)), y);
    constexpr auto nan = bit_cast<double>(std::uint64_t{0x7FF8} << 48);
    auto const finite = product(x, constant<V>(0.0)) == constant<V>(0.0);
    V const result = choose(finite, turned, constant<V>(nan));
    if constexpr (cosine) {
        return result;
    } else {  // also -0
        return choose(product(x, x) < constant<V>(0x1p-60), x, result);
    }
}

/// sin(x), or cos(x), within 1 unit in the last place for all x; NaN for infinities. Those of floats are computed in
/// double. Other types use std::sin or a `sin` that ADL finds.
ROWAN_NO_EXEC_CHECK
template <bool cosine, class V>
ROWAN_HD_INLINE V sine(V const& x) {
    using S = typename lane_of<V>::type;
    if constexpr (std::is_same_v<S, double>) {
        return sine_of_double<cosine>(x);
    } else if constexpr (std::is_same_v<V, float>) {
        return static_cast<float>(sine_of_double<cosine>(static_cast<double>(x)));
    } else if constexpr (is_register<V>) {
        using Wide = typename V::template of<double>;
        float lanes[V::size];
        x.store(lanes);
        store(sine_of_double<cosine>(load<Wide>(lanes)), lanes);
        store(sine_of_double<cosine>(load<Wide>(lanes + Wide::size)), lanes + Wide::size);
        return V::load(lanes);
    } else if constexpr (cosine) {
        return cos_of(x);
    } else {
        return sin_of(x);
    }
}

}  // namespace rowan::inline v0::detail
