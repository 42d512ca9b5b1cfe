// rowan/op/elementwise/sin.hpp: sin and cos, element-wise.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/op/detail/sine.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>

#include <string_view>

namespace rowan::inline v0 {

namespace detail {

struct sin_formula {
    ROWAN_FORMULA static V value(V const& x) { return sine<false>(x); }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g) { return product(g, sine<true>(x)); }
};

struct cos_formula {
    ROWAN_FORMULA static V value(V const& x) { return sine<true>(x); }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g) {
        return product(product(g, constant<V>(-1.0)), sine<false>(x));
    }
};

}  // namespace detail

ROWAN_ELEMENTWISE_OP(sin)
ROWAN_ELEMENTWISE_OP(cos)

}  // namespace rowan::inline v0
