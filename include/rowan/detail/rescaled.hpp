// rowan/detail/rescaled.hpp: sums, means and norms that are right for all finite numbers: plain ones first, and once more
// with numbers times a power of two where these overflow or vanish, so that usual ones keep their bits.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/logarithm.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Whether x is neither infinite nor NaN.
template <class S>
ROWAN_HD_INLINE bool is_finite(S const& x) {
    return x - x == 0;
}

// Constants, as device code must not call functions of the host.
template <class S>
inline constexpr S least_normal = std::numeric_limits<S>::min();
template <class S>
inline constexpr S next_to_one = std::numeric_limits<S>::epsilon();
template <class S>
inline constexpr S infinity_of = std::numeric_limits<S>::infinity();
template <class S>
inline constexpr S greatest_normal = std::numeric_limits<S>::max();

/// Whether x is finite, and not less than the smallest normal number.
template <class S>
ROWAN_HD_INLINE bool is_normal(S const& x) {
    constexpr S least = least_normal<S>;
    return is_finite(x) && (x >= least || x <= -least);
}

/// Whether the squared norm of a row is far from overflow and from underflow, so that no product of its elements with
/// those of another such row needs to be scaled. False for NaN.
template <class S>
ROWAN_HD_INLINE bool is_middling(S const& square) {
    constexpr S most = std::is_same_v<S, float> ? S(0x1p60) : S(0x1p500), least = 1 / most;
    return square >= least && square <= most;
}

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

/// The greatest |x(i)| for i in [begin, end); NaN does not count.
ROWAN_NO_EXEC_CHECK
template <class S, class At>
ROWAN_HD S greatest_of(std::size_t begin, std::size_t end, At const& x) {
    S most = 0;
    for (; begin < end; ++begin) {
        S const a = x(begin), size = a < 0 ? -a : a;
        if (size > most) most = size;
    }
    return most;
}
template <class S, class T>
ROWAN_HD S greatest_size(std::size_t n, T const* x) {
    return greatest_of<S>(0, n, [x](std::size_t i) { return load<S>(x + i); });
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

/// The sums below are formed again by functions that the caller passes: only where the plain ones are not right. In the
/// mean again, numbers are multiplied by mean_factor, and those that are squared by its root.
template <class S>
inline constexpr S mean_factor = S(0x1p-64);
template <class S>
inline constexpr S mean_factor_root = S(0x1p-32);

/// x² times mean_factor
struct small_square {
    ROWAN_FORMULA V operator()(V const& x) const {
        V const y = product(x, constant<V>(mean_factor_root<double>));
        return product(y, y);
    }
};

/// total / n, where the total is that of numbers whose sum times mean_factor is again(): for a mean that fits, although
/// the sum does not.
ROWAN_NO_EXEC_CHECK
template <class S, class Again>
ROWAN_HD_INLINE S mean_of_sum(S const& total, double n, [[maybe_unused]] Again const& again) {
    if constexpr (is_machine_float<S>) {
        if (!is_finite(total)) return product(quotient(S(again()), constant<S>(n)), S(1 / mean_factor<S>));
    }
    return quotient(total, constant<S>(n));
}

/// The least sum of squares of which none that counts has vanished.
template <class S>
inline constexpr S least_squares = std::is_same_v<S, float> ? S(0x1p-100) : S(0x1p-900);

/// Whether a sum of squares has neither overflown nor vanished, also in part.
template <class S>
ROWAN_HD_INLINE bool has_squares(S const& sum) {
    return sum >= least_squares<S> && sum <= greatest_normal<S>;
}

/// √sum of squares of numbers, of which greatest() is the greatest size, and again(f) the sum of (f · x)².
ROWAN_NO_EXEC_CHECK
template <class S, class Greatest, class Again>
ROWAN_HD_INLINE S root_of_squares(S const& sum, [[maybe_unused]] Greatest const& greatest,
                                  [[maybe_unused]] Again const& again) {
    if constexpr (is_machine_float<S>) {
        if (!has_squares(sum)) {
            S const f = unit_factor(S(greatest()));
            return quotient(square_root(S(again(f))), f);
        }
    }
    return square_root(sum);
}

/// The divisor of a weighted sum of rows: the sum of the weights for the mean, else the root of the sum of their squares.
/// `sum` is that sum.
ROWAN_NO_EXEC_CHECK
template <class S, class Weight>
ROWAN_HD_INLINE S divisor_of(bool mean, S const& sum, [[maybe_unused]] std::size_t begin,
                             [[maybe_unused]] std::size_t end, [[maybe_unused]] Weight const& weight) {
    if (mean) return sum;
    if constexpr (is_machine_float<S>) {
        auto const squares = [&](S const& f) {
            S all = constant<S>(0.0);
            for (std::size_t i = begin; i < end; ++i) all = plus(all, squared{}(product(weight(i), f)));
            return all;
        };
        return root_of_squares(
            sum, [&] { return greatest_of<S>(begin, end, weight); }, squares);
    } else {
        return square_root(sum);
    }
}

/// total / d, or, where they overflow, or small weights make the total vanish, the same of numbers that are scaled to
/// about 1: their sum in the order of the ids.
ROWAN_NO_EXEC_CHECK
template <class S, class Weight, class Element>
ROWAN_HD_INLINE S share_of(S const& total, S const& d, [[maybe_unused]] bool mean, [[maybe_unused]] std::size_t begin,
                           [[maybe_unused]] std::size_t end, [[maybe_unused]] Weight const& weight,
                           [[maybe_unused]] Element const& x) {
    if constexpr (is_machine_float<S>) {
        constexpr S small = least_squares<S> / next_to_one<S>;
        if (!is_finite(total) || !is_finite(d) || ((!is_normal(total) || !is_normal(d)) && d < small && d > -small)) {
            S const f = unit_factor(greatest_of<S>(begin, end, weight)), g = unit_factor(greatest_of<S>(begin, end, x));
            double sum = 0, weights = 0;
            for (std::size_t i = begin; i < end; ++i) {
                S const w = product(weight(i), f);
                sum += static_cast<double>(product(w, product(x(i), g)));
                weights += static_cast<double>(mean ? w : squared{}(w));
            }
            return quotient(static_cast<S>(quotient(sum, mean ? weights : square_root(weights))), g);
        }
    }
    return quotient(total, d);
}

}  // namespace rowan::inline v0::detail
