// rowan/op/elementwise/rounding.hpp: floor, ceil, round, sign and abs, element-wise.
#pragma once

#include <rowan/detail/exponential.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// The integer nearest to x, of two the even one, for float and double. A zero has the sign of x.
ROWAN_FORMULA V rounded_to_even(V const& x) {
    // Adding and subtracting a number rounds, as it has no bits for fractions. Numbers beyond it have none.
    using S = typename lane_of<V>::type;
    constexpr double no_fractions = std::is_same_v<S, float> ? 0x1p23 : 0x1p52;
    V const round = constant<V>(no_fractions), zero = constant<V>(0.0);
    V const size = larger(V(zero - x), x), whole = rounded(size + round) - round;
    V const y = choose(x < zero, V(zero - whole), whole);
    return choose(size < round, choose(whole == zero, product(x, zero), y), x);
}

/// Base of the functions of integer values, whose gradient is 0.
struct step_formula {
    ROWAN_FORMULA static V gradient_of_out(V const&, V const&) { return constant<V>(0.0); }
};

struct abs_formula {
    ROWAN_FORMULA static V value(V const& x) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, x, plus(zero, product(x, constant<V>(-1.0))));
    }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, g, choose(x < zero, product(g, constant<V>(-1.0)), zero));
    }
};

struct sign_formula : step_formula {
    ROWAN_FORMULA static V value(V const& x) {
        V const zero = constant<V>(0.0);
        return choose(x > zero, constant<V>(1.0), choose(x < zero, constant<V>(-1.0), plus(x, zero)));
    }
};

struct floor_formula : step_formula {
    ROWAN_FORMULA static V value(V const& x) {
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

struct ceil_formula : step_formula {
    ROWAN_FORMULA static V value(V const& x) {
        V const minus_one = constant<V>(-1.0);
        return product(floor_formula::value(product(x, minus_one)), minus_one);
    }
};

struct round_formula : step_formula {
    ROWAN_FORMULA static V value(V const& x) {
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

}  // namespace detail

ROWAN_ELEMENTWISE_OP(abs)
ROWAN_ELEMENTWISE_OP(sign)

ROWAN_ELEMENTWISE_OP(floor)
ROWAN_ELEMENTWISE_OP(ceil)

ROWAN_ELEMENTWISE_OP(round)

}  // namespace rowan::inline v0
