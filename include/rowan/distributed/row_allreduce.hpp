// rowan/distributed/row_allreduce.hpp: row_allreduce, the sum of all ranks' row-sparse gradients.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_summands.hpp>
#include <rowan/distributed/pending.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

template <class T>
struct PendingRows final : PendingWork<SelectedRows<T>> {
    SelectedRows<T> finish() override {
        finish_row_reduction(*reduction, result);
        return result.result();
    }
    RowResult<T> result;
    std::shared_ptr<RowReduction> reduction;
};

}  // namespace detail

/// Begins row_allreduce: on return, ranks have agreed, and rows travel. get() gives its result.
/// shapes     those of row_allreduce
/// requires   the parts' values do not change until then
/// errors     those of row_allreduce
/// cost       that of row_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<SelectedRows<T>> begin_row_allreduce(Cpu exec, C const& comm, std::span<SelectedRows<T> const> parts,
                                             RowReduceOptions options = {}) {
    using namespace detail;
    std::unique_ptr<PendingRows<T>> pending;
    std::unique_ptr<GroupOf<C>> group;
    std::unique_ptr<RowParts<T>> source;
    after_agreement(GroupOf<C>(comm), [&] {  // all memory that is needed besides that of RowReduction
        pending = std::make_unique<PendingRows<T>>();
        group = std::make_unique<GroupOf<C>>(comm);
        source = std::make_unique<RowParts<T>>(parts);
    });
    pending->reduction = begin_row_reduction(std::move(group), exec, std::move(source), options);
    return Pending<SelectedRows<T>>(std::move(pending));
}

/// The sum of the parts of all ranks, merged, on every rank; parts are numbered from rank 0's first to the last rank's
/// last. The bits are those of sum_of_parts, or of merge, on one process: they depend neither on the number of ranks
/// nor on how parts are cut onto them, nor on the route. Sums are formed, and travel, in dtype<T>::sum and are narrowed
/// once.
/// shapes   SelectedRows of the same height and row shape on all ranks, without rows if there are none
/// errors   on all ranks: ShapeError if a rank has no parts, or heights, row shapes, element types or options differ;
///          nothing has changed then. What fails later on one rank is an error of get() on all; where it fails between
///          two exchanges, it ends all ranks
/// cost     a merge of each part, a sort of what comes, and one sum of it; what a rank sends is in the table
///
/// Bytes that a rank sends, with P ranks, or N nodes of q ranks; u, w and U distinct rows of a rank, of a node and of
/// all; R bytes a row:
///
/// | route | order of the sums | bytes |
/// |---|---|---|
/// | gather | parts | (P - 1) · u · (R + 8) |
/// | gather | contributions | (P - 1) · n · (R + 8), of all n rows of the rank |
/// | owner | parts, one on each rank | (P - 1) / P · (u + U) · (R + 8) |
/// | owner | parts, several on a rank | (P - 1) / P · (u · (R + 16) + U · (R + 8)) |
/// | owner | contributions | (P - 1) / P · (v · (R + 16) + 24 · u + U · (R + 8)) |
/// | node | parts, in the node | (q - 1) / q · (u + U) · (R + 8) |
/// | node | parts, to other nodes | (N - 1) / N · (w · (R + 16) + U · (R + 8)) / q |
///
/// v is between u and n: of a row that lower ranks have, contributions travel one by one until a block of 64 begins,
/// then as sums of blocks.
template <class T, communicator C>
SelectedRows<T> row_allreduce(Cpu exec, C const& comm, std::span<SelectedRows<T> const> parts,
                              RowReduceOptions options = {}) {
    return begin_row_allreduce(exec, comm, parts, options).get();
}

/// Begins row_allreduce of one part on each rank.
/// shapes     those of row_allreduce
/// requires   the part's values do not change until get()
/// errors     those of row_allreduce
/// cost       that of row_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<SelectedRows<T>> begin_row_allreduce(Cpu exec, C const& comm, SelectedRows<T> const& part,
                                             RowReduceOptions options = {}) {
    return begin_row_allreduce(exec, comm, std::span(&part, 1), options);
}
template <class T, communicator C>
SelectedRows<T> row_allreduce(Cpu exec, C const& comm, SelectedRows<T> const& part, RowReduceOptions options = {}) {
    return row_allreduce(exec, comm, std::span(&part, 1), options);
}

/// Begins row_allreduce of a vector of parts.
/// shapes     those of row_allreduce
/// requires   the parts' values do not change until get()
/// errors     those of row_allreduce
/// cost       that of row_allreduce, of which get() has what comes after the exchange
template <class T, communicator C>
Pending<SelectedRows<T>> begin_row_allreduce(Cpu exec, C const& comm, std::vector<SelectedRows<T>> const& parts,
                                             RowReduceOptions options = {}) {
    return begin_row_allreduce(exec, comm, std::span(parts), options);
}
template <class T, communicator C>
SelectedRows<T> row_allreduce(Cpu exec, C const& comm, std::vector<SelectedRows<T>> const& parts,
                              RowReduceOptions options = {}) {
    return row_allreduce(exec, comm, std::span(parts), options);
}

}  // namespace rowan::inline v0
