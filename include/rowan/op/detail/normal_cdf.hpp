// rowan/op/detail/normal_cdf.hpp: the tail of the standard normal distribution, with the same bits for SIMD registers and
// scalars.
#pragma once

#include <rowan/core/detail/bit_cast.hpp>
#include <rowan/detail/exponential.hpp>

#include <cstdint>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Q in erfc(z) = exp(-z²) · t · Q(2 t - 1), t = 3 / (3 + z): Chebyshev's interpolation on [-1, 1], with an error of
/// 8e-17.
ROWAN_FORMULA V erfc_factor(V const& u) {
    constexpr double c[] = {
        -1.1365971969747809e-11, 1.3405666455077527e-09, -1.1137746412760201e-09, -1.3159668631609655e-08,
        1.647213179132514e-08,   7.23798791311114e-08,   -1.3698477467135753e-07, -3.2794192935327655e-07,
        9.223786145720273e-07,   1.5800864969572258e-06, -5.82374722681329e-06,   -1.013156283309012e-05,
        3.5853885449595844e-05,  9.225899512771738e-05,  -0.00018276990598902794, -0.0010113539570887728,
        -0.0004041388749870603,  0.00894241153786806,    0.03984258709573409,     0.10348908730032906,
        0.1967427857013676,      0.29446481772329297,    0.3580023023627799};
    return polynomial(u, c);
}

/// exp(-a²/2) for |a| <= 64, with the rounding error of a² taken into account.
ROWAN_FORMULA V bell(V const& a) {
    V const high = upper_half(a), one = constant<V>(1.0);
    V const rest = product(V(a - high), product(V(a + high), constant<V>(-0.5)));
    V const correction =
        one + product(rest, V(one + product(rest, V(constant<V>(0.5) + product(rest, constant<V>(1.0 / 6))))));
    return product(exponential_of_any(product(product(high, high), constant<V>(-0.5))), correction);
}

/// f of the bits of x, a register of floats or a float, as such a number again.
ROWAN_NO_EXEC_CHECK
template <class V, class F>
ROWAN_HD_INLINE V of_bits(V const& x, F const& f) {
    if constexpr (is_register<V>) {
        return detail::bit_cast<V>(f(detail::bit_cast<typename V::template of<std::uint32_t>>(x)));
    } else {
        return detail::bit_cast<V>(f(detail::bit_cast<std::uint32_t>(x)));
    }
}

/// For a = |x|: a · Φ(-a), and Φ(-a) - a · φ(a), the slope of y · Φ(y) at y = -a, where φ is the density of the standard
/// normal distribution and Φ its distribution function. Both have an accurate tail.
template <class V>
struct NormalTail {
    V value, slope;
};
ROWAN_FORMULA NormalTail<V> normal_tail(V const& x) {
    if constexpr (std::is_same_v<typename lane_of<V>::type, float>) {
        auto const masked = [](V const& y, std::uint32_t mask) ROWAN_INLINED {
            return of_bits(y, [mask]<class B>(B const& bits) ROWAN_INLINED { return B(bits & B(mask)); });
        };
        // Both results are 0 from 14.6 on. a² - high² is accurate, as exp needs it.
        V const a = smaller(constant<V>(14.75), masked(x, 0x7FFFFFFF)), high = masked(a, 0xFFFFF000);
        V const square = product(high, high);  // exact
        // a² = r - n · 2 log(2). The low bits of `shifted` are n + 159: 32 more than for 2^n, which may be subnormal.
        V const shift = constant<V>(0x1.8p23 + 159);
        V const shifted = rounded(shift - product(square, constant<V>(0.72134752044448170368))), n = shifted - shift;
        V const r = (square + product(n, constant<V>(2 * exp_traits<float>::log2_high))) +
                    (product(V(a - high), V(a + high)) + product(n, constant<V>(2 * exp_traits<float>::log2_low)));
        V const power = of_bits(shifted, []<class B>(B const& bits) ROWAN_INLINED { return B(bits << 23); });
        // 2^-32 exp(-r/2) / sqrt(2 π), with an error of 1e-7
        constexpr double even[] = {0x1.120762p-42, 0x1.9881d8p-37, 0x1.988456p-34},
                         odd[] = {-0x1.ad660ep-46, -0x1.1060e0p-39, -0x1.988444p-35};
        V const r2 = product(r, r), density = polynomial(r2, even) + product(r, polynomial(r2, odd));
        // Φ(-a) / φ(a) = p / (a · p + q), with an error of 6e-8
        constexpr double c[] = {0x1.ff8846p-1, 0x1.1dfd3ap3, 0x1.16083cp5, 0x1.18512ap6};
        V const p = product(V(product(a, V(a + constant<V>(0x1.a79f8cp1))) + constant<V>(0x1.2d77a0p3)),
                            V(product(a, V(a + constant<V>(0x1.660948p2))) + constant<V>(0x1.2a56a4p3)));
        V const of_value = product(a, p), divisor = of_value + polynomial(a, c);
        auto const tail = [&](V const& of)
                              ROWAN_INLINED { return product(density, product(quotient(of, divisor), power)); };
        return {tail(of_value), tail(V(p - product(a, divisor)))};
    } else {
        V const zero = constant<V>(0.0), one = constant<V>(1.0), three = constant<V>(3.0);
        V const a = smaller(constant<V>(64.0), larger(x, V(zero - x))), e = bell(a);
        V const t = quotient(three, V(three + product(a, constant<V>(0.70710678118654752440))));
        V const q = erfc_factor(V(product(t, constant<V>(2.0)) - one));
        V const tail = product(product(e, constant<V>(0.5)), product(t, q));
        return {product(a, tail), tail - product(a, product(e, constant<V>(0.39894228040143267794)))};
    }
}

}  // namespace rowan::inline v0::detail
