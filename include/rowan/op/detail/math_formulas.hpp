// rowan/op/detail/math_formulas.hpp: the formulas of exp, log, sqrt, rsqrt, square, abs and pow, with their gradients.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/op/detail/logarithm.hpp>
#include <rowan/op/fields.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace rowan::inline v0 {

/// The settings of pow.
struct PowOptions {
    double exponent = 1;  ///< any finite number

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"exponent", &PowOptions::exponent});
    }
};

namespace detail {

/// exp(x)
struct exp_formula {
    static constexpr std::string_view name = "exp";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return exponential_of_any(x);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g) {
        return product(g, y);
    }
};

/// log(x)
struct log_formula {
    static constexpr std::string_view name = "log";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return logarithm(x);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g) {
        return quotient(g, x);
    }
};

/// sqrt(x)
struct sqrt_formula {
    static constexpr std::string_view name = "sqrt";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return square_root(x);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g) {
        return quotient(g, V(y + y));
    }
};

/// 1 / sqrt(x)
struct rsqrt_formula {
    static constexpr std::string_view name = "rsqrt";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return quotient(constant<V>(1.0), square_root(x));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const& y, V const& g) {
        return product(product(g, constant<V>(-0.5)), product(y, product(y, y)));
    }
};

/// x²
struct square_formula {
    static constexpr std::string_view name = "square";
    static constexpr bool integers = true;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return product(x, x);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g) {
        return product(g, plus(x, x));
    }
};

/// |x|
struct abs_formula {
    static constexpr std::string_view name = "abs";
    static constexpr bool integers = true;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, x, plus(zero, product(x, constant<V>(-1.0))));
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, g, choose(x < zero, product(g, constant<V>(-1.0)), zero));
    }
};

/// x^exponent: by products if the exponent is an integer in [-64, 64], else exp(exponent · log |x|).
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V power(V const& x, double exponent) {
    V const zero = constant<V>(0.0), one = constant<V>(1.0);
    double const size = exponent < 0 ? -exponent : exponent;
    if (size <= 64 && static_cast<double>(static_cast<unsigned>(size)) == size) {
        V result = one, factor = x;
        for (auto n = static_cast<unsigned>(size); n != 0; n /= 2) {
            if (n % 2 != 0) result = product(result, factor);
            if (n != 1) factor = product(factor, factor);
        }
        return exponent < 0 ? quotient(one, result) : result;
    }
    constexpr double two_53 = 9007199254740992.0, nan = std::numeric_limits<double>::quiet_NaN();
    double const enough = size < 1e37 ? size : 1e37;  // a float holds it, and the result is 0, 1 or infinite
    V const scaled =
        product(constant<V>(exponent < 0 ? -enough : enough), logarithm(V(choose(x < zero, V(zero - x), x))));
    V const y = exponential_of_any(scaled);
    auto const whole = static_cast<std::int64_t>(size < two_53 ? size : two_53);
    if (size < two_53 && static_cast<double>(whole) != size) return choose(x < zero, constant<V>(nan), y);
    if (whole % 2 == 0) return y;
    V const minus_y = product(y, constant<V>(-1.0));
    return choose(x < zero, minus_y, choose(quotient(one, x) < zero, minus_y, y));  // 1 / -0 < 0
}

/// x to the power of an exponent
struct pow_formula {
    static constexpr std::string_view name = "pow";
    using options = PowOptions;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, PowOptions const& o) {
        return power(x, o.exponent);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, PowOptions const& o) {
        if (o.exponent == 0) return constant<V>(0.0);
        return product(g, product(constant<V>(o.exponent), power(x, o.exponent - 1)));
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
