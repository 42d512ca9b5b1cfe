// rowan/op/detail/math_formulas.hpp: the formulas of the functions of op/math.hpp, with their gradients.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/op/detail/power.hpp>
#include <rowan/op/detail/sine.hpp>
#include <rowan/op/fields.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

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

/// The integer nearest to x, of two the even one, for float and double. A zero has the sign of x.
ROWAN_NO_EXEC_CHECK
template <class V>
ROWAN_HD_INLINE V rounded_to_even(V const& x) {
    // Adding and subtracting a number rounds, as it has no bits for fractions. Numbers beyond it have none.
    using S = typename lane_of<V>::type;
    constexpr double no_fractions = std::is_same_v<S, float> ? 0x1p23 : 0x1p52;
    V const round = constant<V>(no_fractions), zero = constant<V>(0.0);
    V const size = choose(x < zero, V(zero - x), x), whole = rounded(size + round) - round;
    V const y = choose(x < zero, V(zero - whole), whole);
    return choose(size < round, choose(whole == zero, product(x, zero), y), x);
}

/// exp(x)
struct exp_formula {
    static constexpr std::string_view name = "exp";
    static constexpr std::string_view brief = "exp(x).";

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
    static constexpr std::string_view brief = "The natural logarithm.";

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
    static constexpr std::string_view brief = "The square root.";

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
    static constexpr std::string_view brief = "1 / √x.";

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
    static constexpr std::string_view brief = "x · x.";
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
    static constexpr std::string_view brief = "|x|.";
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

/// sin(x)
struct sin_formula {
    static constexpr std::string_view name = "sin";
    static constexpr std::string_view brief = "The sine.";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return sine<false>(x);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g) {
        return product(g, sine<true>(x));
    }
};

/// cos(x)
struct cos_formula {
    static constexpr std::string_view name = "cos";
    static constexpr std::string_view brief = "The cosine.";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        return sine<true>(x);
    }
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_x(V const& x, V const& g) {
        return product(product(g, constant<V>(-1.0)), sine<false>(x));
    }
};

/// Base of the functions of integer values, whose gradient is 0.
struct step_formula {
    static constexpr bool integers = true;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V gradient_of_out(V const&, V const&) {
        return constant<V>(0.0);
    }
};

/// The sign of x
struct sign_formula : step_formula {
    static constexpr std::string_view name = "sign";
    static constexpr std::string_view brief = "-1, 0 or 1, the sign of x.";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, constant<V>(1.0), choose(x < zero, constant<V>(-1.0), plus(x, zero)));
    }
};

/// The greatest integer not above x
struct floor_formula : step_formula {
    static constexpr std::string_view name = "floor";
    static constexpr std::string_view brief = "The greatest integer not above x.";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        if constexpr (std::integral<V>) {
            return x;
        } else if constexpr (is_machine_float<typename lane_of<V>::type>) {
            V const nearest = rounded_to_even(x);
            V const below = choose(nearest > x, V(nearest - constant<V>(1.0)), nearest);
            return choose(below == constant<V>(0.0), product(x, constant<V>(0.0)), below);
        } else {
            return floor_of(x);
        }
    }
};

/// The smallest integer not below x
struct ceil_formula : step_formula {
    static constexpr std::string_view name = "ceil";
    static constexpr std::string_view brief = "The smallest integer not below x.";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        V const minus_one = constant<V>(-1.0);
        return product(floor_formula::value(product(x, minus_one)), minus_one);
    }
};

/// The integer nearest to x, of two the even one
struct round_formula : step_formula {
    static constexpr std::string_view name = "round";
    static constexpr std::string_view brief = "The nearest integer, of two the even one.";

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE static V value(V const& x) {
        if constexpr (std::integral<V>) {
            return x;
        } else if constexpr (is_machine_float<typename lane_of<V>::type>) {
            return rounded_to_even(x);
        } else {
            V const half = constant<V>(0.5), below = floor_of(x), rest = x - below, of_half = product(below, half);
            bool const up = rest > half || (!(rest < half) && floor_of(of_half) < of_half);
            return up ? below + constant<V>(1.0) : below;
        }
    }
};

/// x to the power of an exponent
struct pow_formula {
    static constexpr std::string_view name = "pow";
    static constexpr std::string_view brief = "x to the power of an exponent.";
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
