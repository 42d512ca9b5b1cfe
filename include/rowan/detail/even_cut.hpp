// rowan/detail/even_cut.hpp: even_cut, a range cut into parts of about the same size.
#pragma once

#include <rowan/core/detail/config.hpp>

namespace rowan::inline v0::detail {

/// Where part k of [0, total) begins if it is cut into n parts, k in [0, n]: total · k / n, which does not overflow.
template <class I>
constexpr I even_cut(I total, I k, I n) {
    return total / n * k + total % n * k / n;
}

}  // namespace rowan::inline v0::detail
