// rowan/distributed/detail/dense_exchange.hpp: DenseReduction, dense_allreduce of any element type.
#pragma once

#include <rowan/detail/dense_pieces.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/list_exchange.hpp>
#include <rowan/distributed/detail/process_group.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Pieces in slices, on their way: rank r of a group gets elements [cuts[r], cuts[r + 1]) of those of all its ranks; or
/// each gets all elements.
class SliceExchange {
public:
    /// Begins to send all of `own` to all ranks. keys[r] are those of the pieces of rank r.
    ROWAN_IF_CALLED void begin_all(ProcessGroup const& group, DensePieces&& own,
                                   std::vector<std::vector<std::int64_t>> const& keys);
    /// Begins to send slices of `own`.
    ROWAN_IF_CALLED void begin(ProcessGroup const& group, DensePieces&& own, std::vector<std::size_t> cuts,
                               std::vector<std::vector<std::int64_t>> const& keys);
    bool begun() const { return begun_; }
    bool sends_all() const { return cuts_.empty(); }
    bool test() { return transfer_.test(); }
    /// What has come, ordered by ranks; after begin_gather, the piece.
    ROWAN_IF_CALLED DensePieces wait();
    /// The way back: begins to make the slices of one piece, narrowed, the piece on all ranks.
    ROWAN_IF_CALLED void begin_gather(ProcessGroup const& group, DensePieces&& slice);
    /// The elements of each rank's slice.
    ROWAN_IF_CALLED std::vector<std::size_t> counts() const;

private:
    ROWAN_IF_CALLED void exchange(ProcessGroup const& group, std::size_t elements,
                                  std::vector<std::vector<std::int64_t>> const& keys);

    std::vector<std::size_t> cuts_, send_, receive_;  // in the way back, receive_ has the elements of slices
    DensePieces own_, in_;
    ListTransfer transfer_;
    bool begun_ = false;
};

/// A dense_allreduce that has begun: ranks have agreed, and slices of their sums travel to the ranks that add them up; of
/// two ranks, or of few elements, all travel to all, which takes one exchange instead of two. On several nodes of several
/// ranks, first within the nodes, then between the ranks that have the same place.
class DenseReduction {
public:
    ROWAN_IF_CALLED DenseReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type);
    /// Begins it, called first, of this constructor's object. `parts` checks this rank's parts, writes notice.same and gives
    /// them, one element for each, numbered from 0 on; notice.own are this class's. Writes the values that must be the same
    /// on all ranks to `same`.
    ROWAN_IF_CALLED void start(std::function<std::vector<DensePieces>(Notice&, NamedValues& same)> const& parts);
    /// For ranks that have agreed: rank r of P has the sums of the nodes of parts [r · total / P, (r + 1) · total / P).
    /// The group must outlive it.
    ROWAN_IF_CALLED DenseReduction(ProcessGroup const& group, Cpu exec, ElementSums const& type, DensePieces&& nodes,
                                   std::int64_t total);
    /// Whether what this rank sums has come, and gather would not wait.
    bool test() { return slices_.begun() && nodes_ == nullptr && slices_.test(); }
    /// Sums it and begins to gather the sums of all ranks, by another group of them. Called once or not at all, before
    /// finish. On several nodes, it waits for the others.
    ROWAN_IF_CALLED void gather(ProcessGroup const& group);
    /// The sum, narrowed, of ranks that have agreed; of what fails, all end. Called once.
    ROWAN_IF_CALLED DensePieces finish();
    /// Writes the sum, narrowed, to the memory that make() gives, on all ranks or on none: ranks agree once more before
    /// the last exchange, and nothing fails later. Called once.
    /// errors   Error on all ranks if they finish different reductions; what fails on one rank, RemoteError on the
    ///          others
    ROWAN_IF_CALLED void finish(std::function<std::span<std::byte>()> const& make);

private:
    ROWAN_IF_CALLED void begin(std::vector<DensePieces>&& parts, std::vector<Notice> const& notices);
    ROWAN_IF_CALLED void send();
    ROWAN_IF_CALLED DensePieces sum(DensePieces const& in) const;
    ROWAN_IF_CALLED DensePieces sum_across(DensePieces&& in) const;
    ROWAN_IF_CALLED std::vector<std::int64_t> keys(std::size_t rank, std::size_t end) const;

    std::unique_ptr<ProcessGroup const> own_group_;  // or null
    ProcessGroup const* group_;
    Cpu exec_;
    ElementSums type_;
    std::vector<std::int64_t> firsts_;   // the first part of each rank, and the number of all parts
    std::unique_ptr<NodeGroups> nodes_;  // null: one stage
    DensePieces own_;                    // until they are sent
    SliceExchange slices_;
    bool gathers_ = false;
    std::int64_t number_ = 0;  // the same on all ranks
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/dense_exchange_inl.hpp>
