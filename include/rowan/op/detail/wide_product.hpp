// rowan/op/detail/wide_product.hpp: products of many numbers and their gradients, right also where a product of some
// of the numbers overflows or vanishes.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/op/detail/axis_sums.hpp>
#include <rowan/op/operator.hpp>

#include <limits>

namespace rowan::inline v0::detail {

/// to *= from
struct multiply_lanes {
    static constexpr double start = 1.0;
    ROWAN_FORMULA void operator()(V const& from, V& to) const { to = product(to, from); }
};

/// x, or `other` where x is zero
struct UnlessZero {
    double other;
    ROWAN_FORMULA V operator()(V const& x) const {
        return choose(same_or_nan(x, constant<V>(0.0)), constant<V>(other), x);
    }
};

/// 1 where x is zero, else 0
struct IsZero {
    ROWAN_FORMULA V operator()(V const& x) const {
        return choose(same_or_nan(x, constant<V>(0.0)), constant<V>(1.0), constant<V>(0.0));
    }
};

/// x where `count` is `wanted`, else 0
struct WhereCount {
    double wanted;
    ROWAN_FORMULA V operator()(V const& x, V const& count) const {
        return choose(same_or_nan(count, constant<V>(wanted)), x, constant<V>(0.0));
    }
};

/// The gradient of a product: `all` / x, or `others` where x is zero.
struct ShareOfProduct {
    ROWAN_FORMULA V operator()(V const& x, V const& all, V const& others) const {
        return choose(same_or_nan(x, constant<V>(0.0)), others, quotient(all, UnlessZero{1}(x)));
    }
};

/// A product of finite numbers other than 0: mantissa · 2^power. Infinity or NaN remains in the mantissa.
template <class S>
struct WideProduct {
    S mantissa = 1;
    std::int64_t power = 0;

    ROWAN_HD void multiply(S const& x) { put(product(mantissa, take(x))); }
    ROWAN_HD void multiply(WideProduct const& x) {
        power += x.power;
        put(product(mantissa, x.mantissa));
    }
    ROWAN_HD void divide(S const& x) {
        power = -power;
        S const divisor = take(x);
        power = -power;
        put(quotient(mantissa, divisor));
    }

    /// Adds a finite number.
    ROWAN_HD void add(S const& x) {
        WideProduct term;
        term.multiply(x);
        if (mantissa == 0) {
            *this = term;
        } else if (term.mantissa != 0) {
            constexpr std::int64_t beyond = 2 * std::numeric_limits<S>::digits;  // of the last bit
            std::int64_t const up = term.power - power;
            if (up > beyond) *this = term;
            if (up < -beyond || up > beyond) return;
            put(plus(mantissa, product(term.mantissa, power_of_two(static_cast<S>(up)))));
        }
    }

    ROWAN_HD S value() const {
        constexpr std::int64_t most = std::numeric_limits<S>::max_exponent - 2;  // 2^±most are normal numbers
        std::int64_t const p = power > 2 * most ? 2 * most : power < -2 * most ? -2 * most : power;
        std::int64_t const last = p > most ? most : p < -most ? -most : 0;
        return product(product(mantissa, power_of_two(static_cast<S>(p - last))), power_of_two(static_cast<S>(last)));
    }

private:
    // Adds the power of x to that of the product, and returns the rest.
    ROWAN_HD S take(S x) {
        using limits = std::numeric_limits<S>;
        if (x == 0 || !is_finite(x)) return x;
        S const size = x < 0 ? -x : x;
        constexpr S least = least_normal<S>, up = 1 / next_to_one<S>;
        bool const small = size < least;
        S k, rest;
        split_power(small ? product(size, up) : size, k, rest);
        power += static_cast<std::int64_t>(k) - (small ? limits::digits - 1 : 0);
        return x < 0 ? -rest : rest;
    }
    ROWAN_HD void put(S const& x) { mantissa = take(x); }
};

/// Multiplies the contributions to a result again, in order, if it is not a normal number, and 0 without a reason.
template <class S, class T>
struct MultiplyAgain {
    AxisReduction r;
    T const* x;
    S* products;

    ROWAN_HD void operator()(std::size_t k) const {
        if (!is_normal(products[k])) multiply(k);
    }

private:
    ROWAN_HD void multiply(std::size_t k) const {
        T const* const from = x + r.first_of(k);
        if (products[k] == 0) {
            for (std::size_t i = 0; i < r.n; ++i) {
                if (load<S>(from + r.summed(i)) == 0) return;
            }
        }
        WideProduct<S> all;
        for (std::size_t i = 0; i < r.n; ++i) all.multiply(load<S>(from + r.summed(i)));
        products[k] = all.value();
    }
};

/// Writes the gradients of the contributions to a product again, if that of those that are not 0, or its product with the
/// gradient, is not a normal number: the product of the others and the gradient, also if some are 0 or infinite.
template <class S, class T>
struct ProductGradsAgain {
    AxisReduction r;
    T const *x, *out_grad;
    S const *nonzero, *scaled;  // the product, and that with the gradient
    T* to;

    ROWAN_HD void operator()(std::size_t k) const {
        S const g = load<S>(out_grad + k);
        if (!is_normal(nonzero[k]) || !(is_normal(scaled[k]) || g == 0)) write(k, g);
    }

private:
    ROWAN_HD void write(std::size_t k, S const& g) const {
        std::size_t const first = r.first_of(k);
        WideProduct<S> all;
        constexpr S infinity = infinity_of<S>;
        std::size_t zeros = 0, infinite = 0;
        all.multiply(g);
        for (std::size_t i = 0; i < r.n; ++i) {
            S const a = load<S>(x + first + r.summed(i));
            if (a == 0)
                ++zeros;
            else if (is_infinite(a))
                ++infinite, all.multiply(a < 0 ? S(-1) : S(1));
            else
                all.multiply(a);
        }
        for (std::size_t i = 0; i < r.n; ++i) {
            std::size_t const at = first + r.summed(i);
            S const a = load<S>(x + at);
            WideProduct<S> others = all;
            if (is_infinite(a))
                others.multiply(a < 0 ? S(-1) : S(1));
            else if (a != 0)
                others.divide(a);
            if (infinite > (is_infinite(a) ? 1U : 0U)) others.multiply(infinity);
            if (zeros > (a == 0 ? 1U : 0U)) others.multiply(S(0));
            store(others.value(), to + at);
        }
    }

    ROWAN_HD static bool is_infinite(S const& a) { return !is_finite(a) && a == a; }
};

}  // namespace rowan::inline v0::detail
