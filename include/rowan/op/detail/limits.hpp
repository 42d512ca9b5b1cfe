// rowan/op/detail/limits.hpp: products and slopes that are right where x is infinite, for functions of elements.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/detail/extremes.hpp>

namespace rowan::inline v0::detail {

/// factor · x, and 0 for factor = 0 and infinite x.
ROWAN_FORMULA V times(V const& x, double factor) {
    return product(factor == 0 ? limited(x, -1.0, 1.0) : x, constant<V>(factor));
}

/// `inside` where least < y < most, else 0; NaN for y = NaN.
ROWAN_FORMULA V where_between(V const& y, double least, double most, V const& inside) {
    V const zero = constant<V>(0.0), low = constant<V>(least);
    return choose(y > low, choose(y < constant<V>(most), inside, zero), choose(not_above(y, low), zero, y));
}

}  // namespace rowan::inline v0::detail
