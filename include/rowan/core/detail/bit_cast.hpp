// rowan/core/detail/bit_cast.hpp: bit_cast, std::bit_cast for host and device code.
#pragma once

#include <rowan/core/detail/config.hpp>

namespace rowan::inline v0::detail {

template <class To, class From>
ROWAN_HD constexpr To bit_cast(From const& x) noexcept {
    return __builtin_bit_cast(To, x);
}

}  // namespace rowan::inline v0::detail
