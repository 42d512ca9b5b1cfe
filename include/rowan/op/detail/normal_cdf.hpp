// rowan/op/detail/normal_cdf.hpp: the standard normal distribution, with the same bits for SIMD registers and scalars.
#pragma once

#include <rowan/detail/exponential.hpp>

#include <cstddef>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Q in erfc(z) = exp(-z²) · t · Q(2 t - 1), t = 3 / (3 + z): Chebyshev's interpolation on [-1, 1], with an error of
/// 9e-9 for float and 8e-17 for double.
ROWAN_FORMULA V erfc_factor(V const& u) {
    if constexpr (std::is_same_v<typename lane_of<V>::type, float>) {
        constexpr double c[] = {2.346841841330497e-05,  7.026003744000487e-05,   -0.00017143787261865554,
                                -0.0009910108810197737, -0.00040889622317374387, 0.008933822156863641,
                                0.039843419387507226,   0.1034905945849929,      0.1967427444182752,
                                0.2944646428681603,     0.3580023023627799};
        return polynomial(u, c);
    } else {
        constexpr double c[] = {
            -1.1365971769947809e-11, 1.3405666455077527e-09, -1.1137746412760201e-09, -1.3159668631609655e-08,
            1.647213179132514e-08,   7.23798791311114e-08,   -1.3698477467135753e-07, -3.2794192935327655e-07,
            9.223786145720273e-07,   1.5800864969572258e-06, -5.82374722681329e-06,   -1.013156283309012e-05,
            3.5853885449595844e-05,  9.225899512771738e-05,  -0.00018276990598902794, -0.0010113539570887728,
            -0.0004041388749870603,  0.00894241153786806,    0.03984258709573409,     0.10348908730032906,
            0.1967427857013676,      0.29446481772329297,    0.3580023023627799};
        return polynomial(u, c);
    }
}

/// exp(-x²/2), with the rounding error of x² taken into account.
ROWAN_FORMULA V bell(V const& x) {
    V const y = limited(x, -64.0, 64.0), high = upper_half(y);
    V const rest = product(V(y - high), product(V(y + high), constant<V>(-0.5)));
    V const one = constant<V>(1.0);
    V const correction =
        one + product(rest, V(one + product(rest, V(constant<V>(0.5) + product(rest, constant<V>(1.0 / 6))))));
    return product(exponential_of_any(product(product(high, high), constant<V>(-0.5))), correction);
}

/// The density exp(-x²/2) / sqrt(2 π) and the distribution Φ(x) = erfc(-x / sqrt(2)) / 2, which is accurate for
/// negative x, too.
template <class V>
struct Normal {
    V density, distribution;
};
ROWAN_FORMULA Normal<V> standard_normal(V const& x) {
    V const zero = constant<V>(0.0), one = constant<V>(1.0), three = constant<V>(3.0), e = bell(x);
    V const z = product(choose(x < zero, V(zero - x), x), constant<V>(0.70710678118654752440));
    V const t = quotient(three, V(three + z)), q = erfc_factor(V(product(t, constant<V>(2.0)) - one));
    V const tail = product(product(e, constant<V>(0.5)), product(t, q));
    return {product(e, constant<V>(0.39894228040143267794)), choose(x < zero, tail, V(one - tail))};
}

}  // namespace rowan::inline v0::detail
