// rowan/distributed/detail/node_route_inl.hpp: the functions of node_route.hpp.
#pragma once

#include <rowan/distributed/detail/node_route.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <bit>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::shared_ptr<NodeRoute const> node_route(ProcessGroup const& group) {
    auto groups = group.nodes();
    if (groups == nullptr) return nullptr;
    std::size_t const nodes = groups->count(), places = groups->places();
    if (nodes == 1 || places == 1 || !std::has_single_bit(places) ||
        nodes * places != static_cast<std::size_t>(group.size()))
        return nullptr;
    auto const rank = static_cast<std::size_t>(group.rank());
    return std::make_shared<NodeRoute>(NodeRoute{std::move(groups), nodes, places, rank / places, rank % places});
}

}  // namespace rowan::inline v0::detail

#endif
