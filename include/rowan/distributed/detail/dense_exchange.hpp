// rowan/distributed/detail/dense_exchange.hpp: DenseReduction, dense_allreduce of any element type.
#pragma once

#include <rowan/detail/dense_pieces.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace rowan::inline v0::detail {

/// Pieces in slices, on their way: rank r of a group gets elements [cuts[r], cuts[r + 1]) of those of all its ranks.
class SliceExchange {
public:
    /// Begins to send `own`. keys[r] are those of the pieces of rank r.
    void begin(ProcessGroup const& group, DensePieces&& own, std::vector<std::size_t> cuts,
               std::vector<std::vector<std::int64_t>> const& keys);
    bool begun() const { return transfer_ != nullptr; }
    /// What has come, ordered by ranks.
    DensePieces wait();
    /// The way back: the slices of one piece, narrowed, become the piece on all ranks.
    DensePieces gather(ProcessGroup const& group, DensePieces const& slice) const;

private:
    std::vector<std::size_t> cuts_, send_, receive_;
    DensePieces own_, in_;
    std::unique_ptr<Transfer> transfer_;
};

/// A dense_allreduce that has begun: ranks have agreed, and slices of their sums travel to the ranks that add them up. On
/// several nodes of several ranks, first within the nodes, then between the ranks that have the same place.
class DenseReduction {
public:
    /// `parts` checks this rank's parts, writes notice.same and gives them, one element for each, numbered from 0 on;
    /// notice.own[0] and [1] are this class's, notice.own[2] is a number that must be the same on all ranks.
    DenseReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
                   std::function<std::vector<DensePieces>(Notice&)> const& parts);
    /// For ranks that have agreed: rank r of P has the sums of the nodes of parts [r · total / P, (r + 1) · total / P).
    DenseReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type, DensePieces&& nodes,
                   std::int64_t total);
    /// The sum, narrowed. Called once.
    DensePieces finish();

private:
    void begin(std::vector<DensePieces>&& parts, std::vector<Notice> const& notices);
    void send();
    DensePieces end();
    DensePieces sum(DensePieces const& in) const;
    DensePieces sum_across(DensePieces&& in) const;
    std::vector<std::int64_t> keys(std::size_t rank, std::size_t end) const;

    std::unique_ptr<ProcessGroup const> group_;
    Cpu exec_;
    ElementSums type_;
    std::vector<std::int64_t> firsts_;   // the first part of each rank, and the number of all parts
    std::unique_ptr<NodeGroups> nodes_;  // null: one stage
    DensePieces own_;                    // until they are sent
    SliceExchange slices_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/dense_exchange_inl.hpp>
