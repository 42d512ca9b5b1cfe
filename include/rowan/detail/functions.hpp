// rowan/detail/functions.hpp: exp, log and pow, by argument-dependent lookup, and the formulas of softmax.
#pragma once

#include <rowan/detail/arithmetic.hpp>

#include <cmath>

namespace rowan::inline v0::detail {

ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S exp_of(S const& x) {
    using std::exp;
    static_assert(
        requires { S(exp(x)); },
        "rowan: this function needs exp(dtype<T>::sum): declare it in the namespace of that type");
    return S(exp(x));
}

ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S log_of(S const& x) {
    using std::log;
    static_assert(
        requires { S(log(x)); },
        "rowan: this function needs log(dtype<T>::sum): declare it in the namespace of that type");
    return S(log(x));
}

ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S pow_of(S const& x, S const& y) {
    using std::pow;
    static_assert(
        requires { S(pow(x, y)); },
        "rowan: this function needs pow(dtype<T>::sum): declare it in the namespace of that type");
    return S(pow(x, y));
}

/// x / total
struct share_of {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& total) const {
        return quotient(x, total);
    }
};

/// out · (grad - dot), where dot is the sum of out · grad
struct softmax_slope {
    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& out, V const& grad, V const& dot) const {
        return product(out, V(grad - dot));
    }
};

}  // namespace rowan::inline v0::detail
