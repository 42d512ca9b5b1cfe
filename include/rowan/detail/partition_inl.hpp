// rowan/detail/partition_inl.hpp: definitions of rowan/detail/partition.hpp.
#pragma once

#include <rowan/detail/partition.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::size_t Buckets::share(std::size_t k, std::size_t shares) const {
    auto const at = std::lower_bound(starts.begin(), starts.end(), share_begin(starts.back(), k, shares));
    return static_cast<std::size_t>(at - starts.begin());
}

}  // namespace rowan::inline v0::detail

#endif
