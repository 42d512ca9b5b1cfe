// rowan/detail/extremes.hpp: more_extreme, which finds maxima and minima: the first one, or the first NaN.
#pragma once

#include <rowan/detail/arithmetic.hpp>

#include <concepts>

namespace rowan::inline v0::detail {

/// True if x is neither less nor greater than y: equal or unordered.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD bool beside(V const& x, V const& y) {
    return !(x < y) && !(x > y);
}

/// True if x is NaN: neither less nor greater than two different numbers.
template <class V>
ROWAN_HD bool unordered(V const& x) {
    return beside(x, constant<V>(0)) && beside(x, constant<V>(1));
}

/// True if x replaces `best`, the extremum of all elements before it: it is more extreme, or the first NaN. Ties keep
/// `best`.
template <bool greatest>
struct more_extreme {
    ROWAN_FORMULA static auto beyond(V const& x, V const& best) {
        if constexpr (greatest) {
            return x > best;
        } else {
            return x < best;
        }
    }

    ROWAN_FORMULA auto operator()(V const& x, V const& best) const {
        if constexpr (std::integral<V>) {
            return beyond(x, best);
        } else if constexpr (is_register<V>) {
            return beyond(x, best) | ((x != x) & (best == best));
        } else if constexpr (std::floating_point<V>) {
            return beyond(x, best) || (x != x && best == best);
        } else {
            return beyond(x, best) || (unordered(x) && !unordered(best));
        }
    }
};

/// True if x is y or less; false if one of them is NaN.
ROWAN_FORMULA auto not_above(V const& x, V const& y) {
    if constexpr (std::integral<V> || std::floating_point<V> || is_register<V>) {
        return x <= y;
    } else {
        return !(x > y) && !unordered(x) && !unordered(y);
    }
}

/// True if x equals y, or both are NaN.
ROWAN_FORMULA auto same_or_nan(V const& x, V const& y) {
    if constexpr (std::integral<V>) {
        return x == y;
    } else if constexpr (is_register<V>) {
        return (x == y) | ((x != x) & (y != y));
    } else if constexpr (std::floating_point<V>) {
        return x == y || (x != x && y != y);
    } else {
        return beside(x, y) && unordered(x) == unordered(y);
    }
}

}  // namespace rowan::inline v0::detail
