// rowan/op/elementwise/exp.hpp: exp and log, element-wise.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/exponential.hpp>
#include <rowan/detail/logarithm.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>

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

/// exp(x) element-wise, computed in dtype<T>::sum, within 1.5 units in the last place for float and double.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(exp)

/// The natural logarithm element-wise, within 1 unit in the last place for float and double; -infinity for 0, NaN for
/// negative numbers.
/// shapes   x [...] -> [...]
/// errors   ValueError if exec.threads is negative
/// cost     one read of x and one write of the result
ROWAN_ELEMENTWISE_OF_XTENSOR(log)

}  // namespace rowan::inline v0
