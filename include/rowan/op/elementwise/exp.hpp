// rowan/op/elementwise/exp.hpp: exp and log, element-wise.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/exponential.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/formulas.hpp>

#include <string_view>

namespace rowan::inline v0 {

namespace detail {

struct exp_formula {
    ROWAN_FORMULA static V value(V const& x) { return exponential_of_any(x); }
    ROWAN_FORMULA static V gradient_of_out(V const& y, V const& g) { return product(g, y); }
};

struct log_formula {
    ROWAN_FORMULA static V value(V const& x) { return logarithm(x); }
    ROWAN_FORMULA static V gradient_of_x(V const& x, V const& g) { return quotient(g, x); }
};

}  // namespace detail

ROWAN_ELEMENTWISE_OP(exp)
ROWAN_ELEMENTWISE_OP(log)

}  // namespace rowan::inline v0
