// rowan/op/detail/math_formulas.hpp: the formulas of exp, log, sqrt, rsqrt, square, abs and pow, with their gradients.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/op/detail/power.hpp>
#include <rowan/op/fields.hpp>

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

/// x to the power of an exponent
struct pow_formula {
    static constexpr std::string_view name = "pow";
    using options = PowOptions;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x, PowOptions const& o) {
        if (is_product<V>(o.exponent, -2, 4)) return power_by_products(x, static_cast<int>(o.exponent));
        return power(x, exact_exponent(o.exponent), 1.0);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g, PowOptions const& o) {
        if (o.exponent == 0) return constant<V>(0.0);
        if (is_product<V>(o.exponent, -2, 5))
            return product(g, product(constant<V>(o.exponent), power_by_products(x, static_cast<int>(o.exponent) - 1)));
        return product(g, power(x, one_less(exact_exponent(o.exponent)), o.exponent));
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
