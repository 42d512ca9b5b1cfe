// rowan/distributed/detail/slots.hpp: rows of several ranks: Slots, in which order they are, and MetRows, who names them.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/sparse/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Distinct rows that ascend, for which a rank has pieces.
struct RowsOfRank {
    std::size_t rank;
    std::span<std::int64_t const> rows;
};

/// The rows that this rank or others name, and the pieces that each has for them: the sum of its contributions. Pieces
/// are numbered: those of others, one list after another, and then this rank's own.
class MetRows {
public:
    MetRows() = default;
    /// The lists are of different ranks. Only rows with a nonzero number in `which` and `own_which`; if both are empty, all.
    /// cost     a merge of the lists
    ROWAN_IF_CALLED MetRows(std::span<RowsOfRank const> others, RowsOfRank const& own,
                            std::span<std::uint8_t const> which = {}, std::span<std::uint8_t const> own_which = {});

    Buffer<std::int64_t> const& rows() const { return rows_; }  ///< distinct, ascending
    /// The pieces of row k, in the order of ranks.
    ROWAN_IF_CALLED std::span<std::size_t const> pieces_of(std::size_t k) const;
    /// Where a row of own.rows is in rows(), or after those, one of of_others().
    std::size_t place(std::size_t i) const { return i < places_.size() ? places_[i] : of_others_[i - places_.size()]; }
    /// Those in rows() of which other ranks have pieces, ascending.
    std::vector<std::size_t> const& of_others() const { return of_others_; }
    /// Whether other ranks have a piece of row i of own.rows.
    bool others_have(std::size_t i) const { return shared_[i] != 0; }

    /// Where pieces are, each of so many bytes: piece i of others is came[i]; own(i) is the address of that of
    /// own.rows[i]. Rank r brings the node of parts that begins with keys[r].
    struct Pieces {
        ElementSums type;
        std::size_t bytes;
        std::byte const* came;
        std::function<std::byte const*(std::size_t)> own;
        std::span<std::int64_t const> keys;

        /// Sums pieces.
        ROWAN_IF_CALLED TreeSum tree() const;
    };
    /// The sum of row k: the address of the only piece, or `to`, where it is written.
    ROWAN_IF_CALLED std::byte const* sum_of(std::size_t k, Pieces const& pieces, TreeSum& tree, std::byte* to) const;
    /// Writes the sums of all rows.
    ROWAN_IF_CALLED void sum(Cpu exec, Pieces const& pieces, std::byte* out) const;

private:
    std::size_t own_begin() const { return ends_.empty() ? 0 : ends_.back(); }

    std::vector<std::size_t> ends_, ranks_;  // of each list of others
    std::size_t own_rank_ = 0;
    Buffer<std::int64_t> rows_;
    std::vector<std::size_t> offsets_, pieces_;  // row k: pieces_[offsets_[k]] …
    std::vector<std::size_t> places_, of_others_;
    std::vector<std::uint8_t> shared_;  // of own rows
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/slots_inl.hpp>
