// rowan/distributed/detail/row_reduction.hpp: RowReduction, row_allreduce of any element type.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>
#include <rowan/distributed/detail/row_summands.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// A row_allreduce that has begun: it has agreed, and rows travel. With splits, rows [splits[r], splits[r + 1]) are
/// summed by rank r, which keeps them.
///
/// By owners, rows go to the ranks that sum them, which send the sums to all. By nodes, this happens twice: the ranks
/// of a node deal the rows to its first places, the same ranges on every node, and each place sums what it gets; the
/// ranks of one place then do the same among themselves, and at last the node's ranks gather. Sums of a node are only
/// those that the order of the sums has.
class RowReduction {
public:
    ROWAN_IF_CALLED RowReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec,
                                 std::unique_ptr<RowSummands> source, RowReduceOptions options,
                                 std::vector<std::int64_t> splits);
    /// Begins it: ranks agree, and rows travel. Called first, of this constructor's object.
    ROWAN_IF_CALLED void start();
    /// For ranks that have agreed on a step of `total` parts: rank r of P has the sums of the nodes of the tree of
    /// parts [r · total / P, (r + 1) · total / P). The group must outlive it.
    ROWAN_IF_CALLED RowReduction(ProcessGroup const& group, Cpu exec, ElementSums const& type, RowPieces&& nodes,
                                 std::int64_t total, std::vector<std::int64_t> splits = {});
    /// The result, narrowed, of ranks that have agreed; of what fails, all end. Called once.
    ROWAN_IF_CALLED RowPieces finish();
    /// The result, narrowed, on all ranks or on none: ranks agree once more, before the last exchange or after it, and
    /// nothing fails later but memory of the last exchange before it begins, which ends all ranks. Called once.
    /// errors   Error on all ranks if they finish different reductions; what fails on one rank, RemoteError on the
    ///          others
    ROWAN_IF_CALLED void finish(RowTarget& to);

private:
    ROWAN_IF_CALLED void agree_on_parts();
    ROWAN_IF_CALLED void agree_on_contributions();
    ROWAN_IF_CALLED void choose(std::size_t gathered, std::size_t dealt, std::size_t added);
    ROWAN_IF_CALLED void begin();
    ROWAN_IF_CALLED void begin_contributions();
    ROWAN_IF_CALLED RowPieces sums();
    /// Whether no sums are sent to other ranks.
    bool keeps_sums() const { return group_->size() == 1 || route_ == Route::gather || !splits_.empty(); }
    ROWAN_IF_CALLED RowPieces sum(RowPieces const& in) const;
    ROWAN_IF_CALLED RowPieces sum_across(RowPieces&& in) const;
    ROWAN_IF_CALLED void describe(Notice& notice);
    ROWAN_IF_CALLED void split(std::span<std::int64_t const> rows);
    ProcessGroup const& dealers() const { return nodes_ == nullptr ? *group_ : *nodes_->node; }
    std::size_t first_dealer() const { return static_cast<std::size_t>(group_->rank() - dealers().rank()); }
    ROWAN_IF_CALLED std::vector<std::size_t> dealt(std::span<std::int64_t const> rows) const;
    ROWAN_IF_CALLED std::vector<std::size_t> dealt_across(std::span<std::int64_t const> rows) const;
    ROWAN_IF_CALLED std::vector<std::int64_t> node_ends() const;
    bool has_place() const { return static_cast<std::size_t>(nodes_->node->rank()) < nodes_->places(); }
    ROWAN_IF_CALLED std::span<std::int64_t const> rank_keys() const;
    Collective operation() const { return splits_.empty() ? Collective::row_allreduce : Collective::exchange; }
    bool by_parts() const { return options_.order == SumOrder::parts; }

    std::unique_ptr<ProcessGroup const> own_group_;  // or null
    ProcessGroup const* group_;
    Cpu exec_;
    std::unique_ptr<RowSummands> source_;  // null for nodes
    ElementSums type_;
    RowReduceOptions options_;
    std::vector<std::int64_t> splits_;
    RowPieces own_;                    // by parts: sums of nodes; else contributions
    RowPlan<> plan_;                   // of contributions
    std::vector<std::size_t> counts_;  // of rows on each rank: pieces, or distinct ones of contributions; or none
    std::vector<std::size_t> contributions_;
    std::vector<std::int64_t> firsts_;   // the first part of each rank, and the number of all parts
    bool one_key_each_ = false;          // whether ranks have sums of one node, whose first part stands for all keys
    Route route_ = Route::owner;         // never automatic
    std::unique_ptr<NodeGroups> nodes_;  // by nodes
    std::vector<std::int64_t> ranges_;   // of rows, by owner; by nodes, those of place 0 first
    std::vector<std::int64_t> before_;   // by nodes: contributions on lower nodes to each row that this place has
    RowTransfer transfer_;
    std::int64_t number_ = 0;  // the same on all ranks
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/row_reduction_inl.hpp>
