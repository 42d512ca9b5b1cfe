// rowan/distributed/detail/node_route.hpp: NodeRoute, the way of rows between ranks of several nodes.
#pragma once

#include <rowan/distributed/detail/process_group.hpp>

#include <cstddef>
#include <memory>

namespace rowan::inline v0::detail {

/// A row that ranks of a node ask another node for travels to the node once: the rank at a place in a node asks those at
/// this place in the other nodes for all rows of them that its node wants, and gives them to the ranks of its node. All
/// nodes have the same number of ranks, a power of two, so that the ranks of one are a node of the tree of sums.
struct NodeRoute {
    std::unique_ptr<NodeGroups> groups;
    std::size_t nodes, places, node, place;  // the last two are this rank's

    std::size_t rank(std::size_t node_, std::size_t place_) const { return node_ * places + place_; }
    /// Where a rank is in an order in which those of a place are together.
    std::size_t position(std::size_t rank) const { return rank % places * nodes + rank / places; }
};

/// The nodes of a group, or null if it has others. All ranks call it.
ROWAN_IF_CALLED std::shared_ptr<NodeRoute const> node_route(ProcessGroup const& group);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/node_route_inl.hpp>
