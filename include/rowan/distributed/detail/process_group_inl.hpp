// rowan/distributed/detail/process_group_inl.hpp: the functions of process_group.hpp.
#pragma once

#include <rowan/distributed/detail/process_group.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <numeric>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::size_t NodeGroups::places() const {
    int least = begins[1];
    for (std::size_t k = 2; k < begins.size(); ++k) least = std::min(least, begins[k] - begins[k - 1]);
    return static_cast<std::size_t>(least);
}

ROWAN_CALLED_FUNCTION std::unique_ptr<NodeGroups> node_groups(std::unique_ptr<ProcessGroup const> node,
                                                              std::unique_ptr<ProcessGroup const> across,
                                                              std::vector<int> begins) {
    auto groups = std::make_unique<NodeGroups>();
    groups->node = std::move(node);
    groups->across = std::move(across);
    groups->begins = std::move(begins);
    return groups;
}

ROWAN_FUNCTION ProcessGroup::~ProcessGroup() = default;

ROWAN_CALLED_FUNCTION std::size_t total(std::span<std::size_t const> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

ROWAN_CALLED_FUNCTION std::vector<std::size_t> exchange_counts(ProcessGroup const& group,
                                                               std::span<std::size_t const> send) {
    std::vector<std::size_t> receive(send.size());
    group.alltoall(std::as_bytes(send), bytes_of(receive));
    return receive;
}

}  // namespace rowan::inline v0::detail

#endif
