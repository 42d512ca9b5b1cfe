// rowan/detail/functions.hpp: exp, log, sin, cos, floor, pow, of the standard library or by argument-dependent lookup.
#pragma once

#include <rowan/core/detail/config.hpp>

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
ROWAN_HD_INLINE S sin_of(S const& x) {
    using std::sin;
    static_assert(
        requires { S(sin(x)); },
        "rowan: this function needs sin(dtype<T>::sum): declare it in the namespace of that type");
    return S(sin(x));
}

ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S cos_of(S const& x) {
    using std::cos;
    static_assert(
        requires { S(cos(x)); },
        "rowan: this function needs cos(dtype<T>::sum): declare it in the namespace of that type");
    return S(cos(x));
}

ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD_INLINE S floor_of(S const& x) {
    using std::floor;
    static_assert(
        requires { S(floor(x)); },
        "rowan: this function needs floor(dtype<T>::sum): declare it in the namespace of that type");
    return S(floor(x));
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

}  // namespace rowan::inline v0::detail
