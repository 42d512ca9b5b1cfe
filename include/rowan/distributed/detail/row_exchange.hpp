// rowan/distributed/detail/row_exchange.hpp: exchanges of RowPieces between ranks.
#pragma once

#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Pieces on their way. What is sent and what is received is here until `wait`.
class RowTransfer {
public:
    RowTransfer() = default;
    /// What has come, ordered by ranks.
    ROWAN_IF_CALLED RowPieces wait();

private:
    friend RowTransfer begin_gather(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> counts,
                                    std::span<std::int64_t const> rank_keys);
    friend RowTransfer begin_deal(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> send,
                                  std::span<std::size_t const> receive, std::span<std::int64_t const> rank_keys);

    ROWAN_IF_CALLED void receive(std::span<std::size_t const> counts, std::span<std::int64_t const> rank_keys);

    // On the heap: the group reads and writes these lists until `wait`, and this object may be moved.
    struct Lists {
        RowPieces own, in;
        std::vector<std::size_t> send, receive;
    };
    std::unique_ptr<Lists> lists_;
    std::array<std::unique_ptr<Transfer>, 3> open_;  // rows, keys, bytes
};

/// Begins to send `own` to all. counts[r] is the number of pieces of rank r. If all pieces of rank r have the key
/// rank_keys[r], keys do not travel.
RowTransfer begin_gather(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> counts,
                         std::span<std::int64_t const> rank_keys = {});

/// Begins to send the first send[0] pieces to rank 0, the next send[1] to rank 1, and so on. `receive` is what
/// exchange_counts(send) gives.
RowTransfer begin_deal(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> send,
                       std::span<std::size_t const> receive, std::span<std::int64_t const> rank_keys = {});

/// Every rank's number.
ROWAN_IF_CALLED std::vector<std::size_t> all_counts(ProcessGroup const& group, std::size_t own);

/// The pieces that the ranks have for this one. The numbers are exchanged first.
ROWAN_IF_CALLED RowPieces deal_pieces(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> send);

/// Cuts the rows of a table into ranges [splits[k], splits[k + 1]), such that of the rows that all ranks bring, each
/// has about as many. `rows` are this rank's, sorted; counts[r] is the number of those of rank r.
ROWAN_IF_CALLED std::vector<std::int64_t> row_splits(ProcessGroup const& group, std::int64_t height, std::size_t ranges,
                                                     std::span<std::int64_t const> rows,
                                                     std::span<std::size_t const> counts);

/// The number of sorted rows in each range of row_splits.
ROWAN_IF_CALLED std::vector<std::size_t> counts_in(std::span<std::int64_t const> splits,
                                                   std::span<std::int64_t const> rows);

/// Distinct rows, and how many contributions each has.
struct RowCounts {
    std::vector<std::int64_t> rows, counts;

    RowCounts() = default;
    ROWAN_IF_CALLED explicit RowCounts(RowPlan<> const& plan);
};

/// Where the contributions of each of rows begin among those of all ranks.
using FirstContributions = std::function<std::vector<std::int64_t>(RowCounts const& rows)>;

/// Where this rank's contributions to each row begin among those of the group's ranks, which begin at first(rows); the
/// first send[0] rows go to rank 0, which asks `first` for them, and so on.
/// cost     three exchanges of 8, 16 and 8 bytes a row
ROWAN_IF_CALLED std::vector<std::int64_t> first_contributions(Cpu exec, ProcessGroup const& group, std::int64_t height,
                                                              RowCounts const& mine, std::span<std::size_t const> send,
                                                              FirstContributions const& first);

struct Cut;

/// Writes the sum of each cut, of elements dtype<T>::sum.
using CutSums = std::function<void(RowPlan<> const& plan, std::span<Cut const> cuts, std::byte* out)>;

/// Cuts the contributions of this rank, which begin at first[k] for row plan.rows()[k], into the greatest sums that
/// merge would form of those of all ranks. Keys are the numbers of contributions. Rows ascend.
ROWAN_IF_CALLED RowPieces contribution_pieces(RowPlan<> const& plan, std::span<std::int64_t const> first,
                                              RowPieces const& like, CutSums const& sums);

/// Sums the pieces of contributions of each row, in the order of ranks, as merge does. They are all; or, with `first`,
/// they begin there, one number for each distinct row, and make the greatest sums that merge would form. Result rows
/// ascend.
RowPieces sum_contributions(Cpu exec, ElementSums const& type, RowPieces const& in,
                            std::span<std::int64_t const> first = {});

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/row_exchange_inl.hpp>
