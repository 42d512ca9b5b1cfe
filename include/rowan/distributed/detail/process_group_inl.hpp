// rowan/distributed/detail/process_group_inl.hpp: definitions of rowan/distributed/detail/process_group.hpp.
#pragma once

#include <rowan/distributed/detail/process_group.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::size_t NodeGroups::places() const {
    int least = begins[1];
    for (std::size_t k = 2; k < begins.size(); ++k) least = std::min(least, begins[k] - begins[k - 1]);
    return static_cast<std::size_t>(least);
}

ROWAN_FUNCTION ProcessGroup::~ProcessGroup() = default;

ROWAN_CALLED_FUNCTION ByRank::ByRank(std::span<int const> ranks, std::size_t size) : counts(size), order(ranks.size()) {
    for (int const r : ranks) ++counts[static_cast<std::size_t>(r)];
    std::vector<std::size_t> next(size);
    for (std::size_t r = 1; r < size; ++r) next[r] = next[r - 1] + counts[r - 1];
    for (std::size_t i = 0; i < order.size(); ++i) order[next[static_cast<std::size_t>(ranks[i])]++] = i;
}

ROWAN_CALLED_FUNCTION std::size_t total(std::span<std::size_t const> counts) {
    std::size_t sum = 0;
    for (std::size_t const n : counts) sum += n;
    return sum;
}

ROWAN_CALLED_FUNCTION std::vector<std::size_t> exchange_counts(ProcessGroup const& group,
                                                               std::span<std::size_t const> send) {
    std::vector<std::size_t> receive(send.size());
    group.alltoall(std::as_bytes(send), bytes_of(receive));
    return receive;
}

}  // namespace rowan::inline v0::detail

#endif
