// rowan/detail/extremes.hpp: more_extreme and folds with it, for maxima and minima: the first one, or the first NaN.
#pragma once

#include <rowan/detail/arithmetic.hpp>

#include <concepts>
#include <limits>

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

/// to = the more extreme one of both; if `from` is NaN, to
template <bool greatest>
struct keep_extreme_number {
    static constexpr double start =
        greatest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    ROWAN_FORMULA void operator()(V const& from, V& to) const {
        to = choose(more_extreme<greatest>::beyond(from, to), from, to);
    }
};

/// to = the more extreme one of both; the first one of equal ones, the first NaN
template <bool greatest>
struct keep_extreme {
    using in_any_order = keep_extreme_number<greatest>;
    ROWAN_FORMULA void operator()(V const& from, V& to) const {
        to = choose(more_extreme<greatest>{}(from, to), from, to);
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
