// rowan/distributed/detail/slots.hpp: Slots, the rows of a table in an order in which those of a rank are together.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/sparse/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

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

/// The rows of a partition in another order, in which those of a rank are together: a row's slot is begin_of(owner) + local.
/// The ranks come in their order, or, with a route, those of place 0 in all nodes first.
class Slots {
public:
    Slots() = default;
    ROWAN_IF_CALLED explicit Slots(Partition const& partition, std::shared_ptr<NodeRoute const> route = nullptr);
    /// Of a table that grows: row i of the heights[r] rows of rank r is row i * ranks + r, and row -1 is none.
    ROWAN_IF_CALLED explicit Slots(std::span<std::int64_t const> heights,
                                   std::shared_ptr<NodeRoute const> route = nullptr);

    /// The same rows by another route.
    Slots by(std::shared_ptr<NodeRoute const> route) const { return {partition_, heights_, grows_, std::move(route)}; }

    /// The rank at position p has slots [splits[p], splits[p + 1]).
    std::vector<std::int64_t> const& splits() const { return splits_; }
    std::size_t position(std::size_t rank) const { return route_ == nullptr ? rank : route_->position(rank); }
    std::int64_t begin_of(int rank) const { return begins_[static_cast<std::size_t>(rank)]; }
    std::int64_t rows_of(int rank) const { return heights_[static_cast<std::size_t>(rank)]; }
    std::int64_t height() const { return partition_.height; }  ///< rows are below it
    std::int64_t size() const { return splits_.back(); }       ///< the number of rows that there are
    bool grows() const { return grows_; }
    std::shared_ptr<NodeRoute const> const& route() const { return route_; }
    /// The slots of rows; size() for none.
    /// errors   IndexError for the first that is not a row of the table
    ROWAN_IF_CALLED Buffer<std::int64_t> of(Cpu exec, char const* field, Ids<> const& rows) const;

private:
    ROWAN_IF_CALLED Slots(Partition const& partition, std::vector<std::int64_t> heights, bool grows,
                          std::shared_ptr<NodeRoute const> route);

    Partition partition_;
    std::vector<std::int64_t> splits_, begins_, heights_;
    bool grows_ = false;
    std::shared_ptr<NodeRoute const> route_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/slots_inl.hpp>
