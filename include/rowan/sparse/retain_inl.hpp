// rowan/sparse/retain_inl.hpp: definitions of rowan/sparse/retain.hpp.
#pragma once

#include <rowan/sparse/retain.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION Tensor<std::int64_t> positions_among(std::span<std::int64_t const> rows, Ids<> const& wanted) {
    std::vector<std::int64_t> sorted(wanted.size());
    copy_ids(wanted, sorted.data());
    std::sort(sorted.begin(), sorted.end());
    return RowGather<Cpu>::where(
        Cpu{}, rows.size(), [&](std::size_t i) { return std::binary_search(sorted.begin(), sorted.end(), rows[i]); });
}

}  // namespace rowan::inline v0::detail

#endif
